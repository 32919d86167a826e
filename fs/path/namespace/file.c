/*
 * file.c - a namespace as a file, which /proc/PID/ns/mnt leads to and setns(2) takes. See
 * namespace.h.
 *
 * Its file system is mounted nowhere and known to nobody, as Linux's nsfs. Each lookup makes an
 * inode anew, without a name, as a pipe's; those of one namespace have one number. The inode is a
 * user of its namespace, so an open descriptor keeps that, and so does a path to it.
 */
#include "fs/path/namespace/namespace.h"

#include "core/memory/slab.h"

#define NSFS_MAGIC 0x6e736673

static const struct file_operations namespace_operations; /* can be opened, and nothing else */

static void forget_namespace(struct inode *inode)
{
	namespace_put(inode->private);
}

static const struct super_operations super_operations = {.free_inode = forget_namespace};

static int fill_super(struct super_block *sb, const char *options, bool silent)
{
	sb->op = &super_operations;
	struct inode *root = TRY_PTR(new_inode(sb));
	root->mode = S_IFDIR | 0755;
	sb->root = d_alloc_root(root);
	return sb->root ? 0 : -ENOMEM;
}

static struct filesystem filesystem = {
	.name = "nsfs",
	.magic = NSFS_MAGIC,
	.fill_super = fill_super,
};

/* Its mount, made by the first who asks; NULL, ERR_PTR: there is no memory. */
static struct mount *nowhere(void)
{
	static struct mount *mount;
	static DEFINE_MUTEX(lock);

	guard(mutex, &lock);
	if (mount)
		return mount;
	if (!filesystem.inode_slab)
		filesystem.inode_slab = kmem_cache_create(filesystem.name, sizeof(struct inode), 0,
							  SLAB_RECLAIMABLE);
	struct mount *made = mount_make(&filesystem, NULL, 0, filesystem.name, "");

	if (IS_ERR_OR_NULL(made))
		return made;
	percpu_ref_spread(&made->references);
	mount = made;
	return mount;
}

int namespace_path(struct mount_namespace *namespace, struct path *path)
{
	struct mount *mount = nowhere();
	struct inode *inode = IS_ERR_OR_NULL(mount) ? NULL : new_inode(mount->sb);

	if (!inode) {
		namespace_put(namespace);
		return -ENOMEM;
	}
	inode->mode = S_IFREG | 0444;
	inode->number = namespace_number(namespace);
	inode->fop = &namespace_operations;
	inode->private = namespace;
	path->dentry = TRY_PTR(d_alloc_root(inode));
	path->mount = mntget(mount);
	return 0;
}

bool namespace_of(const struct file *file, struct mount_namespace **namespace)
{
	*namespace = file->inode->private;
	return file->fop == &namespace_operations;
}

bool namespace_name(const struct inode *inode, char *buffer, size_t size)
{
	if (inode->sb->type != &filesystem)
		return false;
	snprintf(buffer, size, "mnt:[%llu]", (unsigned long long)inode->number);
	return true;
}
