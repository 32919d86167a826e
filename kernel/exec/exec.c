/*
 * exec.c - execve(2): the file, its scripts' interpreters, the arguments, the new program's stack.
 * elf.c maps the program.
 *
 * Steps: open and check the file; copy the argument strings onto the stack of a new address space;
 * follow "#!" lines; map the program; then - the point of no return, begin_new_program() - make
 * that address space current's, close what is to be closed, write the pointers below the strings
 * and enter. Until then the old program is untouched and any error is the call's errno; after it an
 * error ends the process.
 *
 * The stack, from the top: 8 zero bytes, the file name, the environment's strings, the arguments'
 * strings, the platform's name, 16 random bytes; then aligned to 16 the auxiliary vector,
 * environment and argument pointers, and argc at the stack pointer.
 */
#include <arch/elf.h>
#include <arch/signal.h>

#include "fs/direct_hooks.h"
#include "fs/inode/attributes.h"
#include "fs/inode/permission.h"
#include "fs/path/namei.h"
#include "kernel/proc/process.h"
#include "kernel/exec/program.h"
#include "mm/space/swap_hooks.h"

#define STRING_SIZE_MAX (32 * PAGE_SIZE) /* one argument, as in Linux */
#define STRINGS_SIZE_MAX MB(6)		 /* all of them */
#define SCRIPTS_MAX 5			 /* scripts whose interpreter is a script ... */
#define STACK_INITIAL KB(128)
#define STACK_GAP_MIN MB(128) /* kept free for the stack below its top */
#define STACK_RANDOM_BITS 22  /* pages */
#define MMAP_RANDOM_BITS 28

u64 random_pages(const struct program *program, unsigned bits)
{
	static int fixed = -1;

	if (fixed < 0)
		fixed = cmdline_flag("icount") || cmdline_flag("norandmaps");
	if (fixed || (current->process->personality & ADDR_NO_RANDOMIZE &&
		      !(program->file->inode->mode & (S_ISUID | S_ISGID))))
		return 0;
	return (random_u64() & ((1ULL << bits) - 1)) * PAGE_SIZE;
}

/* ---- the file -------------------------------------------------------------------------------- */

int exec_open_path(struct path *path, struct file **to)
{
	struct inode *inode = path->dentry->inode;

	if (!S_ISREG(inode->mode) || ((path->mount->flags | path->mount->sb->flags) & SB_NOEXEC))
		return -EACCES;
	TRY(inode_permission(inode, MAY_EXEC));

	struct file *file = *to = TRY_PTR(file_open_path(path, O_RDONLY | O_LARGEFILE));

	TRY(deny_write_access(inode));
	file->mode |= FMODE_EXEC; /* fput() allows writing again */
	return 0;
}

int exec_open(const char *name, struct file **to)
{
	struct path path __free(path) = {0};

	TRY(kern_path(name, LOOKUP_FOLLOW, &path));
	return exec_open_path(&path, to);
}

static int read_header(struct program *program)
{
	ssize_t n = TRY(kernel_read(program->file, program->header, EXEC_HEADER, 0));

	memset(program->header + n, 0, sizeof(program->header) - (size_t)n);
	return 0;
}

int read_exactly(struct file *file, void *buffer, size_t n, u64 offset)
{
	ssize_t got = TRY(kernel_read(file, buffer, n, (loff_t)offset));

	return (size_t)got == n ? 0 : -ENOEXEC;
}

/* ---- the new address space and the strings on its stack -------------------------------------- */

static int make_stack(struct program *program)
{
	struct mm *mm = program->mm = TRY_PTR(mm_create());
	u64 limit = current_limit(RLIMIT_STACK);
	u64 top = USER_TOP - random_pages(program, STACK_RANDOM_BITS);

	mm->stack_top = top;
	mm->mmap_top = top - page_up(max(min(limit, (u64)GB(64)), (u64)STACK_GAP_MIN)) -
		       random_pages(program, MMAP_RANDOM_BITS);
	program->sp = top - 8;
	program->lowest = program->sp - max(min(limit / 4, STRINGS_SIZE_MAX), (u64)STRING_SIZE_MAX);
	TRY(mm_map(mm, top - STACK_INITIAL, STACK_INITIAL, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, NULL, 0));
	return 0;
}

