/*
 * main.c - runs the checks of the address space as a program sees it: mmap and its relatives,
 * faults, fork.
 *
 * A plain Linux program that holds on Linux as well. Usage:
 * memory DIRECTORY [NAME...]. Prints "ok NAME" or "not ok NAME: where" for each; the exit status
 * counts the failures. "bomb" and the like are run only by name: they are for a machine with little
 * memory.
 */
#include "memory.h"

int failed_line;

sigjmp_buf fault_return;
volatile int fault_signal, fault_code;
void *volatile fault_address;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	fault_signal = number;
	fault_code = info->si_code;
	fault_address = info->si_addr;
	siglongjmp(fault_return, 1);
}

static void catch_faults(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

int try_read(const volatile char *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		(void)*address;
	return fault_signal;
}

int try_write(volatile char *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		*address = 1;
	return fault_signal;
}

int try_run(void *address)
{
	fault_signal = 0;
	if (!sigsetjmp(fault_return, 1))
		((void (*)(void))address)();
	return fault_signal;
}

char *map(unsigned long pages, int protection, int flags)
{
	char *address = mmap(NULL, pages * PAGE, protection, flags, -1, 0);

	return address == MAP_FAILED ? NULL : address;
}

int make_file(const char *name, unsigned long pages)
{
	int fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
	char page[PAGE];

	for (unsigned long i = 0; fd >= 0 && i < pages; i++) {
		memset(page, 'a' + (int)(i % 26), PAGE);
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			return -1;
	}
	return fd;
}

int in_child(void (*function)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		failed_line = 0;
		function();
		_exit(failed_line != 0);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

char *filled(unsigned long pages)
{
	char *p = map(pages, RW, ANON);

	for (unsigned long i = 0; p && i < pages; i++)
		p[i * PAGE] = (char)(i + 1);
	return p;
}

int holds(const char *p, unsigned long pages)
{
	for (unsigned long i = 0; i < pages; i++)
		if (p[i * PAGE] != (char)(i + 1))
			return 0;
	return 1;
}

static const struct check *const groups[] = {
	anonymous_checks, limits_checks, files_checks, fork_checks, threads_checks, little_checks,
};

static bool wanted(const struct check *check, char **names)
{
	if (!*names)
		return !check->by_name_only;
	for (; *names; names++)
		if (!strcmp(*names, check->name))
			return true;
	return false;
}

/* 1: it failed. */
static int run(const struct check *check)
{
	failed_line = 0;
	check->function();
	if (failed_line)
		printf("not ok %s: line %d, errno %d, signal %d\n", check->name, failed_line, errno,
		       fault_signal);
	else
		printf("ok %s\n", check->name);
	return failed_line != 0;
}

int main(int argc, char **argv)
{
	int failures = 0;

	if (argc < 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: memory DIRECTORY [NAME...]\n");
		return 100;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	catch_faults();
	for (size_t group = 0; group < sizeof(groups) / sizeof(groups[0]); group++)
		for (const struct check *check = groups[group]; check->name; check++)
			if (wanted(check, argv + 2))
				failures += run(check);
	return failures;
}
