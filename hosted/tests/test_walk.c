/*
 * test_walk.c - the path walk against a simple one: random trees over several file systems with
 * symbolic links, mounts, another root, permissions; random paths to resolve and to open in them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/file/file.h"
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"

#define NODES 160
#define CHILDREN 24
#define CHAIN 44

struct node {
	umode_t mode;
	uid_t uid;
	gid_t gid;
	u64 dev, ino;
	char *target;
	char name[16];
	struct node *parent; /* NULL: root of a file system */
	struct node *children[CHILDREN];
	unsigned count;
	struct node *mounted; /* the root on it, or NULL */
	struct node *covered; /* a root: what it is mounted on; NULL at the very top */
};

static struct node nodes[NODES], *top, *root, *cwd;
static unsigned node_count, links;
static struct rng rng;
static struct hosted_disk disk;
static unsigned outcomes[64]; /* by errno */

static u64 pick(u64 n)
{
	return rng_below(&rng, n);
}

/* ---- the simple walk: a node, or ERR_PTR ------------------------------------------------------
 */

static struct node *topmost(struct node *node)
{
	while (node->mounted)
		node = node->mounted;
	return node;
}

static struct node *up(struct node *node)
{
	while (node != root && !node->parent && node->covered)
		node = node->covered;
	if (node != root && node->parent)
		node = node->parent;
	/* something may have been mounted over it since */
	return node == root ? node : topmost(node);
}

static int allowed(const struct node *node, int mask)
{
	const struct cred *cred = current->cred;
	umode_t bits = node->mode;

	if (cred->euid == 0)
		return !(mask & MAY_EXEC) || S_ISDIR(node->mode) || (node->mode & 0111) ? 0
											: -EACCES;
	if (cred->euid == node->uid)
		bits >>= 6;
	else if (in_group(cred, node->gid))
		bits >>= 3;
	return mask & ~bits & 7 ? -EACCES : 0;
}

static struct node *child_of(const struct node *dir, const char *name, size_t length)
{
	for (unsigned i = 0; i < dir->count; i++)
		if (strlen(dir->children[i]->name) == length &&
		    memcmp(dir->children[i]->name, name, length) == 0)
			return dir->children[i];
	return NULL;
}

static struct node *walk(struct node *at, const char *text, bool follow);

static struct node *enter(struct node *dir, const char *name, size_t length, bool follow)
{
	struct node *node;

	if (length == 1 && name[0] == '.')
		return dir;
	if (length == 2 && name[0] == '.' && name[1] == '.')
		return up(dir);
	if (length > 255)
		return ERR_PTR(-ENAMETOOLONG);
	node = child_of(dir, name, length);
	if (!node)
		return ERR_PTR(-ENOENT);
	if (!S_ISLNK(node->mode) || !follow)
		return topmost(node);
	if (links++ == 40)
		return ERR_PTR(-ELOOP);
	return walk(dir, node->target, true);
}

static struct node *walk(struct node *at, const char *text, bool follow)
{
	if (*text == '/')
		at = root;
	for (text += strspn(text, "/"); *text;) {
		size_t length = strcspn(text, "/"), slashes = strspn(text + length, "/");
		bool last = !text[length + slashes];
		int error = S_ISDIR(at->mode) ? allowed(at, MAY_EXEC) : -ENOTDIR;

		if (error)
			return ERR_PTR(error);
		at = enter(at, text, length, follow || slashes);
		if (IS_ERR(at))
			return at;
		if ((!last || slashes) && !S_ISDIR(at->mode))
			return ERR_PTR(-ENOTDIR);
		text += length + slashes;
	}
	return at;
}

static struct node *resolve(const char *text, bool follow)
{
	links = 0;
	if (strlen(text) >= PATH_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	return *text ? walk(cwd, text, follow) : ERR_PTR(-ENOENT);
}

/* ---- making a tree ----------------------------------------------------------------------------
 */

/* From the very top, by names alone. */
static const char *path_of(const struct node *node, const struct node *from, char *path)
{
	char *at = path + PATH_MAX - 1;

	*at = 0;
	while (node != from) {
		size_t length;

		if (!node->parent) {
			if (!node->covered)
				return NULL;
			node = node->covered;
			continue;
		}
		length = strlen(node->name);
		at -= length;
		memcpy(at, node->name, length);
		*--at = '/';
		node = node->parent;
	}
	return *at ? at : "/";
}

#define PATH(node) path_of(node, top, (char[PATH_MAX]){0})

static void identify(struct node *node)
{
	struct kstat stat;

	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, PATH(node), &stat, AT_SYMLINK_NOFOLLOW), 0);
	node->dev = stat.dev;
	node->ino = stat.ino;
	node->mode = stat.mode;
}

