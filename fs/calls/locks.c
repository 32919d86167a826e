/*
 * locks.c - the calls for advisory locks: fcntl's record locks, and flock.
 */
#include "fs/calls/calls.h"
#include "fs/file/locks.h"

s64 fcntl_lock_call(int number, struct file *file, u32 command, void __user *user)
{
	bool of_process = TRY(fcntl_lock(file, command, user));

	if (!of_process)
		return 0;
	/* Another thread's close that came first would never take the lock away. One that comes
	 * later takes the table's lock behind this, and so sees what was locked. */
	(void)file_table_next(current->files, number);
	struct fd again __free(fd) = fdget(number);
	if (again.file == file)
		return 0;
	locks_remove(file->inode, current->files);
	return -EBADF;
}

s64 sys_flock(int number, u32 operation)
{
	enum { LOCK_SH = 1, LOCK_EX = 2, LOCK_NB = 4, LOCK_UN = 8 };
	enum patience patience = operation & LOCK_NB ? DO_NOT_WAIT : WAIT_FOR_OTHERS;
	u32 kind = operation & ~(u32)LOCK_NB;

	if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN)
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (kind == LOCK_UN)
		return flock_file(fd.file, F_UNLCK, patience);
	if (!(fd.file->mode & (FMODE_READ | FMODE_WRITE)))
		return -EBADF;
	return flock_file(fd.file, kind == LOCK_SH ? F_RDLCK : F_WRLCK, patience);
}
