/*
 * thresholds.c - scenarios at the exact border of a rule of processes: what is left over when a program, a thread or
 * a lock's owner has gone; limits, groups, signals, times.
 */
#include "../scenarios.h"

#include <elf.h>
#include <stddef.h>

enum { FUTEX_WAIT, FUTEX_REQUEUE = 3 };
#define FUTEX_WAITERS 0x80000000u

/* ---- robust locks ----------------------------------------------------------------------------- */

struct lock {
	void *link;
	unsigned word, others;
};

/* In a child that holds @locks and ends: the list is its own, the locks are shared. */
static void hold_and_end(struct lock *locks, int count, struct lock *pending)
{
	static struct {
		void *next;
		long offset;
		void *pending;
	} head;

	head.next = &head;
	head.offset = offsetof(struct lock, word);
	head.pending = pending ? &pending->link : NULL;
	for (int i = count; i--;) {
		locks[i].link = head.next;
		head.next = &locks[i].link;
	}
	syscall(SYS_set_robust_list, &head, sizeof(head));
	_exit(0);
}

SCENARIO(robust_words_of_a_dead_owner)
{
	struct lock *locks = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned *stays = &locks[3].others; /* the waiter's proof */
	int status;
	pid_t waiter, owner;

	owner = fork();
	if (!owner) {
		unsigned me = (unsigned)getpid();

		locks[0].word = me;
		locks[1].word = me | FUTEX_WAITERS;
		locks[2].word = me + 1;
		locks[3].word = me | FUTEX_WAITERS;
		waiter = fork();
		if (!waiter) {
			*stays = 1 + !syscall(SYS_futex, &locks[3].word, FUTEX_WAIT, me | FUTEX_WAITERS, NULL, NULL, 0);
			_exit(0);
		}
		/* until it waits: requeueing from here to here only counts */
		while (syscall(SYS_futex, &locks[3].word, FUTEX_REQUEUE, 0, 1, &locks[3].word, 0) != 1)
			;
		hold_and_end(locks, 3, &locks[3]);
	}
	T(waitpid(owner, &status, 0) == owner);
	while (!__atomic_load_n(stays, __ATOMIC_ACQUIRE))
		usleep(1000);
	say("%u", *stays);
	say("%x %x", locks[0].word, locks[1].word);
	say("%d", locks[2].word == (unsigned)owner + 1);
	say("%x", locks[3].word);
	/* one that was free already when its owner ended in the middle of freeing it */
	memset(locks, 0, sizeof(*locks) * 4);
	owner = fork();
	if (!owner) {
		waiter = fork();
		if (!waiter) {
			*stays = 1 + !syscall(SYS_futex, &locks[2].word, FUTEX_WAIT, 0, NULL, NULL, 0);
			_exit(0);
		}
		while (syscall(SYS_futex, &locks[2].word, FUTEX_REQUEUE, 0, 1, &locks[2].word, 0) != 1)
			;
		hold_and_end(locks, 0, &locks[2]);
	}
	T(waitpid(owner, &status, 0) == owner);
	while (!__atomic_load_n(stays, __ATOMIC_ACQUIRE))
		usleep(1000);
	say("%u %x", *stays, locks[2].word);
}

/* ---- what a new program does not inherit ------------------------------------------------------ */

/* A program without a library: maps descriptor 20 at 0x10000000, shared; makes a process that shares
 * its memory and waits for the end of descriptor 21; ends. */
extern const char tiny_code[], tiny_end[];
__asm__(".pushsection .rodata\n"
	"tiny_code:\n"
	"	mov $9, %eax\n	mov $0x10000000, %edi\n	mov $4096, %esi\n	mov $3, %edx\n"
	"	mov $0x11, %r10d\n	mov $20, %r8d\n	xor %r9d, %r9d\n	syscall\n" /* mmap */
	"	mov $56, %eax\n	mov $0x111, %edi\n	lea -256(%rsp), %rsi\n	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n	xor %r8d, %r8d\n	syscall\n" /* clone: CLONE_VM, SIGCHLD */
	"	test %eax, %eax\n	jnz 1f\n"
	"	mov $21, %edi\n	mov %rsp, %rsi\n	mov $1, %edx\n	syscall\n" /* read */
	"1:	mov $60, %eax\n	xor %edi, %edi\n	syscall\n" /* exit */
	"tiny_end:\n"
	".popsection\n");