static struct node *add_node(struct node *dir, const char *name)
{
	struct node *node = &nodes[node_count++];

	BUG_ON(node_count > NODES);
	memset(node, 0, sizeof(*node));
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->parent = dir;
	if (dir)
		dir->children[dir->count++] = node;
	return node;
}

static void set_owner(struct node *node)
{
	static const umode_t modes[] = {0755, 0755, 0777, 0700, 0750, 0710,
					0070, 0007, 0000, 0711, 0644, 0055};
	struct path path;

	node->mode &= ~07777u;
	node->mode |= pick(3) ? 0755 : modes[pick(ARRAY_SIZE(modes))];
	node->uid = pick(3) ? 0 : 1000;
	node->gid = pick(2) ? 0 : (gid_t)(100 * pick(4));
	CHECK_EQUAL(find_path(PATH(node), 0, &path), 0);
	CHECK_EQUAL(vfs_chown(&path, node->uid, node->gid), 0);
	CHECK_EQUAL(vfs_chmod(&path, node->mode), 0);
	path_put(&path);
}

/* Does no mount cover it, or anything above it? */
static bool visible(const struct node *node)
{
	const struct node *below = NULL;

	for (; node; below = node, node = node->parent ? node->parent : node->covered)
		if (node->mounted && node->mounted != below)
			return false;
	return true;
}

static struct node *random_dir(void)
{
	struct node *dir;

	do
		dir = &nodes[pick(node_count)];
	while (!S_ISDIR(dir->mode) || !visible(dir));
	return dir;
}

static void make_text(char *text, bool absolute);

static void make_one(void)
{
	struct node *dir = random_dir(), *node;
	char name[16], text[PATH_MAX];
	u64 kind = pick(10);

	snprintf(name, sizeof(name), "%c%c", (char)('a' + pick(5)),
		 pick(2) ? 0 : (char)('a' + pick(3)));
	if (dir->count == CHILDREN || child_of(dir, name, strlen(name)))
		return;
	make_text(text, pick(3) == 0);
	node = add_node(dir, name);
	if (kind < 5) {
		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, PATH(node), 0755), 0);
	} else if (kind < 7) {
		CHECK_EQUAL(write_at(PATH(node), O_CREAT | O_WRONLY, 0, "x", 1), 1);
	} else {
		CHECK_EQUAL(sys_symlinkat(text, AT_FDCWD, PATH(node)), 0);
		node->target = strdup(text);
	}
	identify(node);
	if (!S_ISLNK(node->mode))
		set_owner(node);
}

static void mount_on(struct node *node, const char *type)
{
	struct node *new;

	CHECK_EQUAL(sys_mount("/ram0", PATH(node), type, 0, ""), 0);
	new = add_node(NULL, "");
	new->covered = node;
	node->mounted = new;
	identify(new);
	set_owner(new);
}

/* Links that lead to one another: c0 needs CHAIN of them. */
static void make_chain(void)
{
	char text[16], name[16];
	struct node *dir = top, *node;

	for (unsigned i = 0; i < CHAIN; i++) {
		if (i % (CHILDREN - 8) == 0) {
			snprintf(name, sizeof(name), "x%u", i);
			dir = add_node(top, name);
			CHECK_EQUAL(sys_mkdirat(AT_FDCWD, PATH(dir), 0755), 0);
			identify(dir);
		}
		snprintf(name, sizeof(name), "c%u", i);
		if (i + 1 == CHAIN)
			snprintf(text, sizeof(text), "/");
		else
			snprintf(text, sizeof(text), "/x%u/c%u",
				 (i + 1) / (CHILDREN - 8) * (CHILDREN - 8), i + 1);
		node = add_node(dir, name);
		CHECK_EQUAL(sys_symlinkat(text, AT_FDCWD, PATH(node)), 0);
		node->target = strdup(text);
		identify(node);
	}
}

static void make_tree(void)
{
	node_count = 0;
	top = root = cwd = add_node(NULL, "");
	top->mode = S_IFDIR | 0755;
	identify(top);
	struct node *mnt = add_node(top, "mnt");

	CHECK_EQUAL(sys_mkdirat(AT_FDCWD, "/mnt", 0755), -EEXIST);
	identify(mnt);
	make_chain();
	for (unsigned i = 0; i < 10; i++)
		make_one();
	mount_on(mnt, "ext2");
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/lost+found", AT_REMOVEDIR), 0);
	for (unsigned i = 0; i < 80 && node_count < NODES - 10; i++) {
		struct node *dir;

		make_one();
		dir = random_dir();
		if (i % 12 == 0 && dir != top)
			mount_on(dir, "tmpfs");
	}
}