u8 *program_byte(struct program *program, u64 address)
{
	const pte_t *slot;

	for (;;) {
		spin_lock(&program->mm->page_table_lock);
		slot = mmu_slot(&program->mm->mmu, address, MMU_FIND);
		spin_unlock(&program->mm->page_table_lock);
		if (slot && pte_present(*slot) && pte_write(*slot))
			break;
		if (mm_fault(program->mm, address, FAULT_WRITE))
			return NULL;
	}
	return (u8 *)phys_to_virt(pte_page(*slot)) + address % PAGE_SIZE;
}

/* Bytes of a program's string with its NUL, or -EFAULT; too long ones are cut. Inline: most of the
 * time of exec(2) that does not depend on the program goes to its strings. */
static __always_inline s64 user_length(const char *string)
{
	char chunk[256];
	s64 length = 0, n;

	do {
		n = TRY(strncpy_from_user(chunk, string + length, sizeof(chunk)));
		length += n;
	} while (n == sizeof(chunk) && length <= (s64)STRING_SIZE_MAX);
	return length + 1;
}

enum string_source { FROM_USER, FROM_KERNEL };

static int push_string(struct program *program, const char *from, enum string_source source)
{
	u64 n = source == FROM_KERNEL ? strlen(from) + 1 : (u64)TRY(user_length(from)), piece;

	if (n > STRING_SIZE_MAX || n > program->sp - program->lowest)
		return -E2BIG;
	program->sp -= n;
	for (u64 to = program->sp; n; to += piece, from += piece, n -= piece) {
		u8 *byte = program_byte(program, to);

		piece = min(n, PAGE_SIZE - to % PAGE_SIZE);
		if (!byte)
			return -E2BIG; /* out of memory, or of RLIMIT_STACK */
		if (source == FROM_KERNEL)
			memcpy(byte, from, piece);
		else if (copy_from_user(byte, from, piece))
			return -EFAULT;
		if (piece == n)
			byte[n - 1] = 0; /* whatever another thread has made of it meanwhile */
	}
	return 0;
}

static int array_element(const u64 *array, u64 i, u64 *pointer)
{
	if (current->mm)
		return get_user(*pointer, array + i);
	*pointer = array[i];
	return 0;
}

