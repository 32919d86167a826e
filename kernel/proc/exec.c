/*
 * exec.c - execve(2): the file, its scripts' interpreters, the arguments, the new program's stack.
 *
 * Steps: open and check the file; follow "#!" lines; copy the argument strings into kernel pages;
 * map the program into a new address space (elf.c); then - the point of no return - make that
 * current's, close what is to be closed, write the stack (exec_stack.c) and enter. Until then the
 * old program is untouched.
 */
#include "kernel/proc/exec.h"

#include <arch/process.h>

#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"
#include "mm/slab.h"

/* ---- the file -------------------------------------------------------------------------------- */

struct file *exec_open(const char *name)
{
	struct inode *inode;
	struct file *file;
	struct path path;
	int error = kern_path(name, LOOKUP_FOLLOW, &path);

	if (error)
		return ERR_PTR(error);
	inode = path.dentry->inode;
	error = -EACCES;
	if (S_ISREG(inode->mode) && !((path.mount->flags | path.mount->sb->flags) & SB_NOEXEC))
		error = inode_permission(inode, MAY_EXEC);
	if (!error)
		error = deny_write_access(inode);
	if (error) {
		path_put(&path);
		return ERR_PTR(error);
	}
	file = file_open_path(&path, O_RDONLY | O_LARGEFILE);
	if (IS_ERR(file))
		allow_write_access(inode);
	else
		file->mode |= FMODE_EXEC; /* fput() allows writing again */
	path_put(&path);
	return file;
}

void exec_close(struct file *file)
{
	fput(file);
}

/* ---- scripts --------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int push_prefix(struct program *program, const char *text, size_t length)
{
	char *copy;

	if (!program->first_prefix)
		return -ELOOP;
	copy = kmalloc(length + 8, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, length);
	copy[length] = 0;
	program->prefix[--program->first_prefix] = copy;
	return 0;
}

/*
 * "#!interpreter argument": the arguments become interpreter, argument (if any), the script's own
 * name, and what followed argv[0]. program->header holds the line; @script is the name it was
 * opened by.
 */
static int script_arguments(struct program *program, const char *script)
{
	char *line = (char *)program->header + 2, *end, *name, *name_end;
	bool truncated;
	int error;

	end = strchr(line, '\n');
	truncated = !end && program->header[EXEC_HEADER - 1];
	if (!end)
		end = line + strlen(line);
	while (end > line && is_blank(end[-1]))
		end--;
	for (name = line; name < end && is_blank(*name); name++)
		;
	for (name_end = name; name_end < end && !is_blank(*name_end); name_end++)
		;
	if (name == name_end || (truncated && name_end == end))
		return -ENOEXEC; /* no interpreter, or the end of its name is not known */
	for (line = name_end; line < end && is_blank(*line); line++)
		;
	/* The interpreter's own argv[0], if it is a script itself, gives way to its file name. */
	if (program->first_prefix < ARRAY_SIZE(program->prefix))
		kfree(program->prefix[program->first_prefix++]);
	program->drop_first = true;
	error = push_prefix(program, script, strlen(script));
	if (!error && line < end)
		error = push_prefix(program, line, (size_t)(end - line));
	return error ? error : push_prefix(program, name, (size_t)(name_end - name));
}

static int read_header(struct program *program)
{
	ssize_t n = kernel_read(program->file, program->header, EXEC_HEADER, 0);

	if (n < 0)
		return (int)n;
	memset(program->header + n, 0, sizeof(program->header) - (size_t)n);
	return 0;
}

/* Open program->name, and in its place the interpreter as long as it is a script. */
static int open_program(struct program *program)
{
	const char *name = program->name;
	int error;

	for (unsigned depth = 0;; depth++) {
		program->file = exec_open(name);
		if (IS_ERR(program->file)) {
			error = (int)PTR_ERR(program->file);
			program->file = NULL;
			return error;
		}
		error = read_header(program);
		if (error || program->header[0] != '#' || program->header[1] != '!')
			return error;
		if (depth == EXEC_SCRIPTS)
			return -ELOOP;
		error = script_arguments(program, name);
		if (error)
			return error;
		exec_close(program->file);
		program->file = NULL;
		name = program->prefix[program->first_prefix];
	}
}

/* ---- credentials ----------------------------------------------------------------------------- */