static void make_tiny_program(const char *name)
{
	const unsigned long base = 0x400000;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		char code[256];
	} image = {
		.header = {
			.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
			.e_entry = base + offsetof(typeof(image), code), .e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = base, .p_paddr = base,
			.p_filesz = sizeof(image), .p_memsz = sizeof(image), .p_align = 4096,
		},
	};
	int fd = open(name, O_CREAT | O_WRONLY, 0755);

	memcpy(image.code, tiny_code, (size_t)(tiny_end - tiny_code));
	write(fd, &image, sizeof(image));
	close(fd);
}

SCENARIO(exec_forgets_where_to_tell_of_the_threads_end)
{
	int ends[2], fd, status;
	pid_t child;

	make_tiny_program("tiny");
	make_file("f", "stays");
	fd = open("f", O_RDWR);
	pipe(ends);
	child = fork();
	if (!child) {
		dup2(fd, 20);
		dup2(ends[0], 21);
		close(ends[1]);
		syscall(SYS_set_tid_address, 0x10000000L);
		execl("tiny", "tiny", NULL);
		_exit(1);
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
	slurp("f");
	close(ends[1]);
}

/* ---- limits, niceness, groups ------------------------------------------------------------------ */

static long nice_of(int which, int who)
{
	return syscall(SYS_getpriority, which, who); /* 1 .. 40 */
}

SCENARIO(niceness)
{
	T(nice_of(PRIO_PROCESS, 0));
	T(setpriority(PRIO_PROCESS, 0, 19));
	T(nice_of(PRIO_PROCESS, 0));
	T(setpriority(PRIO_PROCESS, 0, 20));
	T(nice_of(PRIO_PROCESS, getpid()));
	T(setpriority(PRIO_PROCESS, 0, -20));
	T(nice_of(PRIO_PROCESS, 0));
	T(setpriority(PRIO_PROCESS, 0, -21));
	T(nice_of(PRIO_PROCESS, 0));
	T(setpriority(PRIO_PROCESS, 0, 5));
	T(setpriority(77, 0, 5));
	T(nice_of(77, 0));
	T(setpriority(PRIO_PROCESS, 1 << 30, 5));
	T(nice_of(PRIO_PROCESS, 1 << 30));
	AS(USER_A)
	{
		T(nice_of(PRIO_PROCESS, 0));
		T(setpriority(PRIO_PROCESS, 0, 5));
		T(setpriority(PRIO_PROCESS, 0, 6));
		T(setpriority(PRIO_PROCESS, 0, 5));
		T(setpriority(PRIO_PROCESS, getppid(), 7));
		T(nice_of(PRIO_PROCESS, getppid()));
	}
}

SCENARIO(limits_may_go_down)
{
	struct rlimit limit = {10, 20};

	T(setrlimit(RLIMIT_CORE, &limit));
	AS(USER_A)
	{
		limit = (struct rlimit){20, 20};
		T(setrlimit(RLIMIT_CORE, &limit));
		limit = (struct rlimit){21, 20};
		T(setrlimit(RLIMIT_CORE, &limit));
		limit = (struct rlimit){20, 21};
		T(setrlimit(RLIMIT_CORE, &limit));
		limit = (struct rlimit){0, 19};
		T(setrlimit(RLIMIT_CORE, &limit));
		limit = (struct rlimit){0, 20};
		T(setrlimit(RLIMIT_CORE, &limit));
		T(getrlimit(RLIMIT_CORE, &limit));
		say("%ld %ld", (long)limit.rlim_cur, (long)limit.rlim_max);
		T(prlimit(getppid(), RLIMIT_CORE, NULL, &limit));
		T(syscall(SYS_prlimit64, 0, 16, NULL, &limit));
		T(syscall(SYS_prlimit64, 0, 15, NULL, &limit));
		T(syscall(SYS_prlimit64, 0, RLIMIT_CORE, (void *)8, NULL));
		T(syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, (void *)8));
	}
	T(getrlimit(RLIMIT_CORE, &limit));
	say("%ld %ld", (long)limit.rlim_cur, (long)limit.rlim_max);
}

