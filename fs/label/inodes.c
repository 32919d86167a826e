/* inodes.c - labels of inodes: new ones, and those that change. See label.h. */
#include "fs/cred.h"
#include "fs/direct_hooks.h"
#include "fs/label/label.h"

static void set_label(struct inode *inode, const struct label *label)
{
	lockdep_assert_held(&inode->lock);
	smp_store_release(&inode->label, label_kept(label));
}

/* What keeps no attributes, as an ext2 of the first revision, has the label as long as it is in
 * memory. */
static int keep_new(struct inode *inode, const struct label *label)
{
	const struct xattr_operations *op = inode->sb->type->xattrs;

	guard(child, inode);
	int error = op ? op->set(inode, LABEL_ATTRIBUTE, label->name, strlen(label->name), 0) : 0;

	if (error && error != -EOPNOTSUPP)
		return error;
	set_label(inode, label);
	return 0;
}

int label_made(struct inode *inode)
{
	const struct label *label = current->cred->label;
	int error = label ? keep_new(inode, label) : 0;

	if (error) {
		set_nlink(inode, 0);
		iput(inode);
	}
	return error;
}

int label_change(const struct path *path, const void *value, size_t size, int flags)
{
	struct inode *inode = path->dentry->inode;
	const struct label *label = value ? TRY_PTR(label_get(value, size)) : &label_floor;

	lockdep_assert_held(&inode->lock);
#ifdef CONFIG_DCACHE_FASTPATH
	bool searched = S_ISDIR(inode->mode) && label_kept(label) != inode->label;

	guard(change_rights, searched ? path->dentry : NULL);
#endif
	TRY(inode->sb->type->xattrs->set(inode, LABEL_ATTRIBUTE, value, size, flags));
	set_label(inode, label);
	return 0;
}
