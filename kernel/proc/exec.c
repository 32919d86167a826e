/*
 * exec.c - execve(2): the file, its scripts' interpreters, the arguments, the new program's stack.
 *
 * Steps: open and check the file; follow "#!" lines; copy the argument strings into kernel pages; map the
 * program into a new address space (elf.c); then - the point of no return - make that current's, close what is
 * to be closed, write the stack and enter. Until then the old program is untouched.
 *
 * The stack, from the top: 8 zero bytes, the file name, the environment's strings, the arguments' strings, the
 * platform's name, 16 random bytes; then aligned to 16 the auxiliary vector, environment and argument
 * pointers, and argc at the stack pointer. There is no address randomisation: runs are to repeat exactly.
 */
#include "kernel/proc/exec.h"

#include <arch/elf.h>
#include <arch/process.h>
#include <arch/signal.h>

#include "kernel/core/printk.h"
#include "kernel/core/random.h"
#include "kernel/core/sched.h"
#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/process.h"
#include "mm/mman.h"
#include "mm/slab.h"

#define page_round(x) round_up((u64)(x), (u64)PAGE_SIZE)
#define STACK_INITIAL KB(128)
#define STACK_GAP_MIN MB(128) /* kept free for the stack below its top */

enum auxiliary {
	AT_NULL = 0,
	AT_PHDR = 3,
	AT_PHENT = 4,
	AT_PHNUM = 5,
	AT_PAGESZ = 6,
	AT_BASE = 7,
	AT_FLAGS = 8,
	AT_ENTRY = 9,
	AT_UID = 11,
	AT_EUID = 12,
	AT_GID = 13,
	AT_EGID = 14,
	AT_PLATFORM = 15,
	AT_HWCAP = 16,
	AT_CLKTCK = 17,
	AT_SECURE = 23,
	AT_RANDOM = 25,
	AT_HWCAP2 = 26,
	AT_EXECFN = 31,
	AT_MINSIGSTKSZ = 51,
};

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

/* ---- argument strings ------------------------------------------------------------------------ */

static size_t strings_limit(void)
{
	u64 limit = process_limit(RLIMIT_STACK) / 4;

	return max(min(limit, (u64)EXEC_PAGES * PAGE_SIZE), (u64)EXEC_STRING_MAX);
}

/* Memory behind the end of the strings, and in *room how much of it. NULL: none, or too long. */
static u8 *strings_end(struct exec_strings *strings, size_t *room)
{
	size_t page = strings->length / PAGE_SIZE, offset = strings->length % PAGE_SIZE;

	if (page >= EXEC_PAGES)
		return NULL;
	if (!strings->pages[page]) {
		strings->pages[page] = get_free_pages(GFP_KERNEL, 0);
		if (!strings->pages[page])
			return NULL;
	}
	*room = PAGE_SIZE - offset;
	return strings->pages[page] + offset;
}

static int append_user(struct exec_strings *strings, const char *from)
{
	size_t length = 0, room;
	s64 n;

	for (;;) {
		u8 *to = strings_end(strings, &room);

		if (!to)
			return -E2BIG;
		n = strncpy_from_user((char *)to, from + length, room);
		if (n < 0)
			return (int)n;
		if ((size_t)n < room) {
			strings->length += (size_t)n + 1;
			return length + (size_t)n < EXEC_STRING_MAX ? 0 : -E2BIG;
		}
		strings->length += room;
		length += room;
		if (length > EXEC_STRING_MAX)
			return -E2BIG;
	}
}

static int append_kernel(struct exec_strings *strings, const char *from)
{
	size_t left = strlen(from) + 1, room, n;

	while (left) {
		u8 *to = strings_end(strings, &room);

		if (!to)
			return -E2BIG;
		n = min(left, room);
		memcpy(to, from, n);
		strings->length += n;
		from += n;
		left -= n;
	}
	return 0;
}

static u8 strings_byte(const struct exec_strings *strings, size_t offset)
{
	return strings->pages[offset / PAGE_SIZE][offset % PAGE_SIZE];
}

static void strings_free(struct exec_strings *strings)
{
	for (unsigned i = 0; i < EXEC_PAGES && strings->pages[i]; i++)
		free_pages(strings->pages[i], 0);
}

/* The caller's argv and envp: pointers in user memory, or (init) in the kernel's. */
struct caller {
	const u64 *argv, *envp;
	bool kernel;
};

