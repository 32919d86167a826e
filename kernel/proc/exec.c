/*
 * exec.c - execve(2): the file, its scripts' interpreters, the arguments, the new program's stack.
 *
 * Steps: open and check the file; copy the argument strings onto the stack of a new address space;
 * follow "#!" lines; map the program (elf.c); then - the point of no return - make that address
 * space current's, close what is to be closed, write the pointers below the strings and enter.
 * Until then the old program is untouched.
 *
 * The stack, from the top: 8 zero bytes, the file name, the environment's strings, the arguments'
 * strings, the platform's name, 16 random bytes; then aligned to 16 the auxiliary vector,
 * environment and argument pointers, and argc at the stack pointer.
 */
#include "kernel/proc/exec.h"

#include <arch/elf.h>
#include <arch/process.h>
#include <arch/signal.h>

#include "kernel/core/cmdline.h"
#include "kernel/core/random.h"
#include "kernel/proc/process.h"
#include "mm/mman.h"

#define STRING_SIZE_MAX (32 * PAGE_SIZE) /* one argument, as in Linux */
#define STRINGS_SIZE_MAX MB(6)		 /* all of them */
#define SCRIPTS_MAX 5			 /* scripts whose interpreter is a script ... */
#define STACK_INITIAL KB(128)
#define STACK_GAP_MIN MB(128) /* kept free for the stack below its top */
#define STACK_RANDOM_BITS 22  /* pages */
#define MMAP_RANDOM_BITS 28

u64 random_pages(unsigned bits)
{
	static int fixed = -1;

	if (fixed < 0)
		fixed = cmdline_flag("icount") || cmdline_flag("norandmaps");
	return fixed ? 0 : (random_u64() & ((1ULL << bits) - 1)) * PAGE_SIZE;
}

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

/* Open @name as program->file and read its beginning. */
static int open_program(struct program *program, const char *name)
{
	struct file *file = exec_open(name);
	ssize_t n;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	program->file = file;
	n = kernel_read(file, program->header, EXEC_HEADER, 0);
	if (n < 0)
		return (int)n;
	memset(program->header + n, 0, sizeof(program->header) - (size_t)n);
	return 0;
}

/* ---- the new address space and the strings on its stack -------------------------------------- */

static int make_stack(struct program *program)
{
	u64 limit = process_limit(RLIMIT_STACK), strings, top;
	struct mm *mm = mm_create();
	s64 result;

	if (!mm)
		return -ENOMEM;
	program->mm = mm;
	program->window_page = mm->code_start = mm->data_start = ~0ULL;
	top = USER_TOP - random_pages(STACK_RANDOM_BITS);
	mm->stack_top = top;
	mm->mmap_top = top - page_up(max(min(limit, (u64)GB(64)), (u64)STACK_GAP_MIN)) -
		       random_pages(MMAP_RANDOM_BITS);
	strings = max(min(limit / 4, STRINGS_SIZE_MAX), (u64)STRING_SIZE_MAX);
	program->sp = top - 8;
	program->lowest = program->sp - strings;
	result = mm_map(mm, top - STACK_INITIAL, STACK_INITIAL, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN | MAP_STACK, NULL,
			0);
	return result < 0 ? (int)result : 0;
}

u8 *program_byte(struct program *program, u64 address)
{
	u64 page = page_down(address);
	pte_t *slot;

	if (page != program->window_page) {
		do {
			if (mm_fault(program->mm, address, FAULT_WRITE))
				return NULL;
			slot = mmu_slot(&program->mm->mmu, address, false);
		} while (!slot || !pte_present(*slot) || !pte_write(*slot));
		program->window = phys_to_virt(pte_page(*slot));
		program->window_page = page;
	}
	return program->window + (address - page);
}

/* Bytes of a string of the program's with its NUL, or -EFAULT; too long ones are cut. */
static s64 user_length(const char *string)
{
	char chunk[256];
	s64 length = 0, n;

	do {
		n = strncpy_from_user(chunk, string + length, sizeof(chunk));
		if (n < 0)
			return n;
		length += n;
	} while (n == sizeof(chunk) && length <= (s64)STRING_SIZE_MAX);
	return length + 1;
}

