/*
 * execveat.c - execveat(2): execve from a directory's descriptor, or of what a descriptor has open.
 */
#include "fs/path/namei.h"
#include "fs/file/file_table.h"
#include "kernel/exec/program.h"
#include "kernel/proc/process.h"

/* The name that a script's interpreter is to open it by, of a name that begins at a descriptor. */
static void name_by_descriptor(struct program *program, int dfd)
{
	char text[32];
	size_t length = strlen(program->name);
	const char *format = length ? "/dev/fd/%d/" : "/dev/fd/%d";
	size_t before = (size_t)snprintf(text, sizeof(text), format, dfd);

	memmove(program->name + before, program->name, length + 1);
	memcpy(program->name, text, before);
	program->name_closes = fd_get_flags(dfd) == FD_CLOEXEC;
}

s64 sys_execveat(int dfd, const char *name, const u64 *argv, const u64 *envp, int flags)
{
	struct program *program __free(program) = TRY_PTR(kzalloc(sizeof(*program), GFP_KERNEL));
	unsigned lookup = flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	s64 length = TRY(strncpy_from_user(program->name, name, PATH_MAX));
	if (length == PATH_MAX)
		return -ENAMETOOLONG;
	{ /* nothing is held any more where there is no way back */
		struct path path __free(path) = {0};

		TRY(user_path_at(dfd, name, lookup | (flags & LOOKUP_EMPTY), &path));
		if (S_ISLNK(path.dentry->inode->mode))
			return -ELOOP;
		TRY(exec_open_path(&path, &program->file));
	}
	if (dfd != AT_FDCWD && program->name[0] != '/')
		name_by_descriptor(program, dfd);
	return program_run(program, argv, envp);
}
