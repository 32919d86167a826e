/*
 * signals.c - scenarios of signals: which thread takes them, what they interrupt, on which stack; timers.
 *
 * Nothing here is decided by who is faster: threads meet by joins, pipes and futexes.
 */
#include "../scenarios.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <sys/time.h>

static volatile sig_atomic_t caught, caught_order[8];
static volatile pthread_t caught_in;

static void catch (int signo)
{
	if (caught < 8)
		caught_order[caught] = signo;
	caught++;
	caught_in = pthread_self();
}

static void handle(int signo, int flags)
{
	struct sigaction action = {.sa_handler = catch, .sa_flags = flags};

	sigaction(signo, &action, NULL);
	caught = 0;
}

static void *take_signal(void *ready)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	write(*(int *)ready, "x", 1);
	while (!caught)
		pause_ms(1);
	return (void *)(long)pthread_equal(caught_in, pthread_self());
}

SCENARIO(signal_goes_to_the_thread_that_takes_it)
{
	int ends[2];
	char byte;
	sigset_t set;
	pthread_t thread;
	void *result;

	handle(SIGUSR1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pipe(ends);
	pthread_create(&thread, NULL, take_signal, &ends[1]);
	read(ends[0], &byte, 1);
	T(kill(getpid(), SIGUSR1));
	pthread_join(thread, &result);
	say("%ld %d", (long)result, caught);
	T(pthread_kill(pthread_self(), SIGUSR1));
	T(sigpending(&set));
	say("%d %d", sigismember(&set, SIGUSR1), caught);
}

static int vforked[2], over[2]; /* pipes */

/* The calls that give back what is left of a time do so when a signal ends them, too. */
SCENARIO(time_left_when_a_signal_comes)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	struct timeval left = {.tv_sec = 100};

	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(syscall(SYS_select, 0, NULL, NULL, NULL, &left)); /* the library keeps it to itself */
	T(left.tv_sec < 100);
}

static void *fork_and_tell(void *unused)
{
	char byte;
	int status;
	pid_t child;

	read(vforked[0], &byte, 1);
	T(kill(getpid(), SIGUSR1)); /* for the first thread, which does not look */
	child = syscall(SYS_fork);
	if (!child)
		_exit(4);
	say("%d %d", child > 0, caught);
	T(waitpid(child, &status, 0) == child);
	write(over[1], "x", 1);
	return unused;
}

SCENARIO(fork_after_a_signal_for_another_thread)
{
	pthread_t thread;
	char byte;

	handle(SIGUSR1, 0);
	pipe(vforked);
	pipe(over);
	pthread_create(&thread, NULL, fork_and_tell, NULL);
	if (!vfork()) {
		write(vforked[1], "x", 1);
		read(over[0], &byte, 1);
		_exit(0);
	}
	pthread_join(thread, NULL);
	T(wait(NULL) > 0);
}

static char alternate[65536];
static int was_on_alternate;

static void look_at_stack(int signo)
{
	stack_t now;
	char here;

	sigaltstack(NULL, &now);
	was_on_alternate = (&here >= alternate && &here < alternate + sizeof(alternate)) * 2 +
			   (now.ss_flags == SS_ONSTACK);
	(void)signo;
}

SCENARIO(alternate_stack)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = 1024}, old;
	struct sigaction action = {.sa_handler = look_at_stack, .sa_flags = SA_ONSTACK};

	T(sigaltstack(&stack, NULL));
	stack.ss_size = sizeof(alternate);
	T(sigaltstack(&stack, NULL));
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	say("%d", was_on_alternate);
	T(sigaltstack(NULL, &old));
	say("%d %d", old.ss_flags, old.ss_sp == alternate);
}

/* A child that sends us SIGUSR1 once we sleep, and a while later writes a byte. */
static pid_t disturb(int fd)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	until_asleep(parent);
	kill(parent, SIGUSR1);
	pause_ms(60);
	write(fd, "x", 1);
	_exit(3);
}

SCENARIO(interrupted_calls)
{
	int ends[2], status;
	char byte;
	struct timespec span = {5, 0}, left = {0, 0};
	struct pollfd poller;
	sigset_t none;
	pid_t child;

	pipe(ends);
	handle(SIGUSR1, SA_RESTART);
	child = disturb(ends[1]);
	T(read(ends[0], &byte, 1));
	T(waitpid(child, &status, 0) == child);
	child = disturb(ends[1]);
	T(waitpid(child, &status, 0) == child); /* begun again */
	read(ends[0], &byte, 1);
	say("%d %d", caught, status);

	poller = (struct pollfd){.fd = ends[0], .events = POLLIN};
	child = disturb(ends[1]);
	T(poll(&poller, 1, 5000)); /* never begun again */
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	T(nanosleep(&span, &left));
	say("%d", left.tv_sec >= 3 && left.tv_sec < 5);
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	sigemptyset(&none);
	T(sigsuspend(&none));
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);

	handle(SIGUSR1, 0);
	child = disturb(ends[1]);
	T(read(ends[0], &byte, 1));
	waitpid(child, &status, 0);
	read(ends[0], &byte, 1);
	child = disturb(ends[1]);
	T(waitpid(child, &status, 0));
	waitpid(child, &status, 0);
}

