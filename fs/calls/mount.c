/*
 * mount.c - the calls that mount and unmount file systems, and that write them out.
 */
#include "fs/block/block.h"
#include "fs/calls/calls.h"
#include "fs/start.h"

/* A file system of the type @type_name, of the device that @device_name leads to if it needs
 * one. */
static int mount_type(const char *device_name, const struct path *where, const char *type_name,
		      unsigned flags, const char *options)
{
	struct filesystem *type = find_filesystem(type_name);
	struct path path __free(path) = {0};
	struct block_device *device = NULL;

	if (!*device_name)
		device_name = "none";
	if (type && type->needs_device) {
		TRY(kern_path(device_name, LOOKUP_FOLLOW, &path));
		if (!S_ISBLK(path.dentry->inode->mode))
			return -ENOTBLK;
		device = find_block_device(NULL, path.dentry->inode->rdev);
	}
	return mount_new(type, device, where, flags, device_name, options);
}

s64 sys_mount(const char *device, const char *where, const char *type, u64 all_flags,
	      const char *options)
{
	const unsigned propagation = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
	unsigned flags = (unsigned)all_flags;
	struct path_name type_text __free(name) = {0}, device_text __free(name) = {.text = ""};
	struct path_name options_text __free(name) = {.text = ""};
	struct path path __free(path) = {0}, from __free(path) = {0};

	if (type)
		TRY(path_name_get(&type_text, type));
	if (device)
		TRY(path_name_get(&device_text, device));
	if (options)
		TRY(path_name_get(&options_text, options));
	TRY(user_path_at(AT_FDCWD, where, LOOKUP_FOLLOW, &path));
	if (!capable(current->cred))
		return -EPERM;
	if ((flags & MS_MGC_MSK) == MS_MGC_VAL)
		flags &= ~MS_MGC_MSK;
	if (flags & MS_REMOUNT)
		return mount_change(&path, flags, options_text.text);
	bool is_root = path.dentry == path.mount->root;
	if (!(flags & MS_BIND) && (flags & propagation)) /* private is all there is */
		return is_root && (flags & propagation) == MS_PRIVATE ? 0 : -EINVAL;
	follow_mounts(&path);
	if (!(flags & (MS_BIND | MS_MOVE))) {
		if (!type)
			return -EINVAL;
		return mount_type(device_text.text, &path, type_text.text, flags,
				  options_text.text);
	}
	if (!*device_text.text || (flags & MS_REC))
		return -EINVAL;
	TRY(kern_path(device_text.text, LOOKUP_FOLLOW, &from));
	return flags & MS_BIND ? mount_bind(&from, &path) : mount_move(&from, &path);
}

s64 sys_umount2(const char *where, u32 flags)
{
	struct path path __free(path) = {0};

	if (flags & ~(u32)(MNT_FORCE | MNT_DETACH | UMOUNT_NOFOLLOW))
		return -EINVAL;
	unsigned lookup = flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW;
	TRY(user_path_at(AT_FDCWD, where, lookup, &path));
	if (!capable(current->cred))
		return -EPERM;
	follow_mounts(&path); /* "." stands below what is mounted on it */
	if (path.dentry != path.mount->root)
		return -EINVAL;
	return mount_detach(path.mount, flags);
}

/* It has no way to fail; errors are reported by fsync(). */
s64 sys_sync(void)
{
	vfs_sync_all();
	return 0;
}

s64 sys_syncfs(int number)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));

	struct super_block *sb = fd.file->inode->sb;
	int error = sync_super(sb);
	if (sb->bdev)
		error = block_take_error(sb->bdev) ?: error;
	return error;
}
