/*
 * sys_shared.c - memory that processes share by name or number: memfd_create(2) and System V's
 * shared memory.
 *
 * Both are files of a tmpfs that is mounted nowhere, so what they hold counts against its limit of
 * half of memory. A segment is such a file and its number; who attaches it maps the file, and the
 * file's references say how often it is attached.
 *
 * Lock: segments_lock guards the table; it may sleep, and takes mm->lock below it.
 */
#include "fs/tmpfs/tmpfs.h"
#include "kernel/proc/process.h"
#include "mm/mman.h"
#include "mm/vm.h"

#define MFD_CLOEXEC 1u
#define MFD_ALLOW_SEALING 2u
#define MFD_NAME_MAX 249

s64 sys_memfd_create(const char *name, u32 flags)
{
	char text[MFD_NAME_MAX + 1];
	struct file *file;
	s64 length;
	int fd;

	if (flags & ~(MFD_CLOEXEC | MFD_ALLOW_SEALING))
		return -EINVAL;
	length = strncpy_from_user(text, name, sizeof(text));
	if (length < 0 || length == sizeof(text))
		return length < 0 ? length : -EINVAL;
	file = tmpfs_file(0777, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fd = fd_alloc(0, flags & MFD_CLOEXEC);
	if (fd < 0)
		fput(file);
	else
		fd_install(fd, file);
	return fd;
}

/* ---- System V shared memory ------------------------------------------------------------------ */

#define SEGMENTS 256
#define NUMBERS (1 << 22) /* a slot's numbers come round after so many segments */
#define IPC_PRIVATE 0
#define IPC_CREAT 01000
#define IPC_EXCL 02000
#define IPC_RMID 0
#define IPC_STAT 2
#define SHM_RDONLY 010000
#define SHM_RND 020000
#define SHM_REMAP 040000
#define SHM_EXEC 0100000

struct segment {
	struct file *file; /* NULL: the slot is free */
	int key, number;
	u64 size;
	pid_t creator, last;
	s64 attached, detached; /* seconds */
};

/* As programs see it: struct shmid64_ds. */
struct segment_status {
	s32 key;
	u32 uid, gid, creator_uid, creator_gid, mode;
	u64 sequence, unused[2];
	u64 size;
	s64 attached, detached, changed;
	s32 creator, last;
	u64 attachments, unused_too[2];
};

static DEFINE_MUTEX(segments_lock);
static struct segment segments[SEGMENTS];

/* The segment of @number that the caller may use for @mask (MAY_*), or ERR_PTR(-EINVAL, -EACCES).
 */
static struct segment *find_segment(int number, int mask)
{
	struct segment *segment = &segments[(unsigned)number % SEGMENTS];
	int error;

	if (number < 0 || !segment->file || segment->number != number)
		return ERR_PTR(-EINVAL);
	error = inode_permission(segment->file->inode, mask);
	return error ? ERR_PTR(error) : segment;
}

static s64 segment_make(struct segment *slot, int key, u64 size, u32 flags)
{
	static int generation;
	struct file *file;

	if (!size || size > (u64)page_alloc_total_pages() << PAGE_SHIFT)
		return -EINVAL;
	if (!slot)
		return -ENOSPC;
	file = tmpfs_file((umode_t)flags & 0777, (loff_t)size);
	if (IS_ERR(file))
		return PTR_ERR(file);
	file->private = segments; /* not a memfd's */
	generation = (generation + 1) % NUMBERS;
	*slot = (struct segment){
		.file = file,
		.key = key,
		.number = generation * SEGMENTS + (int)(slot - segments),
		.size = size,
		.creator = current->process->pid,
	};
	return slot->number;
}

s64 sys_shmget(int key, u64 size, u32 flags)
{
	struct segment *slot = NULL, *found = NULL;
	int mask = (flags & 0444 ? MAY_READ : 0) | (flags & 0222 ? MAY_WRITE : 0);

	guard(mutex, &segments_lock);
	for (struct segment *segment = segments; segment < segments + SEGMENTS; segment++) {
		if (!segment->file)
			slot = slot ? slot : segment;
		else if (key != IPC_PRIVATE && segment->key == key)
			found = segment;
	}
	if (!found)
		return key == IPC_PRIVATE || flags & IPC_CREAT
			       ? segment_make(slot, key, size, flags)
			       : -ENOENT;
	if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return -EEXIST;
	if (size > found->size)
		return -EINVAL;
	found = find_segment(found->number, mask);
	return IS_ERR(found) ? PTR_ERR(found) : found->number;
}

s64 sys_shmat(int number, u64 address, u32 flags)
{
	bool writable = !(flags & SHM_RDONLY);
	unsigned prot =
		PROT_READ | (writable ? PROT_WRITE : 0) | (flags & SHM_EXEC ? PROT_EXEC : 0);
	unsigned where = !address ? 0 : flags & SHM_REMAP ? MAP_FIXED : MAP_FIXED_NOREPLACE;
	struct segment *segment;
	s64 result;

	if (flags & SHM_RND)
		address = round_down(address, (u64)PAGE_SIZE);
	if (address & (PAGE_SIZE - 1) || (flags & SHM_REMAP && !address))
		return -EINVAL;
	guard(mutex, &segments_lock);
	segment = find_segment(number, MAY_READ | (writable ? MAY_WRITE : 0));
	if (IS_ERR(segment))
		return PTR_ERR(segment);
	result = mm_map(current->mm, address, segment->size, prot, MAP_SHARED | where,
			segment->file, 0);
	if (result < 0)
		return result == -EEXIST ? -EINVAL : result;
	segment->attached = current_time().tv_sec;
	segment->last = current->process->pid;
	return result;
}

/* The file of the segment, perhaps removed, that was attached at @address, and its size; or NULL.
 */
static const struct file *attached_at(u64 address, u64 *size)
{
	struct mm *mm = current->mm;
	const struct vma *vma;

	guard(read, &mm->lock);
	vma = find_vma(mm, address);
	if (!vma || vma->start != address || !vma->file || vma->page_offset ||
	    vma->file->private != segments)
		return NULL;
	*size = (u64)vma->file->inode->size;
	return vma->file;
}

s64 sys_shmdt(u64 address)
{
	const struct file *file;
	u64 size;

	guard(mutex, &segments_lock);
	file = attached_at(address, &size);
	if (!file)
		return -EINVAL;
	for (struct segment *segment = segments; segment < segments + SEGMENTS; segment++) {
		if (segment->file == file) {
			segment->detached = current_time().tv_sec;
			segment->last = current->process->pid;
		}
	}
	return mm_unmap(current->mm, address, size);
}

static void segment_status(const struct segment *segment, struct segment_status *status)
{
	const struct inode *inode = segment->file->inode;

	*status = (struct segment_status){
		.key = segment->key,
		.uid = inode->uid,
		.gid = inode->gid,
		.creator_uid = inode->uid,
		.creator_gid = inode->gid,
		.mode = inode->mode & 0777,
		.size = segment->size,
		.attached = segment->attached,
		.detached = segment->detached,
		.changed = inode->ctime.tv_sec,
		.creator = segment->creator,
		.last = segment->last,
		.attachments = (u64)atomic_read(&segment->file->refcount) - 1,
	};
}

s64 sys_shmctl(int number, int command, void *buffer)
{
	struct segment_status status;
	struct segment *segment;

	guard(mutex, &segments_lock);
	segment = find_segment(number, command == IPC_STAT ? MAY_READ : 0);
	if (IS_ERR(segment))
		return PTR_ERR(segment);
	if (command == IPC_STAT) {
		segment_status(segment, &status);
		return copy_to_user(buffer, &status, sizeof(status)) ? -EFAULT : 0;
	}
	if (command != IPC_RMID)
		return -EINVAL;
	if (current->cred->euid != segment->file->inode->uid && !capable(current->cred))
		return -EPERM;
	fput(segment->file); /* who has it attached keeps it */
	segment->file = NULL;
	return 0;
}
