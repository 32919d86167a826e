/*
 * work.c - the calls themselves: an ordinary user under limits, several threads, until enough are
 * made.
 */
#include "callfuzz.h"

static const struct {
	int number;
	const char *name, *arguments;
} calls[] = {
#include "calls.h"
};

const size_t kinds_of_calls = sizeof(calls) / sizeof(calls[0]);
static int process_number;

/* What ends, or sleeps long, comes now and then only. */
static bool is_rare(int number)
{
	static const int rare[] = {SYS_exit,
				   SYS_exit_group,
				   SYS_pause,
				   SYS_rt_sigsuspend,
				   SYS_rt_sigtimedwait,
				   SYS_wait4,
				   SYS_waitid,
				   SYS_sync,
				   SYS_syncfs,
				   SYS_select,
				   SYS_poll,
				   SYS_pselect6,
				   SYS_ppoll,
				   SYS_futex,
				   SYS_semop,
				   SYS_semtimedop,
				   SYS_execve,
				   SYS_kill,
				   SYS_tkill,
				   SYS_tgkill,
				   SYS_munmap,
				   SYS_rt_sigreturn,
				   SYS_rt_sigprocmask,
				   SYS_nanosleep,
				   SYS_clock_nanosleep,
				   SYS_fork,
				   SYS_vfork,
				   SYS_clone,
				   SYS_clone3,
				   SYS_close_range,
				   SYS_setrlimit,
				   SYS_prlimit64,
				   SYS_chroot,
				   SYS_rt_sigaction,
				   SYS_setsid,
				   SYS_arch_prctl,
				   SYS_set_robust_list};

	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++)
		if (rare[i] == number)
			return true;
	return false;
}

static void call_once(void)
{
	size_t which = draw(kinds_of_calls);
	const char *kinds = calls[which].arguments;
	int number = calls[which].number;
	long a[6] = {0}, result;

	if (is_rare(number) && draw(20))
		return;
	for (int i = 0; kinds[i] && i < 6; i++)
		a[i] = argument(kinds[i]);
	if (!draw(500))
		number = (int)draw(600); /* of those that are not there, too */
	result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (!result && (number == SYS_vfork || number == SYS_clone || number == SYS_clone3))
		syscall(SYS_exit, 0); /* may be on its parent's stack */
	if (!result && number == SYS_fork && draw(2))
		_exit(0);
	if (result >= 0 && (number == SYS_shmget || number == SYS_semget))
		counts->numbers[draw(16)] = result;
	counts->made[process_number]++;
	counts->results[result == -1 && errno > 0 && errno < 140 ? errno : 0]++;
	if (!draw(16))
		*(volatile char *)(REGION + draw(REGION_SIZE)) = (char)draw(256);
}

static void *call_for_ever(void *argument)
{
	state = (uint64_t)argument;
	while (counts->made[process_number] < goal)
		call_once();
	syscall(SYS_exit_group, 0);
	return NULL;
}

/* A fault is no end, most of the time: the memory is made again. */
static void repair(int signo)
{
	if (signo == SIGSEGV || signo == SIGBUS) {
		if (!draw(50))
			_exit(1);
		for (int i = 0; i < 64; i++)
			if (i % 16 != 15)
				mmap(REGION + i * 4096, 4096,
				     PROT_READ | (i % 16 == 14 ? 0 : PROT_WRITE),
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		/* The one that is not there, or may not be written, need not be touched again. */
		mprotect(REGION, REGION_SIZE, PROT_READ | PROT_WRITE);
	}
}

static void limit(int kind, rlim_t value)
{
	struct rlimit both = {value, value};

	setrlimit(kind, &both);
}

static void become_user(void)
{
	struct sigaction action = {.sa_handler = repair, .sa_flags = SA_NODEFER};
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	close(null);
	setsid();
	limit(RLIMIT_NPROC, 60);
	limit(RLIMIT_NOFILE, 200);
	limit(RLIMIT_FSIZE, 1 << 22);
	limit(RLIMIT_AS, 64 << 20);
	limit(RLIMIT_CORE, 0);
	if (chdir(FOLDER) || setgroups(0, NULL) || setgid(USER) || setuid(USER))
		_exit(9);
	for (int signo = 1; signo < 65; signo++)
		if (signo < 32 || signo > 34) /* musl's own */
			sigaction(signo, &action, NULL);
	action.sa_flags = SA_NODEFER | SA_RESTART;
	sigaction(SIGCHLD, &action, NULL);
}

void work(int number, unsigned incarnation, int threads)
{
	pthread_t thread;

	process_number = number;
	become_user();
	state = seed * 0x9e3779b97f4a7c15ULL + (uint64_t)number * 1000003 + incarnation * 7919 + 1;
	repair(SIGBUS);
	mkdir("a", 0755);
	symlink("a", "l");
	symlink("loop", "loop");
	mkfifo("fifo", 0666);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, call_for_ever, (void *)(state * 31 + (uint64_t)i));
	call_for_ever((void *)state);
}