SCENARIO(groups_given_and_asked)
{
	gid_t groups[3] = {5, 6, 7}, found[4] = {0, 0, 0, 99};

	T(setgroups(3, groups));
	T(getgroups(0, found));
	T(getgroups(2, found));
	T(getgroups(3, found));
	say("%u %u %u %u", found[0], found[1], found[2], found[3]);
	T(getgroups(-1, found));
	T(syscall(SYS_getgroups, 3, (void *)8));
	T(syscall(SYS_setgroups, 3, (void *)8));
	T(syscall(SYS_setgroups, -1, groups));
	T(getgroups(4, found));
	T(setgroups(0, NULL));
	T(getgroups(0, NULL));
	AS(USER_A)
	{
		T(setgroups(1, groups));
		T(setgroups(0, NULL));
	}
}

/* ---- signals and times ------------------------------------------------------------------------- */

static long action(int number, const struct sigaction *given, size_t size)
{
	char kernel[32] = {0}; /* the default */

	return syscall(SYS_rt_sigaction, number, given ? kernel : NULL, NULL, size);
}

SCENARIO(signal_numbers)
{
	struct sigaction plain = {0};
	unsigned long set = 0;
	static char small[2048]; /* as small as it may be */
	stack_t stack = {.ss_sp = small, .ss_size = sizeof(small)};

	T(action(1, &plain, 8));
	T(action(64, &plain, 8));
	T(action(65, &plain, 8));
	T(action(0, &plain, 8));
	T(action(SIGKILL, &plain, 8));
	T(action(SIGSTOP, &plain, 8));
	T(action(SIGKILL, NULL, 8));
	T(action(1, &plain, 4));
	T(kill(getpid(), 0));
	T(kill(getpid(), 65));
	T(kill(getpid(), -1));
	T(kill(1 << 30, 0));
	T(syscall(SYS_tgkill, getpid(), getpid(), 0));
	T(syscall(SYS_tgkill, 1, getpid(), 0));
	T(syscall(SYS_tgkill, getpid(), 0, 0));
	T(syscall(SYS_tkill, -1, 0));
	T(syscall(SYS_rt_sigprocmask, 3, &set, NULL, 8));
	T(syscall(SYS_rt_sigprocmask, 2, &set, NULL, 8));
	T(syscall(SYS_rt_sigprocmask, 3, NULL, NULL, 8));
	T(syscall(SYS_rt_sigprocmask, 2, &set, NULL, 16));
	set = ~0UL;
	T(syscall(SYS_rt_sigprocmask, 2, &set, NULL, 8));
	T(syscall(SYS_rt_sigprocmask, 0, NULL, &set, 8));
	say("%lx", set);
	T(kill(getpid(), SIGUSR1));
	T(kill(getpid(), 64));
	T(syscall(SYS_rt_sigpending, &set, 8));
	say("%lx", set);
	T(syscall(SYS_rt_sigpending, &set, 9));
	stack.ss_flags = 77;
	T(syscall(SYS_sigaltstack, &stack, NULL));
	AS(USER_A)
	{
		T(kill(getppid(), 0));
		T(kill(getpid(), 0));
		T(kill(-(1 << 30), 0));
	}
}

SCENARIO(times_that_are_none)
{
	struct timespec none = {0, 0}, most = {0, 999999999}, more = {0, 1000000000}, before = {-1, 0};
	struct itimerval timer = {{0, 0}, {100, 999999}};
	struct timeval wait = {0, 0};
	sigset_t set;

	T(nanosleep(&none, NULL));
	T(nanosleep(&more, NULL));
	T(nanosleep(&before, NULL));
	T(nanosleep((void *)8, NULL));
	T(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &most, NULL));
	T(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &more, NULL));
	T(clock_nanosleep(77, 0, &none, NULL));
	T(clock_gettime(77, &none));
	T(clock_getres(CLOCK_REALTIME, NULL));
	T(setitimer(ITIMER_REAL, &timer, NULL));
	T(setitimer(ITIMER_REAL, NULL, &timer));
	timer.it_value.tv_usec = 1000000;
	T(setitimer(ITIMER_REAL, &timer, NULL));
	timer.it_value.tv_usec = -1;
	T(setitimer(ITIMER_REAL, &timer, NULL));
	T(setitimer(3, NULL, &timer));
	T(getitimer(3, &timer));
	T(getitimer(ITIMER_PROF, &timer));
	say("%ld", (long)timer.it_value.tv_sec);
	T(alarm(30));
	T(alarm(20) == 30);
	T(alarm(0) == 20);
	T(alarm(10));
	sigemptyset(&set);
	T(sigtimedwait(&set, NULL, &none));
	T(sigtimedwait(&set, NULL, &more));
	T(select(0, NULL, NULL, NULL, &wait));
	wait.tv_usec = -1;
	T(select(0, NULL, NULL, NULL, &wait));
	T(select(-1, NULL, NULL, NULL, NULL));
	T(ppoll(NULL, 0, &none, NULL));
	T(ppoll(NULL, 0, &more, NULL));
}