SCENARIO(stopped_sleep_goes_on)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct timespec span = {0, 150000000};

		_exit(nanosleep(&span, NULL) ? 1 : 0);
	}
	pause_ms(20);
	T(kill(child, SIGSTOP));
	T(waitpid(child, &status, WUNTRACED) == child);
	say("%x", status);
	T(kill(child, SIGCONT));
	T(waitpid(child, &status, WCONTINUED) == child);
	say("%x", status);
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

static volatile int sent_by, sent_how;

static void take_sender(int signo, siginfo_t *info, void *context)
{
	(void)context;
	catch (signo);
	sent_by = info->si_pid;
	sent_how = info->si_code;
}

SCENARIO(pending_signals)
{
	struct sigaction action = {.sa_sigaction = take_sender, .sa_flags = SA_SIGINFO};
	struct timespec now = {0, 0};
	sigset_t set;
	siginfo_t info;

	sigfillset(&action.sa_mask); /* one handler after the other */
	sigaction(SIGRTMIN, &action, NULL);
	sigaction(SIGRTMIN + 2, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	caught = 0;
	T(kill(getpid(), SIGRTMIN + 2));
	T(kill(getpid(), SIGRTMIN));
	T(kill(getpid(), SIGUSR1));
	T(kill(getpid(), SIGUSR1));
	T(kill(getpid(), 65));
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	say("%d", sigtimedwait(&set, &info, &now) == SIGRTMIN + 2);
	say("%d %d", info.si_pid == getpid(), info.si_code == SI_USER);
	T(sigtimedwait(&set, &info, &now));
	sigfillset(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	say("%d by %d %d", caught, sent_by == getpid(), sent_how == SI_USER);
	say("%d %d", caught_order[0] == SIGUSR1, caught_order[1] == SIGRTMIN);
	T(pthread_kill(pthread_self(), SIGRTMIN + 2));
	say("%d by %d %d", caught, sent_by == getpid(), sent_how == SI_TKILL);
}

SCENARIO(orphaned_group_is_told)
{
	int ends[2];
	char byte = 0;
	pid_t middle;

	pipe(ends);
	middle = fork();
	if (!middle) {
		pid_t child = fork();

		if (!child) {
			setpgid(0, 0);
			handle(SIGHUP, 0);
			raise(SIGSTOP);
			while (!caught)
				pause_ms(1);
			write(ends[1], caught_order[0] == SIGHUP ? "h" : "?", 1);
			_exit(0);
		}
		setpgid(child, child);
		waitpid(child, NULL, WUNTRACED);
		_exit(0); /* which leaves the stopped group without anybody in its session */
	}
	setpgid(middle, middle);
	T(waitpid(middle, NULL, 0) == middle);
	T(read(ends[0], &byte, 1));
	say("%c", byte);
}

SCENARIO(interval_timers)
{
	struct itimerval value = {{0, 0}, {0, 30000}}, again = {{0, 30000}, {0, 30000}}, old;
	sigset_t set, none;

	sigemptyset(&none);
	handle(SIGALRM, 0);
	handle(SIGVTALRM, 0);
	handle(SIGPROF, 0);
	T(setitimer(ITIMER_REAL, &again, NULL)); /* since the first may come before pause() */
	T(pause());
	T(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL));
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	T(setitimer(ITIMER_REAL, &value, NULL));
	T(sigsuspend(&none));
	T(getitimer(ITIMER_REAL, &old));
	say("%d %ld %ld", caught_order[0], (long)old.it_value.tv_sec, (long)old.it_value.tv_usec);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	caught = 0;
	T(setitimer(ITIMER_VIRTUAL, &value, NULL));
	while (!caught)
		;
	say("%d", caught_order[0]);
	caught = 0;
	T(setitimer(ITIMER_PROF, &value, NULL));
	while (!caught)
		;
	say("%d", caught_order[0]);
	T(alarm(100));
	T(alarm(0));
	T(alarm(0));
	value.it_value.tv_usec = 1000000;
	T(setitimer(ITIMER_REAL, &value, NULL));
	T(setitimer(3, NULL, NULL));
	T(getitimer(-1, &old));
}

/* An absolute time that passes: what the handler interrupted is not begun again. */
SCENARIO(a_signal_ends_a_futex_s_wait_that_has_a_time)
{
	struct timespec at;
	int word = 0;

	handle(SIGALRM, SA_RESTART);
	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += 2;
	T(setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 30000}, NULL));
	T(syscall(SYS_futex, &word, 9 /* FUTEX_WAIT_BITSET */, 0, &at, NULL, -1));
	say("%d", caught);
}