static int push_string(struct program *program, const char *from, bool kernel)
{
	s64 n = kernel ? (s64)strlen(from) + 1 : user_length(from), piece;
	u8 *byte;

	if (n < 0)
		return (int)n;
	if (n > (s64)STRING_SIZE_MAX || (u64)n > program->sp - program->lowest)
		return -E2BIG;
	program->sp -= (u64)n;
	for (u64 to = program->sp; n; to += (u64)piece, from += piece, n -= piece) {
		piece = min(n, (s64)(PAGE_SIZE - to % PAGE_SIZE));
		byte = program_byte(program, to);
		if (!byte)
			return -E2BIG; /* out of memory, or of RLIMIT_STACK */
		if (kernel)
			memcpy(byte, from, (size_t)piece);
		else if (copy_from_user(byte, from, (size_t)piece))
			return -EFAULT;
		if (piece == n)
			byte[n - 1] = 0; /* whatever another thread has made of it meanwhile */
	}
	return 0;
}

static int array_element(const struct program *program, const u64 *array, u64 i, u64 *pointer)
{
	if (!program->from_kernel)
		return get_user(*pointer, array + i);
	*pointer = array[i];
	return 0;
}

/* The strings of an array of pointers, the last one first. */
static int push_array(struct program *program, const u64 *array, unsigned *count)
{
	u64 pointer = 0;
	int error = 0;

	*count = 0;
	while (array && !(error = array_element(program, array, *count, &pointer)) && pointer) {
		++*count;
		program->lowest += sizeof(pointer); /* which will have to be there as well */
		if (program->lowest >= program->sp)
			return -E2BIG;
		cond_resched();
	}
	for (u64 i = *count; !error && i-- > 0;) {
		error = array_element(program, array, i, &pointer);
		if (!error)
			error = push_string(program, (const char *)pointer, program->from_kernel);
		if (!error && fatal_signal_pending(current))
			error = -EINTR;
	}
	return error;
}

static int push_strings(struct program *program, const u64 *argv, const u64 *envp)
{
	int error = push_string(program, program->name, true);

	program->env_end = program->sp;
	if (!error)
		error = push_array(program, envp, &program->envc);
	program->env_start = program->sp;
	if (!error)
		error = push_array(program, argv, &program->argc);
	if (error || program->argc)
		return error;
	program->argc = 1; /* an empty argv[0], as Linux has it since 5.18 */
	return push_string(program, "", true);
}

/* ---- scripts --------------------------------------------------------------------------------- */

static char *skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/*
 * "#!interpreter argument" in program->header. *argument is NULL if there is none. -ENOEXEC: no
 * interpreter, or the end of its name is beyond what was read.
 */