static void unmake_tree(void)
{
	char text[PATH_MAX];

	for (unsigned i = node_count; i--;) {
		struct node *node = &nodes[i];

		free(node->target);
		if (!node->covered)
			continue;
		CHECK_EQUAL(sys_umount2(PATH(node), 0), 0);
		node->covered->mounted = NULL;
	}
	for (unsigned i = node_count; i--;) {
		struct node *node = &nodes[i], *fs = node;

		while (fs->parent)
			fs = fs->parent;
		if (fs != top || node == top || strcmp(node->name, "mnt") == 0)
			continue;
		snprintf(text, sizeof(text), "%s", PATH(node));
		CHECK_EQUAL(sys_unlinkat(AT_FDCWD, text, S_ISDIR(node->mode) ? AT_REMOVEDIR : 0),
			    0);
	}
}

/* ---- paths ------------------------------------------------------------------------------------
 */

static void append(char *text, const char *name, unsigned slashes)
{
	while (slashes--)
		strcat(text, "/");
	strcat(text, name);
}

/* Mostly a way that exists, with dots and links in it. */
static void make_text(char *text, bool absolute)
{
	struct node *at = absolute ? root : cwd, *next;
	unsigned components = 1 + (unsigned)pick(6);
	char other[300];

	strcpy(text, absolute ? "/" : "");
	for (unsigned i = 0; i < components; i++) {
		u64 kind = pick(20);
		const char *name = other;

		next = NULL;
		if (kind < 12 && !IS_ERR(at) && S_ISDIR(at->mode) && at->count) {
			next = at->children[pick(at->count)];
			name = next->name;
		} else if (kind < 15) {
			name = "..";
		} else if (kind < 16) {
			name = ".";
		} else if (kind < 19) {
			snprintf(other, sizeof(other), "%c", (char)('a' + pick(5)));
		} else {
			memset(other, 'n', sizeof(other));
			other[254 + pick(3)] = 0;
		}
		append(text, name, i || pick(10) == 0 ? (pick(6) ? 1 : 2) : 0);
		links = 0;
		at = IS_ERR(at) || !S_ISDIR(at->mode) ? ERR_PTR(-ENOENT)
						      : enter(at, name, strlen(name), true);
	}
	if (pick(6) == 0)
		append(text, "", 1 + (unsigned)pick(2));
}

