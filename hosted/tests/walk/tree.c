/* tree.c - making a random tree and random paths in it; see walk.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/inode/attributes.h"
#include "core/log/assert.h"
#include "hosted/tests/walk/walk.h"

#define NODES 160
#define CHAIN 44

struct rng walk_rng;
static struct node nodes[NODES];
static unsigned node_count;

static void append(char *text, const char *name, unsigned slashes)
{
	while (slashes--)
		strcat(text, "/");
	strcat(text, name);
}

/* Before component @i; none before the first, mostly. */
static unsigned some_slashes(unsigned i)
{
	if (!i && pick(10))
		return 0;
	return pick(6) ? 1 : 2;
}

void make_text(char *text, bool absolute)
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
		append(text, name, some_slashes(i));
		at = IS_ERR(at) || !S_ISDIR(at->mode) ? ERR_PTR(-ENOENT) : step(at, name, true);
	}
	if (pick(6) == 0)
		append(text, "", 1 + (unsigned)pick(2));
}

/* ---- the tree -------------------------------------------------------------------------------- */

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

struct node *random_dir(void)
{
	struct node *dir;

	do
		dir = &nodes[pick(node_count)];
	while (!S_ISDIR(dir->mode) || !visible(dir));
	return dir;
}

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

void make_tree(void)
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

void unmake_tree(void)
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