static int parse_script(char *header, char **interpreter, char **argument)
{
	char *end = strchr(header, '\n'), *at;
	bool truncated = !end && header[EXEC_HEADER - 1];

	if (!end)
		end = header + strlen(header);
	while (end > header + 2 && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	*interpreter = at = skip_blanks(header + 2);
	while (*at && *at != ' ' && *at != '\t')
		at++;
	if (at == *interpreter || (truncated && !*at))
		return -ENOEXEC;
	*argument = *at ? skip_blanks(at + 1) : NULL;
	*at = 0;
	return 0;
}

/* argv[0] gives way to: the interpreter, its argument if there is one, the script's own name. */
static int follow_scripts(struct program *program)
{
	char name[EXEC_HEADER + 8], *interpreter, *argument;
	const char *script = program->name;
	int error = 0;

	for (unsigned depth = 0; !error && !strncmp(program->header, "#!", 2); depth++) {
		if (depth == SCRIPTS_MAX)
			return -ELOOP;
		error = parse_script(program->header, &interpreter, &argument);
		if (error)
			return error;
		while (*program_byte(program, program->sp++))
			;
		error = push_string(program, script, true);
		if (!error && argument)
			error = push_string(program, argument, true);
		if (!error)
			error = push_string(program, interpreter, true);
		program->argc += argument ? 2 : 1;
		strlcpy(name, interpreter, sizeof(name));
		script = name;
		fput(program->file);
		program->file = NULL;
		if (!error)
			error = open_program(program, name);
	}
	return error;
}

/* ---- credentials ----------------------------------------------------------------------------- */

static int prepare_credentials(struct program *program)
{
	const struct path *path = &program->file->path;
	const struct inode *inode = program->file->inode;
	const struct cred *old = current->cred;
	bool set_uid = inode->mode & S_ISUID;
	bool set_gid = (inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
	struct cred *new = prepare_cred();

	if (!new)
		return -ENOMEM;
	if (((path->mount->flags | path->mount->sb->flags) & SB_NOSUID) ||
	    current->process->no_new_privileges)
		set_uid = set_gid = false;
	if (set_uid)
		new->euid = inode->uid;
	if (set_gid)
		new->egid = inode->gid;
	new->suid = new->fsuid = new->euid;
	new->sgid = new->fsgid = new->egid;
	program->secure = (new->euid != old->uid || new->egid != old->gid);
	program->cred = new;
	return 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The new program's descriptors are its own, whoever shared them with the old one. */
static int unshare_files(void)
{
	struct file_table *old = current->files, *new = file_table_unshare(old);

	if (!new)
		return -ENOMEM;
	if (new == old)
		return 0;
	spin_lock_irq(&process_lock); /* /proc looks at it */
	current->files = new;
	spin_unlock_irq(&process_lock);
	file_table_put(old);
	return 0;
}

/* All other threads end, and current is the one that has the process's number. -EINTR: we are to
 * end too. */
static int end_other_threads(void)
{
	struct process *process = current->process;
	int error = -EINTR;

	spin_lock_irq(&process_lock);
	if (process->exiting || process->exec_task)
		goto out;
	process->exec_task = current;
	process_end_others(process);
	while (process->thread_count > 1 && !process->exiting) {
		set_current_state(TASK_KILLABLE);
		spin_unlock_irq(&process_lock);
		schedule();
		spin_lock_irq(&process_lock);
	}
	__set_current_state(TASK_RUNNING);
	process->exec_task = NULL;
	if (process->exiting)
		goto out;
	current->pid = process->pid;
	error = 0;
out:
	spin_unlock_irq(&process_lock);
	return error;
}

static int prepare(struct program *program, const u64 *argv, const u64 *envp)
{
	int error = open_program(program, program->name);

	if (!error)
		error = make_stack(program);
	if (!error)
		error = push_strings(program, argv, envp);
	if (!error)
		error = follow_scripts(program);
	if (!error) {
		program->mm->arg_start = program->sp;
		error = elf_load(program, program->file, false);
	}
	if (!error)
		error = prepare_credentials(program);
	if (!error)
		error = unshare_files();
	if (!error && current->process->thread_count > 1)
		error = end_other_threads();
	return error;
}

/* The point of no return: the old program goes away. */
static void begin_new_program(struct program *program)
{
	struct task *task = current;
	struct process *process = task->process;
	struct mm *old = task->mm, *new = program->mm;
	const char *name = program->name, *slash;
	/* Who may not read the program may not look into its memory either. */
	bool secret = program->secure || inode_permission(program->file->inode, MAY_READ);

	futex_end_thread();
	new->exe = program->file;
	spin_lock_irq(&process_lock); /* /proc looks at other tasks' mm under it */
	task->mm = new;
	process->did_exec = true;
	process->exit_signal = SIGCHLD;
	if (program->secure)
		process->parent_death_signal = 0;
	spin_unlock_irq(&process_lock);
	mmu_switch(&new->mmu);
	task->clear_child_tid = NULL;
	task->robust_list = 0;
	if (old)
		mm_put(old);
	vfork_done(process);
	signals_exec();
	file_table_exec(task->files);
	task_set_cred(program->cred);
	process->not_dumpable = secret;
	while ((slash = strchr(name, '/')) != NULL)
		name = slash + 1;
	strlcpy(task->comm, name, sizeof(task->comm));
}

static unsigned fill_auxiliary(const struct program *program, u64 random, u64 platform)
{
	const struct cred *cred = current->cred;
	const u64 pairs[] = {
		51, arch_signal_stack_size(), /* AT_MINSIGSTKSZ */
		16, arch_hwcap, /* AT_HWCAP */
		6, PAGE_SIZE, /* AT_PAGESZ */
		17, 100, /* AT_CLKTCK */
		3, program->phdr, /* AT_PHDR */
		4, sizeof(struct elf_segment), /* AT_PHENT */
		5, program->phnum, /* AT_PHNUM */
		7, program->base, /* AT_BASE */
		8, 0, /* AT_FLAGS */
		9, program->entry, /* AT_ENTRY */
		11, cred->uid, /* AT_UID */
		12, cred->euid, /* AT_EUID */
		13, cred->gid, /* AT_GID */
		14, cred->egid, /* AT_EGID */
		23, program->secure, /* AT_SECURE */
		25, random, /* AT_RANDOM */
		26, 0, /* AT_HWCAP2 */
		31, program->env_end, /* AT_EXECFN */
		15, platform, /* AT_PLATFORM */
		0, 0, /* AT_NULL */
	};

	_Static_assert(sizeof(pairs) <= sizeof(((struct mm *)0)->auxv), "mm->auxv is too small");
	memcpy(program->mm->auxv, pairs, sizeof(pairs));
	return ARRAY_SIZE(pairs);
}

/* Pointers to @count strings that begin at *string. */
static int put_pointers(u64 *string, unsigned count, u64 **at)
{
	s64 length;

	for (; count; count--, *string += (u64)length) {
		length = user_length((const char *)*string);
		if (length < 0 || put_user(*string, *at))
			return -EFAULT;
		++*at;
	}
	return put_user(0ULL, (*at)++);
}

/* What lies below the strings, on the stack that is current's by now. */
static int finish_stack(struct program *program)
{
	struct mm *mm = program->mm;
	u64 platform = mm->arg_start - sizeof(ARCH_PLATFORM), random, string = mm->arg_start, *at;
	u8 seed[16];
	unsigned words;

	random = round_down(platform - sizeof(seed), 16ULL);
	get_random_bytes(seed, sizeof(seed));
	mm->arg_end = mm->env_start = program->env_start;
	mm->env_end = program->env_end;
	words = fill_auxiliary(program, random, platform);
	at = (u64 *)random - (words + program->argc + program->envc + 3);
	at = (u64 *)round_down((u64)at, 16ULL);
	program->sp = (u64)at;
	if (copy_to_user((void *)platform, ARCH_PLATFORM, sizeof(ARCH_PLATFORM)) ||
	    copy_to_user((void *)random, seed, sizeof(seed)) ||
	    put_user((u64)program->argc, at++) || put_pointers(&string, program->argc, &at) ||
	    put_pointers(&string, program->envc, &at) ||
	    copy_to_user(at, mm->auxv, words * sizeof(u64)))
		return -EFAULT;
	return 0;
}

static s64 execute(struct program *program, const u64 *argv, const u64 *envp)
{
	u64 start, sp;
	int error = prepare(program, argv, envp);

	if (error) {
		if (program->file)
			fput(program->file);
		if (program->mm)
			mm_put(program->mm);
		if (program->cred)
			put_cred(program->cred);
		kfree(program);
		return error;
	}
	begin_new_program(program);
	error = finish_stack(program);
	start = program->start;
	sp = program->sp;
	kfree(program);
	if (error)
		process_exit_group(SIGSEGV);
	arch_enter_user(start, sp);
}

s64 sys_execve(const char *name, const u64 *argv, const u64 *envp)
{
	struct program *program = kzalloc(sizeof(*program), GFP_KERNEL);
	s64 length;

	if (!program)
		return -ENOMEM;
	length = strncpy_from_user(program->name, name, PATH_MAX);
	if (length > 0 && length < PATH_MAX)
		return execute(program, argv, envp);
	kfree(program);
	return length < 0 ? length : length == 0 ? -ENOENT : -ENAMETOOLONG;
}

s64 kernel_exec(const char *name, const char *const *argv, const char *const *envp)
{
	struct program *program = kzalloc(sizeof(*program), GFP_KERNEL);

	if (!program)
		return -ENOMEM;
	strlcpy(program->name, name, PATH_MAX);
	program->from_kernel = true;
	return execute(program, (const u64 *)argv, (const u64 *)envp);
}