static void make_path(char *text)
{
	switch (pick(40)) {
	case 0:
		snprintf(text, PATH_MAX, "/x%u/c%u%s", 0u, (unsigned)pick(8), pick(2) ? "/" : "");
		return;
	case 1: /* as long as it may be, or longer */
		make_text(text, true);
		for (size_t end = (size_t)(PATH_MAX - 2 + pick(4)), at = strlen(text); at < end;
		     at++) {
			text[at] = '/';
			text[at + 1] = 0;
		}
		return;
	case 2:
		strcpy(text, pick(2) ? "" : "/");
		return;
	default:
		make_text(text, pick(2));
	}
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static void check_d_path(const struct path *path, const struct node *node)
{
	char want[PATH_MAX], got[PATH_MAX], *text;
	const char *model = path_of(node, root, want);

	if (!model)
		return; /* outside of the root */
	text = d_path(path, &current->fs->root, got, sizeof(got));
	if (IS_ERR(text) || strcmp(text, model) != 0)
		test_failed(__FILE__, __LINE__, "d_path: %s, not %s", IS_ERR(text) ? "error" : text,
			    model);
}

static void compare_lookup(const char *text)
{
	bool follow = pick(2);
	struct node *node = resolve(text, follow);
	struct path path;
	int error = find_path(text, follow ? LOOKUP_FOLLOW : 0, &path);

	outcomes[-error]++;
	if (error != PTR_ERR_OR_ZERO(node)) {
		test_failed(__FILE__, __LINE__, "lookup of %.300s (%s): %d, not %d", text,
			    follow ? "follow" : "nofollow", error, (int)PTR_ERR_OR_ZERO(node));
	} else if (!error) {
		struct inode *inode = path.dentry->inode;

		if (inode->number != node->ino || inode->sb->dev != node->dev)
			test_failed(__FILE__, __LINE__,
				    "lookup of %.300s leads to inode %llu, not %llu", text,
				    (unsigned long long)inode->number,
				    (unsigned long long)node->ino);
		check_d_path(&path, node);
	}
	if (!error)
		path_put(&path);
}

static int model_open(const char *text, int flags)
{
	static const int masks[] = {MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE};
	struct node *node = resolve(text, !(flags & O_NOFOLLOW));
	int mask = masks[flags & O_ACCMODE];

	if (IS_ERR(node))
		return (int)PTR_ERR(node);
	if ((flags & O_DIRECTORY) && !S_ISDIR(node->mode))
		return -ENOTDIR;
	if (S_ISLNK(node->mode))
		return -ELOOP;
	if (S_ISDIR(node->mode) && (mask & MAY_WRITE))
		return -EISDIR;
	return allowed(node, mask);
}

static void compare_open(const char *text)
{
	int flags = (int)pick(3) | (pick(4) ? 0 : O_NOFOLLOW) | (pick(4) ? 0 : O_DIRECTORY);
	int wanted = model_open(text, flags), error;
	struct file *file = open_path(text, flags, 0);

	error = (int)PTR_ERR_OR_ZERO(file);
	outcomes[-error]++;
	if (error != wanted)
		test_failed(__FILE__, __LINE__, "open of %.300s with 0%o: %d, not %d", text, flags,
			    error, wanted);
	if (!error)
		fput(file);
}

/* ---- who and where from -----------------------------------------------------------------------
 */

static void become(uid_t uid)
{
	struct cred *cred;

	if (uid == 0) {
		set_cred(get_cred(&init_cred));
		return;
	}
	cred = prepare_cred();
	cred->uid = cred->euid = uid;
	cred->gid = cred->egid = 100;
	cred->group_count = 1;
	cred->groups[0] = 200;
	set_cred(cred);
}

/* Back to the first root, which descriptor @top_fd has open. */
static void move_to_top(int top_fd)
{
	become(0);
	root = cwd = top;
	CHECK_EQUAL(sys_fchdir(top_fd), 0);
	CHECK_EQUAL(sys_chroot("."), 0);
}

/* Another working directory and root. */
static void move(int top_fd)
{
	struct node *new_root = pick(2) ? top : random_dir();
	struct node *new_cwd = random_dir();
	char text[PATH_MAX];

	move_to_top(top_fd);
	strcpy(text, PATH(new_root));
	CHECK_EQUAL(sys_chdir(PATH(new_cwd)), 0);
	CHECK_EQUAL(sys_chroot(text), 0);
	root = new_root;
	cwd = new_cwd;
}

static void sequence(u64 seed)
{
	char text[PATH_MAX + 300];
	int top_fd;

	rng.state = seed;
	top_fd = (int)sys_openat(AT_FDCWD, "/", O_PATH, 0);
	CHECK(top_fd >= 0);
	make_tree();
	for (unsigned i = 0; i < 300; i++) {
		test_where("seed %llu path %u", (unsigned long long)seed, i);
		if (i % 50 == 0) { /* another place, seen by another user */
			move(top_fd);
			become(pick(3) ? 1000 : 0);
		}
		if (pick(20) == 0)
			shrink_dcache(pick(200));
		make_path(text);
		if (pick(3))
			compare_lookup(text);
		else
			compare_open(text);
	}
	move_to_top(top_fd);
	unmake_tree();
	CHECK_EQUAL(sys_close(top_fd), 0);
	dentry_cache_check();
	leak_check();
}

TEST(walk_random)
{
	static unsigned char pristine[MB(2)];
	unsigned count = test_scaled(150);
	u64 first = test_seed();

	test_limit(60);
	hosted_quiet = true;
	hosted_init(48);
	current->fs->umask = 0;
	disk_create(&disk, "ram0", 0, MB(2));
	image_make(&disk, 1024, 2048, IMAGE_USUAL);
	image_keep(&disk, pristine);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	for (u64 seed = first; seed < first + count; seed++) {
		image_restore(&disk, pristine);
		sequence(seed);
	}
	printf("# %u trees from seed %llu: %u paths found, ENOENT %u, EACCES %u, ENOTDIR %u, EISDIR %u, ELOOP %u, "
	       "ENAMETOOLONG %u\n",
	       count, (unsigned long long)first, outcomes[0], outcomes[ENOENT], outcomes[EACCES],
	       outcomes[ENOTDIR], outcomes[EISDIR], outcomes[ELOOP], outcomes[ENAMETOOLONG]);
	CHECK(outcomes[0] && outcomes[ENOENT] && outcomes[EACCES] && outcomes[ENOTDIR] &&
	      outcomes[EISDIR]);
	CHECK(outcomes[ELOOP] && outcomes[ENAMETOOLONG]);
}
