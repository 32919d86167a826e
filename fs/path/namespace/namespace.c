/* namespace.c - mount namespaces: copied, entered and ended. See namespace.h. */
#include "fs/path/namespace/namespace.h"

#include "core/memory/slab.h"

#define FIRST_NUMBER 4026531841ULL /* Linux's, of its first one */

static atomic_t namespaces; /* beside the first */

/* The caller has mount_mutex or mount_lock. */
static struct mount *root_of(const struct mount_namespace *namespace)
{
	ASSERT(lockdep_is_held(&mount_mutex) || lockdep_is_held(mount_lock()));
	return namespace ? namespace->root : list_first_entry(&mounts, struct mount, link);
}

/* The root of the tree that @mount is in; itself, if it is in none. The caller has mount_mutex or
 * mount_lock. */
static const struct mount *top_of(const struct mount *mount)
{
	ASSERT(lockdep_is_held(&mount_mutex) || lockdep_is_held(mount_lock()));
	while (mount->parent != mount)
		mount = mount->parent;
	return mount;
}

bool namespace_has(const struct mount *mount)
{
	return top_of(mount) == root_of(current->fs->namespace);
}

ino_t namespace_number(const struct mount_namespace *namespace)
{
	return FIRST_NUMBER + (namespace ? (ino_t)namespace->root->id : 0);
}

/* ---- copied ---------------------------------------------------------------------------------- */

/* A copy of a tree: of each mount in it, in the order in which they are in the list of all. */
struct copying {
	struct mount *root; /* of the original */
	struct list_head copies;
};

/* mount_mutex held: the copy of @wanted; NULL: it is not in the tree. */
static struct mount *copy_of(const struct mount *wanted, const struct copying *copying)
{
	const struct list_head *link = copying->copies.next;
	const struct mount *mount;

	lockdep_assert_held(&mount_mutex);
	list_for_each_entry(mount, &mounts, link) {
		if (top_of(mount) != copying->root)
			continue;
		if (mount == wanted)
			return list_entry(link, struct mount, link);
		link = link->next;
	}
	return NULL;
}

/* mount_mutex held: 0 or -ENOMEM. */
static int copy_mounts(struct copying *copying)
{
	const struct mount *mount;

	lockdep_assert_held(&mount_mutex);
	list_for_each_entry(mount, &mounts, link) {
		if (top_of(mount) != copying->root)
			continue;
		struct mount *copy = TRY_PTR(mount_copy(mount));

		list_add_tail(&copy->link, &copying->copies);
	}
	return 0;
}

/* mount_mutex held: the copies become a tree, like the original. */
static void join_copies(const struct copying *copying)
{
	const struct mount *mount;

	lockdep_assert_held(&mount_mutex);
	list_for_each_entry(mount, &mounts, link) {
		struct mount *copy = copy_of(mount, copying);

		if (!copy || mount == copying->root)
			continue;
		copy->parent = mntget(copy_of(mount->parent, copying));
		copy->mountpoint = dget(mount->mountpoint);
	}
}

/* mount_mutex held: @place of a context goes to the copy of its mount, if that is copied. It is not
 * the last that has it: the tree does. */
static void move_place(struct path *place, const struct copying *copying)
{
	struct mount *copy = copy_of(place->mount, copying);

	lockdep_assert_held(&mount_mutex);
	if (!copy)
		return;
	mntget(copy);
	mntput(place->mount);
	place->mount = copy;
}

static int copy_namespace(struct fs_context *fs, struct mount_namespace *namespace,
			  struct copying *copying)
{
	guard(mutex, &mount_mutex);
	copying->root = root_of(fs->namespace);
	TRY(copy_mounts(copying));
	atomic_set(&namespace->users, 1);
	namespace->root = copy_of(copying->root, copying);
	join_copies(copying);
	move_place(&fs->root, copying);
	move_place(&fs->cwd, copying);
	mounts_add(&copying->copies);
	atomic_inc(&namespaces);
	return 0;
}

int namespace_copy(struct fs_context *fs)
{
	struct mount_namespace *namespace = TRY_PTR(kmalloc(sizeof(*namespace), GFP_KERNEL));
	struct copying copying;

	INIT_LIST_HEAD(&copying.copies);
	int error = copy_namespace(fs, namespace, &copying);
	if (!error) {
		namespace_put(fs->namespace);
		fs->namespace = namespace;
		return 0;
	}
	while (!list_empty(&copying.copies)) {
		struct mount *copy = list_first_entry(&copying.copies, struct mount, link);

		list_del_init(&copy->link);
		mntput(copy);
	}
	kfree(namespace);
	return error;
}

/* ---- used ------------------------------------------------------------------------------------ */

struct mount_namespace *namespace_get(struct mount_namespace *namespace)
{
	if (namespace)
		atomic_inc(&namespace->users);
	return namespace;
}

void namespace_put(struct mount_namespace *namespace)
{
	if (!namespace || !atomic_dec_and_test(&namespace->users))
		return;
	mounts_remove(namespace->root);
	kfree(namespace);
	atomic_dec(&namespaces);
}

/* A mount on a name of @removed that is gone, referenced, or NULL. */
static struct mount *left_on(const struct inode *removed)
{
	struct mount *mount;

	guard(spinlock, mount_lock());
	list_for_each_entry(mount, &mounts, link)
		if (mount->mountpoint && mount->mountpoint->inode == removed &&
		    d_unlinked(mount->mountpoint))
			return mntget(mount);
	return NULL;
}

void removed_put(struct inode *removed)
{
	struct mount *mount;

	while (atomic_read(&namespaces) && (mount = left_on(removed)) != NULL) {
		mount_detach(mount, MNT_DETACH | MNT_NAMESPACE);
		mntput(mount);
	}
	iput(removed);
}

struct fs_context *namespace_enter(struct mount_namespace *namespace)
{
	struct fs_context *fs = fs_context_fork(current->fs);
	struct path *places[] = {&fs->root, &fs->cwd}, top;

	if (!fs)
		return NULL;
	namespace_put(fs->namespace);
	fs->namespace = namespace_get(namespace);
	mutex_lock(&mount_mutex);
	top.mount = root_of(namespace);
	mutex_unlock(&mount_mutex);
	top.dentry = top.mount->root;
	path_get(&top);
	follow_mounts(&top);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		path_put(places[i]);
		*places[i] = top;
		path_get(&top);
	}
	path_put(&top);
	return fs;
}

/* ---- direct lookup --------------------------------------------------------------------------- */

char *namespace_prepend(const struct mount *top, char *at, const char *start)
{
	/* eight bytes, as long as ids are below a million: one word more to hash, and a path below
	 * the root lies in its words as without them */
	char name[16];
	int length = snprintf(name, sizeof(name), *at ? "/%06d/" : "/%06d", top->id);

	return at - start < length ? NULL : memcpy(at - length, name, (size_t)length);
}