/* tkill(2) of ourselves, with the stack pointer at @sp. */
static void signal_at(char *sp, int signo)
{
	long number = SYS_tkill, thread = syscall(SYS_gettid);

	asm volatile("mov %%rsp, %%rbx; mov %[sp], %%rsp; syscall; mov %%rbx, %%rsp"
		     : "+a"(number)
		     : [sp] "r"(sp), "D"(thread), "S"((long)signo)
		     : "rbx", "rcx", "r11", "memory");
}

/* An alternate stack without room for a further frame: nothing is written beside it. */
SCENARIO(an_alternate_stack_is_used_up)
{
	enum { STACK = 16384, ROOM = 512 }; /* less than any frame */
	char *memory = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + STACK, .ss_size = STACK};
	int status, touched = 0;
	pid_t child = fork();

	if (!child) {
		sigaltstack(&stack, NULL);
		handle(SIGUSR2, SA_ONSTACK);
		signal_at(memory + STACK + ROOM, SIGUSR2);
		_exit(caught);
	}
	waitpid(child, &status, 0);
	for (int i = 0; i < STACK; i++)
		touched += memory[i] != 0;
	say("%s, %d", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it fit", touched);
}

/* ---- what the processor itself tells and keeps -------------------------------------------------
 */

static sigjmp_buf behind;
static volatile int trap_code;
static void *volatile trap_address;

static void note_trap(int signo, siginfo_t *info, void *context)
{
	(void)context;
	caught = signo;
	trap_code = info->si_code;
	trap_address = info->si_addr;
	siglongjmp(behind, 1);
}

#define TRAP(what, statement)                                                                      \
	do {                                                                                       \
		caught = 0;                                                                        \
		if (!sigsetjmp(behind, 1)) {                                                       \
			statement;                                                                 \
		}                                                                                  \
		say("%s: signal %d, code %d, address %s", what, caught, trap_code,                 \
		    trap_address ? "known" : "unknown");                                           \
	} while (0)

SCENARIO(addresses_of_traps)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	volatile int zero = 0;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i],
			  &(struct sigaction){.sa_sigaction = note_trap,
					      .sa_flags = SA_SIGINFO | SA_NODEFER},
			  NULL);
	TRAP("division", zero = 1 / zero);
	TRAP("int3", asm volatile("int3"));
	TRAP("undefined", asm volatile("ud2"));
	TRAP("privileged", asm volatile("hlt"));
	TRAP("no address", *(volatile int *)0x8000000000000000UL);
	TRAP("nothing there", *(volatile int *)0x10000);
	TRAP("in no table", asm volatile("movw %w0, %%gs" ::"r"(7))); /* of local descriptors */
}

static void without_vectors(int signo, siginfo_t *info, void *context)
{
	(void)info;
	caught = signo;
	((ucontext_t *)context)->uc_mcontext.fpregs = NULL;
}

/* They are those that a program begins with, then. */
SCENARIO(return_from_a_handler_without_vectors)
{
	unsigned control = 0x7fc0;
	int status;
	pid_t child = fork();

	if (!child) {
		sigaction(SIGUSR1,
			  &(struct sigaction){.sa_sigaction = without_vectors,
					      .sa_flags = SA_SIGINFO},
			  NULL);
		asm volatile("ldmxcsr %0" ::"m"(control));
		raise(SIGUSR1);
		asm volatile("stmxcsr %0" : "=m"(control));
		_exit(caught == SIGUSR1 && control == 0x1f80);
	}
	waitpid(child, &status, 0);
	say("%d %d", WIFEXITED(status), WEXITSTATUS(status));
}

/* A call's number is the lower half of its register, whatever stands above. */
SCENARIO(a_call_s_number_has_32_bits)
{
	long result = 0x700000000 | SYS_pause;

	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 30000}, NULL);
	asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
	say("%ld, %d", result, caught);
}

static unsigned selectors(void)
{
	unsigned ds, es, fs, gs;

	asm volatile("mov %%ds, %0; mov %%es, %1; mov %%fs, %2; mov %%gs, %3"
		     : "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs));
	return (ds | es | fs | gs) & 0xffff;
}

/* What one program loads no other finds. */
SCENARIO(selectors_are_a_program_s_own)
{
	int ends[2];
	char byte;

	pipe(ends);
	if (!fork()) {
		read(ends[0], &byte, 1);
		_exit((int)selectors());
	}
	asm volatile("mov %0, %%gs; mov %0, %%ds; mov %0, %%es" ::"r"(0x2b));
	write(ends[1], "x", 1);
	int status;
	wait(&status);
	say("%d", WEXITSTATUS(status));
}