static int prepare_credentials(struct program *program)
{
	const struct path *path = &program->file->path;
	const struct inode *inode = program->file->inode;
	const struct cred *old = current->cred;
	bool set_uid = inode->mode & S_ISUID;
	bool set_gid = (inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
	struct cred *new;

	if (((path->mount->flags | path->mount->sb->flags) & SB_NOSUID) ||
	    current->process->no_new_privileges)
		set_uid = set_gid = false;
	if (!set_uid && !set_gid && old->suid == old->euid && old->sgid == old->egid &&
	    old->fsuid == old->euid && old->fsgid == old->egid) {
		program->secure = old->uid != old->euid || old->gid != old->egid;
		return 0;
	}
	new = prepare_cred();
	if (!new)
		return -ENOMEM;
	if (set_uid)
		new->euid = inode->uid;
	if (set_gid)
		new->egid = inode->gid;
	new->suid = new->fsuid = new->euid;
	new->sgid = new->fsgid = new->egid;
	program->secure = new->uid != new->euid || new->gid != new->egid;
	program->cred = new;
	return 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void program_free(struct program *program)
{
	for (unsigned i = program->first_prefix; i < ARRAY_SIZE(program->prefix); i++)
		kfree(program->prefix[i]);
	strings_free(&program->strings);
	elf_free(program);
	if (program->file)
		exec_close(program->file);
	if (program->mm)
		mm_put(program->mm);
	if (program->cred)
		put_cred(program->cred);
	kfree(program);
}

/* The new program's descriptors are its own, whoever shared them with the old one. */
static int unshare_files(void)
{
	struct file_table *old = current->files, *new = file_table_unshare(old);
	unsigned long flags;

	if (!new)
		return -ENOMEM;
	if (new == old)
		return 0;
	spin_lock_irqsave(&process_lock, flags); /* /proc looks at it */
	current->files = new;
	spin_unlock_irqrestore(&process_lock, flags);
	file_table_put(old);
	return 0;
}

/* All other threads end, and current is the one that has the process's number. -EINTR: we are to
 * end too. */
static int end_other_threads(void)
{
	struct process *process = current->process;
	unsigned long flags;
	int error = 0;

	spin_lock_irqsave(&process_lock, flags);
	if (process->exiting || process->exec_task) {
		spin_unlock_irqrestore(&process_lock, flags);
		return -EINTR;
	}
	process->exec_task = current;
	process_end_others(process);
	while (process->thread_count > 1 && !process->exiting) {
		set_current_state(TASK_KILLABLE);
		spin_unlock_irqrestore(&process_lock, flags);
		schedule();
		spin_lock_irqsave(&process_lock, flags);
	}
	__set_current_state(TASK_RUNNING);
	process->exec_task = NULL;
	if (process->exiting)
		error = -EINTR;
	else
		current->pid = process->pid;
	spin_unlock_irqrestore(&process_lock, flags);
	return error;
}

static int prepare(struct program *program, const struct caller *caller)
{
	int error = open_program(program);

	if (error)
		return error;
	error = copy_strings(program, caller);
	if (error)
		return error;
	program->mm = mm_create();
	if (!program->mm)
		return -ENOMEM;
	error = make_stack(program);
	if (!error)
		error = elf_load(program);
	if (!error)
		error = prepare_credentials(program);
	if (!error)
		error = unshare_files();
	if (!error && current->process->thread_count > 1)
		error = end_other_threads();
	return error;
}

static void set_comm(struct task *task, const char *name)
{
	const char *slash;

	while ((slash = strchr(name, '/')) != NULL)
		name = slash + 1;
	strlcpy(task->comm, name, sizeof(task->comm));
}

/* The point of no return: the old program goes away. */
static void begin_new_program(struct program *program)
{
	struct task *task = current;
	struct process *process = task->process;
	struct mm *old = task->mm, *new = program->mm;
	unsigned long flags;

	futex_end_thread();
	new->exe = program->file;
	program->file = NULL;
	mm_get(new); /* one reference is the program's until it is freed */
	spin_lock_irqsave(&process_lock, flags); /* /proc looks at other tasks' mm under it */
	task->mm = new;
	process->did_exec = true;
	process->exit_signal = SIGCHLD;
	process->parent_death_signal = 0;
	spin_unlock_irqrestore(&process_lock, flags);
	mm_activate(new);
	task->clear_child_tid = NULL;
	task->robust_list = task->rseq_area = 0;
	if (old)
		mm_put(old);
	vfork_done(process);
	signals_exec();
	file_table_exec(task->files);
	if (program->cred) {
		task_set_cred(program->cred);
		program->cred = NULL;
	}
	set_comm(task, program->name);
}

static s64 execute(struct program *program, const struct caller *caller)
{
	u64 entry, sp;
	int error = prepare(program, caller);

	if (error) {
		program_free(program);
		return error;
	}
	begin_new_program(program);
	error = elf_clear_bss(program);
	if (!error)
		error = write_stack(program, &sp);
	entry = program->entry;
	program_free(program);
	if (error)
		process_exit_group(SIGSEGV);
	arch_enter_user(entry, sp);
}

static struct program *program_create(void)
{
	struct program *program = kzalloc(sizeof(*program), GFP_KERNEL);

	if (program)
		program->first_prefix = ARRAY_SIZE(program->prefix);
	return program;
}

s64 process_exec(const char *user_name, const u64 *user_argv, const u64 *user_envp)
{
	struct caller caller = {.argv = user_argv, .envp = user_envp};
	struct program *program = program_create();
	s64 length;

	if (!program)
		return -ENOMEM;
	length = strncpy_from_user(program->name, user_name, PATH_MAX);
	if (length > 0 && length < PATH_MAX)
		return execute(program, &caller);
	program_free(program);
	return length < 0 ? length : length == 0 ? -ENOENT : -ENAMETOOLONG;
}

s64 kernel_exec(const char *name, const char *const *argv, const char *const *envp)
{
	struct caller caller = {
		.argv = (const u64 *)argv, .envp = (const u64 *)envp, .kernel = true};
	struct program *program = program_create();

	if (!program)
		return -ENOMEM;
	strlcpy(program->name, name, PATH_MAX);
	return execute(program, &caller);
}
