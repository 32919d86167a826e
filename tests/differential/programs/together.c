/*
 * together.c - scenarios of what calls do to each other: places that a rename takes out of their
 * mount, what is kept of a signal's action; and futexes where there is no memory.
 */
#include "../scenarios.h"

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void catch (int signo)
{
	caught = signo;
}

static void show_action(int signo)
{
	const char *handler = "handler";
	struct sigaction action;

	sigaction(signo, NULL, &action);
	if (action.sa_handler == SIG_DFL)
		handler = "default";
	else if (action.sa_handler == SIG_IGN)
		handler = "ignored";
	say("%s %x %d", handler, action.sa_flags, sigismember(&action.sa_mask, SIGUSR2));
	fflush(stdout);
}

/* What this program does instead of its scenarios when it is run so, by exec_and_actions. */
__attribute__((constructor)) static void show_actions(void)
{
	if (!getenv("SHOW_ACTIONS"))
		return;
	show_action(SIGUSR1);
	show_action(SIGUSR2);
	_exit(0);
}

SCENARIO(exec_and_actions)
{
	struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_RESTART};

	sigaddset(&action.sa_mask, SIGUSR2);
	T(sigaction(SIGUSR1, &action, NULL));
	action.sa_handler = catch;
	T(sigaction(SIGUSR2, &action, NULL));
	setenv("SHOW_ACTIONS", "", 1);
	execl("/proc/self/exe", "scenarios", NULL);
}

SCENARIO(action_after_reset)
{
	struct sigaction action = {.sa_handler = catch,
				   .sa_flags = SA_RESETHAND | SA_RESTART | SA_NODEFER};

	sigaddset(&action.sa_mask, SIGUSR2);
	T(sigaction(SIGUSR1, &action, NULL));
	show_action(SIGUSR1);
	raise(SIGUSR1);
	say("caught %d", caught == SIGUSR1);
	show_action(SIGUSR1);
	action.sa_handler = SIG_DFL;
	T(sigaction(SIGUSR1, &action, NULL));
	show_action(SIGUSR1);
	action.sa_handler = SIG_IGN;
	T(sigaction(SIGUSR1, &action, NULL));
	show_action(SIGUSR1);
}

/* ---- futexes --------------------------------------------------------------------------------- */

enum {
	FUTEX_WAIT,
	FUTEX_WAKE,
	FUTEX_REQUEUE = 3,
	FUTEX_CMP_REQUEUE,
	FUTEX_WAKE_BITSET = 10,
	FUTEX_PRIVATE = 128
};

static int futex(void *word, int operation, unsigned value, unsigned long more, void *second,
		 unsigned third)
{
	return (int)syscall(SYS_futex, word, operation, value, more, second, third);
}

static void futexes_at(char *place, const char *what)
{
	static int good;

	say("%s:", what);
	for (int private = 0; private <= FUTEX_PRIVATE; private += FUTEX_PRIVATE) {
		T(futex(place, FUTEX_WAKE | private, 1, 0, NULL, 0));
		T(futex(place, FUTEX_WAKE_BITSET | private, 1, 0, NULL, 1));
		T(futex(place, FUTEX_WAIT | private, 5, 0, NULL, 0));
		T(futex(place, FUTEX_CMP_REQUEUE | private, 1, 1, &good, 0));
		T(futex(&good, FUTEX_CMP_REQUEUE | private, 1, 1, place, 0));
		T(futex(&good, FUTEX_CMP_REQUEUE | private, 1, 1, place, 9));
		T(futex(&good, FUTEX_REQUEUE | private, 1, 1, place, 0));
		T(futex(place, FUTEX_REQUEUE | private, 1, 1, &good, 0));
	}
}

SCENARIO(futex_where_no_memory_is)
{
	int fd = open("f", O_CREAT | O_RDWR, 0644);
	char *place;

	futexes_at((char *)16, "nothing");
	futexes_at((char *)0xffff800000000000, "the kernel's");
	place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	futexes_at(place, "no access");
	place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	futexes_at(place, "read only");
	place = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	futexes_at(place, "behind the end");
	ftruncate(fd, 4096);
	futexes_at(place, "a file");
	place = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	futexes_at(place, "a private file");
}

/* ---- places ---------------------------------------------------------------------------------- */

static void try_places(void)
{
	char name[200] = "";

	T(open("..", O_RDONLY | O_DIRECTORY) > 0);
	T(open("../..", O_RDONLY | O_DIRECTORY) > 0);
	T(open("deeper/..", O_RDONLY | O_DIRECTORY) > 0);
	T(open("deeper/../..", O_RDONLY | O_DIRECTORY) > 0);
	T(open("../secret", O_RDONLY) > 0);
	T(open("deeper/../../secret", O_RDONLY) > 0);
	T(mkdir("../made", 0755));
	T(access("inside", F_OK));
	T(access(".", F_OK));
	say("%s",
	    syscall(SYS_getcwd, name, sizeof(name)) > 0 && name[0] == '/' ? "reachable" : name);
}

/* a/b is mounted on m; we are in m/c, which is moved to a/c, out of what is mounted. */
static void prepare_places(void)
{
	make_directory("a");
	make_directory("a/b");
	make_directory("a/b/c");
	make_directory("a/b/c/deeper");
	make_directory("m");
	make_file("a/secret", "secret");
	make_file("a/b/c/inside", "");
	T(mount("a/b", "m", NULL, MS_BIND, NULL));
}

SCENARIO(place_moved_out_of_a_bind_mount)
{
	int top = open(".", O_RDONLY), at, deeper;

	prepare_places();
	at = open("m/c", O_RDONLY | O_DIRECTORY);
	deeper = open("m/c/deeper", O_RDONLY | O_DIRECTORY);
	T(chdir("m/c"));
	try_places();
	T(renameat(top, "a/b/c", top, "a/c"));
	try_places();
	T(openat(at, "..", O_RDONLY) > 0);
	T(openat(at, "../secret", O_RDONLY) > 0);
	T(openat(deeper, "..", O_RDONLY) > 0);
	T(openat(deeper, ".", O_RDONLY) > 0);
	T(fchdir(deeper));
	T(chdir(".."));
	T(renameat(top, "a/c", top, "a/b/c"));
	T(chdir(".."));
	T(chdir(".."));
	try_places();
	fchdir(top);
	T(umount2("m", MNT_DETACH));
}

SCENARIO(place_moved_out_of_a_root)
{
	int top = open(".", O_RDONLY);

	prepare_places();
	T(chroot("m"));
	T(chdir("/c"));
	T(renameat(top, "a/b/c", top, "a/c"));
	try_places();
	T(access("/../../a", F_OK));
	T(fchdir(top));
	T(umount2("m", MNT_DETACH));
}
