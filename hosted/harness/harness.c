/* harness.c - hosted: files as the tests want them. */
#include "hosted/harness/harness.h"

#include <stdio.h>
#include <string.h>

#include "fs/block/block.h"
#include "fs/file/open.h"
#include "fs/inode/attributes.h"
#include "fs/path/namei.h"
#include "core/log/assert.h"

/* ---- images ---------------------------------------------------------------------------------- */

static void print_file(const char *name)
{
	FILE *file = fopen(name, "r");
	char line[256];

	for (unsigned n = 0; file && n < 20 && fgets(line, sizeof(line), file); n++)
		fprintf(stderr, "    %s", line);
	if (file)
		fclose(file);
}

void image_make(struct hosted_disk *disk, unsigned block_size, unsigned kilobytes,
		const char *options)
{
	char image[128], log[128];
	int status;

	snprintf(image, sizeof(image), "%s/image", scratch());
	snprintf(log, sizeof(log), "%s/log", scratch());
	status = run_command(log,
			     "rm -f %s && MKE2FS_CONFIG=/dev/null mke2fs -q -F -t ext2 -b %u %s "
			     "-U 00000000-0000-4000-8000-000000000001 %s %uk",
			     image, block_size, options, image, kilobytes);
	if (status) {
		print_file(log);
		panic("mke2fs -b %u %s: status %d", block_size, options, status);
	}
	BUG_ON(KB(kilobytes) > disk->bytes || disk_load(disk, image) != 0);
}

void image_check(const struct hosted_disk *disk)
{
	char image[128], log[128];
	int status;

	snprintf(image, sizeof(image), "%s/image", scratch());
	snprintf(log, sizeof(log), "%s/log", scratch());
	BUG_ON(disk_save(disk, image, (size_t)disk->device.sectors * SECTOR_SIZE) != 0);
	status = run_command(log, "e2fsck -fn %s", image);
	if (status) {
		test_failed(__FILE__, __LINE__, "e2fsck -fn: status %d", status);
		print_file(log);
	}
}

void image_keep(const struct hosted_disk *disk, unsigned char *copy)
{
	memcpy(copy, disk->image, (size_t)disk->device.sectors * SECTOR_SIZE);
}

void image_restore(struct hosted_disk *disk, const unsigned char *copy)
{
	memcpy(disk->image, copy, (size_t)disk->device.sectors * SECTOR_SIZE);
}

/* ---- mounting and files ---------------------------------------------------------------------- */

int find_path(const char *name, unsigned flags, struct path *path)
{
	struct path_name text __free(name);

	TRY(path_name_get(&text, name));
	return kern_path(text.text, flags, path);
}

struct inode *inode_by_path(const char *name)
{
	struct path path;

	CHECK_EQUAL(find_path(name, 0, &path), 0);

	struct inode *inode = path.dentry->inode;

	ihold(inode);
	path_put(&path);
	return inode;
}

struct file *open_path(const char *name, int flags, umode_t mode)
{
	struct path_name text __free(name);
	int error = path_name_get(&text, name);

	return error ? ERR_PTR(error) : filp_open(text.text, flags, mode);
}

int mount_disk(const char *name, unsigned flags)
{
	struct block_device *device = find_block_device(name, 0);
	char node[32];

	snprintf(node, sizeof(node), "/%s", name);
	sys_mknodat(AT_FDCWD, node, S_IFBLK | 0600, (u32)device->dev);
	return (int)sys_mount(node, "/mnt", "ext2", flags, "");
}

int umount_disk(void)
{
	return (int)sys_umount2("/mnt", 0);
}

s64 write_at(const char *path, int flags, loff_t offset, const void *data, size_t n)
{
	struct io io = {(void *)data, n, IO_USER, 0};
	struct file *file = open_path(path, flags, 0644);
	s64 result;

	if (IS_ERR(file))
		return PTR_ERR(file);
	result = vfs_write(file, &io, &offset);
	fput(file);
	return result;
}

s64 read_at(const char *path, loff_t offset, void *data, size_t n)
{
	struct io io = {data, n, IO_USER, 0};
	struct file *file = open_path(path, O_RDONLY, 0);
	s64 result;

	if (IS_ERR(file))
		return PTR_ERR(file);
	result = vfs_read(file, &io, &offset);
	fput(file);
	return result;
}

int chmod_path(const char *name, umode_t mode)
{
	struct path path;
	int error = find_path(name, LOOKUP_FOLLOW, &path);

	if (!error) {
		error = vfs_chmod(&path, mode);
		path_put(&path);
	}
	return error;
}

int truncate_path(const char *name, loff_t size)
{
	return (int)sys_truncate(name, size);
}

/* ---- directories ----------------------------------------------------------------------------- */

struct list_context {
	struct dir_context context;
	void (*visit)(const char *name, unsigned d_type, void *argument);
	void *argument;
	unsigned left; /* emitted before the "buffer" is full */
};

static bool emit(struct dir_context *context, const char *name, unsigned length, ino_t ino,
		 unsigned d_type)
{
	struct list_context *list = container_of(context, struct list_context, context);
	char text[256];

	(void)ino;
	if (!list->left)
		return false;
	list->left--;
	BUG_ON(length > 255);
	memcpy(text, name, length);
	text[length] = 0;
	if (strlen(text) == length && strcmp(text, ".") != 0 && strcmp(text, "..") != 0)
		list->visit(text, d_type, list->argument);
	return true;
}

int list_directory(const char *name, unsigned batch, void (*visit)(const char *, unsigned, void *),
		   void *argument)
{
	struct list_context list = {
		.context = {.emit = emit}, .visit = visit, .argument = argument};
	struct file *file = open_path(name, O_RDONLY | O_DIRECTORY, 0);
	int error = 0;
	loff_t before;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	do {
		before = list.context.position;
		list.left = batch ? batch : ~0u;
		down_read(&file->inode->lock);
		error = file->fop->iterate ? file->fop->iterate(file, &list.context) : -ENOTDIR;
		up_read(&file->inode->lock);
	} while (!error && list.context.position != before);
	fput(file);
	return error;
}

void swap_disk_create(struct hosted_disk *disk, u32 pages)
{
	u32 *header;

	disk_create(disk, "swap", 1, pages * PAGE_SIZE);
	disk->asynchronous = true;
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/swap", S_IFBLK | 0600, (u32)disk->device.dev), 0);
	header = (u32 *)disk->image;
	header[256] = 1; /* version */
	header[257] = pages - 1;
	memcpy(disk->image + PAGE_SIZE - 10, "SWAPSPACE2", 10);
}