SCENARIO(children_waited_for)
{
	pid_t child, other;
	int status;

	T(waitpid(-1, &status, 0));
	T(waitpid(-1, &status, 0x100));
	T(waitpid(getpid(), &status, WNOHANG));
	child = fork();
	if (!child)
		_exit(3);
	T(waitpid(-getpgrp(), &status, WUNTRACED) == child);
	say("%x", status);
	T(waitpid(child, &status, 0));
	child = fork();
	if (!child) {
		setpgid(0, 0);
		pause();
	}
	setpgid(child, child);
	other = fork();
	if (!other)
		_exit(4);
	T(waitpid(0, &status, 0) == other);
	say("%x", status);
	T(waitpid(0, &status, WNOHANG));
	T(waitpid(-child, &status, WNOHANG));
	T(kill(child, SIGSTOP));
	T(waitpid(child, &status, WUNTRACED) == child);
	say("%x", status);
	T(waitpid(child, &status, WUNTRACED | WNOHANG));
	T(kill(-child, SIGCONT));
	T(waitpid(child, &status, WCONTINUED) == child);
	say("%x", status);
	T(kill(child, SIGTERM));
	T(waitpid(-1, &status, 0) == child);
	say("%x", status);
}

/* ---- whose priority ----------------------------------------------------------------------------
 */

/* A process with these user ids that waits until it is killed. */
static pid_t waiting_as(uid_t real, uid_t effective)
{
	int ready[2];
	char c;
	pid_t child;

	pipe(ready);
	child = fork();
	if (!child) {
		setresuid(real, effective, effective);
		write(ready[1], "", 1);
		for (;;)
			pause();
	}
	read(ready[0], &c, 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

SCENARIO(priority_of_others)
{
	static const uid_t users[] = {USER_A, USER_B};
	pid_t others[2][2];

	for (int i = 0; i < 4; i++)
		others[i / 2][i % 2] = waiting_as(users[i / 2], users[i % 2]);
	for (int i = 0; i < 4; i++) {
		pid_t child = fork();

		if (child) {
			waitpid(child, NULL, 0);
			continue;
		}
		setresuid(users[i / 2], users[i % 2], users[i % 2]);
		for (int j = 0; j < 4; j++)
			T(setpriority(PRIO_PROCESS, (id_t)others[j / 2][j % 2], 5 + i));
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		kill(others[i / 2][i % 2], SIGKILL);
		waitpid(others[i / 2][i % 2], NULL, 0);
	}
}

/* A timer is set before its old value is told, and whoever waits says no clock. */
SCENARIO(timers_and_stacks_told)
{
	struct itimerval timer = {{0, 0}, {100, 0}}, now;
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	unsigned word = 0;

	T(syscall(SYS_setitimer, ITIMER_REAL, &timer, 8));
	T(getitimer(ITIMER_REAL, &now));
	T(now.it_value.tv_sec >= 99);
	T(alarm(0) >= 99);
	T(alarm(0));
	for (int flags = -1; flags < 5; flags++) {
		stack.ss_flags = flags;
		show("sigaltstack", syscall(SYS_sigaltstack, &stack, NULL));
	}
	T(syscall(SYS_futex, &word, 0x100 /* WAIT, by the time of day */, 1, NULL, NULL, 0));
	T(syscall(SYS_futex, &word, 0x101 /* WAKE */, 1, NULL, NULL, 0));
	T(syscall(SYS_futex, &word, 0x10a /* WAKE_BITSET */, 1, NULL, NULL, -1));
	T(syscall(SYS_futex, &word, 0x103 /* REQUEUE */, 1, 0, &word, 0));
	T(syscall(SYS_futex, &word, 0x109 /* WAIT_BITSET */, 1, NULL, NULL, -1));
}
