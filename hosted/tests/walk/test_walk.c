/*
 * test_walk.c - the path walk against a simple one: random trees over several file systems with
 * symbolic links, mounts, another root, permissions; random paths to resolve and to open in them.
 */
#include <stdio.h>
#include <string.h>

#include "fs/file/file.h"
#include "fs/path/namei.h"
#include "hosted/tests/walk/walk.h"

static struct hosted_disk disk;
static unsigned outcomes[64]; /* by errno */

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

/* ---- comparing ------------------------------------------------------------------------------- */

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

static int some_flags(void)
{
	int flags = (int)pick(3);

	flags |= pick(4) ? 0 : O_NOFOLLOW;
	flags |= pick(4) ? 0 : O_DIRECTORY;
	return flags;
}

static void compare_open(const char *text)
{
	int flags = some_flags();
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

/* ---- who and where from ---------------------------------------------------------------------- */

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

	walk_rng.state = seed;
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