/* Append the strings of @array from element @first on; count in *count. */
static int append_array(struct program *program, const struct caller *caller, const u64 *array,
			unsigned first, unsigned *count)
{
	u64 pointer;
	int error;

	if (!array)
		return 0;
	for (unsigned i = 0;; i++) {
		if (caller->kernel)
			pointer = array[i];
		else if (get_user(pointer, array + i))
			return -EFAULT;
		if (!pointer)
			return 0;
		if (i < first)
			continue;
		error = caller->kernel ? append_kernel(&program->strings, (const char *)pointer)
				       : append_user(&program->strings, (const char *)pointer);
		if (error)
			return error;
		++*count;
		if (program->strings.length + (program->argc + program->envc) * sizeof(u64) >
		    strings_limit())
			return -E2BIG;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
}

static int copy_strings(struct program *program, const struct caller *caller)
{
	struct exec_strings *strings = &program->strings;
	int error = 0;

	for (unsigned i = program->first_prefix; !error && i < ARRAY_SIZE(program->prefix); i++) {
		error = append_kernel(strings, program->prefix[i]);
		program->argc++;
	}
	if (!error)
		error = append_array(program, caller, caller->argv, program->drop_first,
				     &program->argc);
	if (!error && !program->argc) { /* as Linux does since 5.18 */
		error = append_kernel(strings, "");
		program->argc = 1;
	}
	program->argv_bytes = strings->length;
	if (!error)
		error = append_array(program, caller, caller->envp, 0, &program->envc);
	program->env_bytes = strings->length - program->argv_bytes;
	return error ? error : append_kernel(strings, program->name);
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
 * "#!interpreter argument": the arguments become interpreter, argument (if any), the script's own name, and what
 * followed argv[0]. program->header holds the line; @script is the name it was opened by.
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

/* ---- the new address space and its stack ----------------------------------------------------- */

static int make_stack(struct program *program)
{
	struct mm *mm = program->mm;
	u64 limit = process_limit(RLIMIT_STACK), size;
	s64 result;

	mm->stack_top = USER_TOP;
	mm->stack_limit = limit;
	mm->mmap_top = USER_TOP - page_round(max(min(limit, (u64)GB(64)), (u64)STACK_GAP_MIN));
	size = page_round(program->strings.length + (program->argc + program->envc) * sizeof(u64) +
			  STACK_INITIAL);
	result = mm_map(mm, USER_TOP - size, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN | MAP_STACK, NULL, 0);
	return result < 0 ? (int)result : 0;
}

static int put_strings(const struct exec_strings *strings, u64 to)
{
	for (size_t done = 0; done < strings->length; done += PAGE_SIZE) {
		if (copy_to_user((void *)(to + done), strings->pages[done / PAGE_SIZE],
				 min(strings->length - done, PAGE_SIZE)))
			return -EFAULT;
	}
	return 0;
}

/* Pointers to @count strings that begin at strings[*offset] and at user address @base + *offset. */
static int put_pointers(const struct program *program, u64 base, size_t *offset, unsigned count,
			u64 **at)
{
	while (count--) {
		if (put_user(base + *offset, *at))
			return -EFAULT;
		++*at;
		while (strings_byte(&program->strings, *offset))
			++*offset;
		++*offset;
	}
	return put_user(0ULL, (*at)++);
}

static unsigned fill_auxiliary(const struct program *program, u64 *out, u64 name, u64 random,
			       u64 platform)
{
	const struct cred *cred = current->cred;
	const u64 pairs[] = {
		AT_MINSIGSTKSZ, arch_signal_stack_size(),
		AT_HWCAP, arch_hwcap(),
		AT_PAGESZ, PAGE_SIZE,
		AT_CLKTCK, 100,
		AT_PHDR, program->phdr,
		AT_PHENT, sizeof(struct elf_segment),
		AT_PHNUM, program->image.header.phnum,
		AT_BASE, program->interpreter.segments ? program->interpreter.bias : 0,
		AT_FLAGS, 0,
		AT_ENTRY, program->image.header.entry + program->image.bias,
		AT_UID, cred->uid,
		AT_EUID, cred->euid,
		AT_GID, cred->gid,
		AT_EGID, cred->egid,
		AT_SECURE, program->secure,
		AT_RANDOM, random,
		AT_HWCAP2, 0,
		AT_EXECFN, name,
		AT_PLATFORM, platform,
		AT_NULL, 0,
	};

	_Static_assert(sizeof(pairs) <= sizeof(((struct mm *)0)->auxv), "mm->auxv is too small");
	memcpy(out, pairs, sizeof(pairs));
	return ARRAY_SIZE(pairs);
}

/* Write the stack of the new program, which is current's already; its stack pointer in *sp. */
static int write_stack(struct program *program, u64 *sp)
{
	struct mm *mm = program->mm;
	u64 base = mm->stack_top - 8 - program->strings.length, platform, random, *at;
	u8 seed[16];
	unsigned words;
	size_t offset = 0;
	int error = put_strings(&program->strings, base);

	platform = base - sizeof(ARCH_PLATFORM);
	random = round_down(platform - sizeof(seed), 16ULL);
	get_random_bytes(seed, sizeof(seed));
	if (error || copy_to_user((void *)platform, ARCH_PLATFORM, sizeof(ARCH_PLATFORM)) ||
	    copy_to_user((void *)random, seed, sizeof(seed)))
		return -EFAULT;
	mm->arg_start = base;
	mm->arg_end = mm->env_start = base + program->argv_bytes;
	mm->env_end = mm->env_start + program->env_bytes;
	words = fill_auxiliary(program, mm->auxv, mm->env_end, random, platform);
	at = (u64 *)random - (words + program->argc + program->envc + 3);
	at = (u64 *)round_down((u64)at, 16ULL);
	*sp = (u64)at;
	if (put_user((u64)program->argc, at++) ||
	    put_pointers(program, base, &offset, program->argc, &at) ||
	    put_pointers(program, base, &offset, program->envc, &at) ||
	    copy_to_user(at, mm->auxv, words * sizeof(u64)))
		return -EFAULT;
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

/* All other threads end, and current is the one that has the process's number. -EINTR: we are to end too. */
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