/* The strings of an array of pointers, the last one first. */
static int push_array(struct program *program, const u64 *array, u64 *count)
{
	enum string_source source = current->mm ? FROM_USER : FROM_KERNEL;
	u64 pointer = 0;

	for (; array; ++*count) {
		TRY(array_element(array, *count, &pointer));
		if (!pointer)
			break;
		program->lowest += sizeof(pointer); /* which will have to be there as well */
		if (program->lowest >= program->sp)
			return -E2BIG;
	}
	for (u64 i = *count; i-- > 0; cond_resched()) {
		TRY(array_element(array, i, &pointer));
		TRY(push_string(program, (const char *)pointer, source));
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static int push_strings(struct program *program, const u64 *argv, const u64 *envp)
{
	TRY(push_string(program, program->name, FROM_KERNEL));
	program->mm->env_end = program->sp;
	TRY(push_array(program, envp, &program->envc));
	program->mm->arg_end = program->mm->env_start = program->sp;
	TRY(push_array(program, argv, &program->argc));
	if (program->argc)
		return 0;
	program->argc = 1; /* an empty argv[0], as Linux has it since 5.18 */
	return push_string(program, "", FROM_KERNEL);
}

/* ---- scripts --------------------------------------------------------------------------------- */

/* The first character from @at on that is such a one; or the end. */
enum character { BLANK, NO_BLANK };
static char *find(char *at, enum character sought)
{
	while (*at && (*at == ' ' || *at == '\t') != (sought == BLANK))
		at++;
	return at;
}

/* While the program is a script "#!interpreter argument": argv[0] gives way to the interpreter, its
 * argument if there is one, the script's own name. -ENOEXEC: no interpreter, or the end of its name
 * is beyond what was read. */
static int follow_scripts(struct program *program)
{
	char *header = program->header, script[EXEC_HEADER + 8];

	for (unsigned depth = 0; !strncmp(header, "#!", 2); depth++) {
		char *end = strchr(header, '\n'), *interpreter, *argument = NULL;
		bool truncated = !end && header[EXEC_HEADER - 1];

		if (depth == SCRIPTS_MAX)
			return -ELOOP;
		if (program->name_closes)
			return -ENOENT;
		if (!end)
			end = header + strlen(header);
		while (end > header + 2 && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = 0;
		interpreter = find(header + 2, NO_BLANK);
		end = find(interpreter, BLANK);
		if (end == interpreter || (truncated && !*end))
			return -ENOEXEC;
		if (*end)
			argument = find(end, NO_BLANK);
		*end = 0;
		while (*TRY_PTR(program_byte(program, program->sp++)))
			;
		TRY(push_string(program, depth ? script : program->name, FROM_KERNEL));
		if (argument)
			TRY(push_string(program, argument, FROM_KERNEL));
		TRY(push_string(program, interpreter, FROM_KERNEL));
		program->argc += argument ? 2 : 1;
		strlcpy(script, interpreter, sizeof(script));
		fput(program->file);
		program->file = NULL;
		TRY(exec_open(script, &program->file));
		TRY(read_header(program));
	}
	return 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

static int prepare_credentials(struct program *program)
{
	const struct cred *old = current->cred;
	struct cred *new = TRY_PTR(prepare_cred());

	cred_of_program(new, &program->file->path);
	program->secure = new->euid != old->uid || new->egid != old->gid;
	program->cred = cred_or_equal(new);
	return 0;
}

/* All other threads end, and current is the one that has the process's number. -EINTR: we are to
 * end too. */
static int end_other_threads(void)
{
	struct process *process = current->process;

	guard(spinlock_irq, &process_lock);
	if (process->exiting || process->exec_task)
		return -EINTR;
	process->exec_task = current;
	signal_end_threads(process, current);
	while (process->thread_count > 1 && !process->exiting) {
		set_current_state(TASK_KILLABLE);
		spin_unlock_irq(&process_lock);
		schedule();
		spin_lock_irq(&process_lock);
	}
	process->exec_task = NULL;
	if (process->exiting)
		return -EINTR;
	current->pid = process->pid;
	return 0;
}

/* All but to open program->file. */
static int prepare(struct program *program, const u64 *argv, const u64 *envp)
{
	TRY(read_header(program));
	TRY(make_stack(program));
	TRY(push_strings(program, argv, envp));
	TRY(follow_scripts(program));
	program->mm->arg_start = program->sp;
	TRY(load_program(program));
	TRY(prepare_credentials(program));
	return end_other_threads();
}

/* The point of no return: the old program goes away. */
static void begin_new_program(struct program *program)
{
	struct task *task = current;
	struct process *process = task->process;
	struct mm *old = task->mm, *new = program->mm;
	const struct cred *old_cred = task->cred;
	const char *name = program->name, *slash;
	/* Who may not read the program may not look into its memory either. */
	bool secret = program->secure || inode_permission(program->file->inode, MAY_READ);

	futex_end_thread();
	if (program->secure)
		process->personality = 0;
	new->exe = program->file;
	/* What may be looked at and who may look change at once: /proc decides and takes its
	 * reference to the mm under this lock. */
	spin_lock_irq(&process_lock);
	task->mm = new;
	task->mmu = &new->mmu;
	task->cred = task->real_cred = program->cred;
	process->not_dumpable = secret;
	process->did_exec = true;
	if (process->vforked) /* the parent's memory is its own again */
		wake_up(&process->parent->wait_children);
	process->vforked = false;
	for (u64 left = process->handled; left; left &= left - 1) {
		struct signal_action *action = &process->actions[__builtin_ctzll(left)];

		if (action->handler == SIG_IGN)
			*action = (struct signal_action){.handler = SIG_IGN};
		else /* a handler was the old one's */
			process->handled &= ~(left & -left);
	}
	task->signals->stack = (struct signal_stack){.flags = SS_DISABLE};
	spin_unlock_irq(&process_lock);
	mmu_switch(&new->mmu);
	swap_mm_add(new);
	if (old)
		mm_put(old);
	put_cred(old_cred);
	file_table_exec(task->files);
	while ((slash = strchr(name, '/')) != NULL)
		name = slash + 1;
	strlcpy(task->comm, name, sizeof(task->comm));
}

/* Pointers to @count strings that begin at *string. */
static int put_pointers(u64 *string, u64 count, u64 **at)
{
	for (; count; count--, cond_resched()) {
		s64 length = TRY(user_length((const char *)*string));

		TRY(put_user(*string, (*at)++));
		*string += (u64)length;
	}
	return put_user(0ULL, (*at)++);
}

/* What lies below the strings, on the stack that is current's by now. */
static int finish_stack(struct program *program)
{
	struct mm *mm = program->mm;
	const struct cred *cred = current->cred;
	const struct {
		u64 seed[2];
		char platform[16];
	} below = {{random_u64(), random_u64()}, ARCH_PLATFORM};
	u64 string = mm->arg_start, random = round_down(string - sizeof(below), 16ULL);
	const u64 auxiliary[] = {
		51, ARCH_SIGNAL_STACK_SIZE, /* AT_MINSIGSTKSZ */
		16, arch_hwcap(), /* AT_HWCAP */
		6, PAGE_SIZE, /* AT_PAGESZ */
		17, 100, /* AT_CLKTCK */
		3, program->phdr, /* AT_PHDR */
		4, ELF_SEGMENT_SIZE, /* AT_PHENT */
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
		31, mm->env_end, /* AT_EXECFN */
		15, random + sizeof(below.seed), /* AT_PLATFORM */
		0, 0, /* AT_NULL */
	};
	u64 words = ARRAY_SIZE(auxiliary) + program->argc + program->envc + 3;
	u64 *at = (u64 *)round_down(random - words * sizeof(u64), 16ULL);

	program->sp = (u64)at;
	TRY(put_user(program->argc, at++));
	TRY(put_pointers(&string, program->argc, &at));
	TRY(put_pointers(&string, program->envc, &at));
	TRY(write_user((void *)random, &below, sizeof(below)));
	return write_user(at, auxiliary, sizeof(auxiliary));
}

void program_free(struct program **at)
{
	struct program *program = *at;

	if (program->file)
		fput(program->file);
	if (program->mm)
		mm_put(program->mm);
	if (program->cred)
		put_cred(program->cred);
	kfree(program);
}

s64 program_run(struct program *program, const u64 *argv, const u64 *envp)
{
	TRY(prepare(program, argv, envp));
	begin_new_program(program);

	int error = finish_stack(program);
	u64 start = program->start, sp = program->sp;

	kfree(program); /* what is in it is the task's by now */
	if (error)
		process_exit_group(SIGSEGV);
	arch_enter_user(start, sp);
}

s64 sys_execve(const char *name, const u64 *argv, const u64 *envp)
{
	struct program *program __free(program) = TRY_PTR(kzalloc(sizeof(*program), GFP_KERNEL));

	if (current->mm) {
		s64 length = TRY(strncpy_from_user(program->name, name, PATH_MAX));

		if (length == 0 || length == PATH_MAX)
			return length ? -ENAMETOOLONG : -ENOENT;
	} else {
		strlcpy(program->name, name, PATH_MAX);
	}
	TRY(exec_open(program->name, &program->file));
	return program_run(program, argv, envp);
}
