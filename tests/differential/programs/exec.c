/*
 * exec.c - scenarios of execve(2): scripts, what is too much, set-id programs, what a program is told.
 */
#include "../scenarios.h"

#include <elf.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static void make_script(const char *name, const char *text)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0755);

	write(fd, text, strlen(text));
	close(fd);
}

/* execve here or in a child, which shows its status. */
static void try_program(const char *name)
{
	pid_t child = fork();
	int status;

	if (!child) {
		char *const arguments[] = {(char *)name, "1", "2", NULL};

		execv(name, arguments);
		_exit(100 + errno);
	}
	waitpid(child, &status, 0);
	say("%s=%d", name, WEXITSTATUS(status));
}

SCENARIO(scripts)
{
	static char name[32], text[300];

	make_script("two", "#!/bin/sh\nexit $#");
	try_program("./two");
	make_script("argument", "#! /bin/sh  -e \t\nfalse\nexit 3");
	try_program("./argument");
	make_script("nested", "#!./two");
	try_program("./nested");
	make_script("with", "#!./two a b");
	try_program("./with");
	make_script("empty", "");
	try_program("./empty");
	make_script("nobody", "#!\n");
	try_program("./nobody");
	make_script("blank", "#!  \t \nexit 3\n");
	try_program("./blank");
	make_script("missing", "#!/no/such\n");
	try_program("./missing");
	make_script("folder", "#!/bin\n");
	try_program("./folder");
	make_script("self", "#!./self\n");
	try_program("./self");
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof(name), "./deep%d", i);
		snprintf(text, sizeof(text), "#!%s\n", i ? "./deep" : "/bin/sh");
		if (i)
			snprintf(text, sizeof(text), "#!./deep%d\n", i - 1);
		else
			snprintf(text, sizeof(text), "#!/bin/true\n");
		make_script(name, text);
		try_program(name);
	}
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "#!/", 3);
	make_script("long", text);
	try_program("./long");
	memcpy(text, "#!/bin/true ", 12);
	make_script("longargument", text);
	try_program("./longargument");
	chmod("two", 0644);
	try_program("./two");
	try_program("./");
	try_program("./nowhere");
}

SCENARIO(exec_of_too_much)
{
	static char big[200000];
	char *const one[] = {"true", big, NULL};
	char *many[100], **volatile nowhere = (char **)8;
	struct rlimit limit = {1 << 20, 1 << 20};

	memset(big, 'x', sizeof(big) - 1);
	T(execv("/bin/true", one));
	big[130000] = 0;
	for (int i = 0; i < 99; i++)
		many[i] = big;
	many[99] = NULL;
	T(execv("/bin/true", many));
	setrlimit(RLIMIT_STACK, &limit);
	many[3] = NULL;
	T(execv("/bin/true", many));
	T(execv("/bin/true", nowhere));
	many[0] = (char *)nowhere;
	many[1] = NULL;
	T(execv("/bin/true", many));
}

SCENARIO(dumpable)
{
	T(prctl(PR_GET_DUMPABLE));
	AS(USER_A)
	{
		T(prctl(PR_GET_DUMPABLE));
		T(prctl(PR_SET_DUMPABLE, 1));
		T(prctl(PR_GET_DUMPABLE));
		T(prctl(PR_SET_DUMPABLE, 7));
	}
}

/* This program again, as `suid` and the like: what it has become is its exit status. */
__attribute__((constructor)) static void tell_secure(void)
{
	if (getenv("TELL_SECURE"))
		_exit(getauxval(AT_SECURE) * 8 + (geteuid() == 0) * 4 + (getegid() == 0) * 2 +
		      (prctl(PR_GET_DUMPABLE) == 1));
}

static void run_copy(const char *name)
{
	pid_t child = fork();
	int status;

	if (!child) {
		execle(name, name, (char *)NULL, (char *[]){"TELL_SECURE=1", NULL});
		_exit(100 + errno);
	}
	waitpid(child, &status, 0);
	say("%s=%d", name, WEXITSTATUS(status));
}

SCENARIO(set_id_programs)
{
	make_directory("nosuid");
	T(mount("none", "nosuid", "tmpfs", MS_NOSUID, NULL));
	copy_myself("plain", 0755);
	copy_myself("uid", 04755);
	copy_myself("gid", 02755);
	copy_myself("lockinggid", 02745); /* not a program to become somebody by */
	copy_myself("unreadable", 0711);
	copy_myself("nosuid/uid", 04755);
	run_copy("./uid");
	AS(USER_A)
	{
		run_copy("./plain");
		run_copy("./uid");
		run_copy("./gid");
		run_copy("./unreadable");
		run_copy("./nosuid/uid");
	}
	T(umount("nosuid"));
}

/* ---- what stays, and what a new program begins without ------------------------------------------ */

#define LATER 1000 /* seconds: no timer ends meanwhile */

static const char *disposition(const struct sigaction *action)
{
	if (action->sa_handler == SIG_DFL)
		return "d";
	return action->sa_handler == SIG_IGN ? "i" : "h";
}

static void show_state(void)
{
	static const int signals[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGCHLD};
	struct itimerval real, virtual;
	sigset_t blocked, pending;
	stack_t stack;

	sigaltstack(NULL, &stack);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigpending(&pending);
	getitimer(ITIMER_REAL, &real);
	getitimer(ITIMER_VIRTUAL, &virtual);
	say("[stack %d %lu", stack.ss_flags, (unsigned long)stack.ss_size);
	for (int i = 0; i < 4; i++) {
		struct sigaction action;

		sigaction(signals[i], NULL, &action);
		say("%d%d%s", sigismember(&blocked, signals[i]), sigismember(&pending, signals[i]),
		    disposition(&action));
	}
	say("timers %d %d", real.it_value.tv_sec > 0, virtual.it_value.tv_sec > 0);
	say("mask %o", umask(077));
	say("nice %d", getpriority(PRIO_PROCESS, 0));
	say("leads %d %d]", getpgrp() == getpid(), getsid(0) == getpid());
}

__attribute__((constructor)) static void tell_state(void)
{
	char name[16] = "";

	if (!getenv("TELL_STATE"))
		return;
	show_state();
	prctl(PR_GET_NAME, name);
	say("%s", name);
	_exit(0);
}

static void on_signal(int signo __attribute__((unused)))
{
}

static void run_and_tell(void)
{
	if (!fork()) {
		execle("/proc/self/exe", "of another name", (char *)NULL, (char *[]){"TELL_STATE=1", NULL});
		_exit(255);
	}
	wait(NULL);
}

SCENARIO(state_of_children_and_of_new_programs)
{
	static char room[4 * 4096];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct itimerval later = {.it_value = {.tv_sec = LATER}};
	sigset_t blocked;

	run_and_tell();
	sigaltstack(&stack, NULL);
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGHUP, on_signal);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	raise(SIGUSR1);
	setitimer(ITIMER_REAL, &later, NULL);
	setitimer(ITIMER_VIRTUAL, &later, NULL);
	umask(027);
	setpriority(PRIO_PROCESS, 0, 3);
	setpgid(0, 0);
	run_and_tell();
	umask(027);
	show_state();
	umask(027);
	fflush(stdout);
	if (!fork()) {
		show_state();
		_exit(0);
	}
	wait(NULL);
	if (!fork()) { /* a timer of its own stays with the new program, as does what is pending */
		setitimer(ITIMER_REAL, &later, NULL);
		setitimer(ITIMER_VIRTUAL, &later, NULL);
		raise(SIGUSR1);
		execle("/proc/self/exe", "again", (char *)NULL, (char *[]){"TELL_STATE=1", NULL});
		_exit(255);
	}
	wait(NULL);
}

extern char **environ;

SCENARIO(auxiliary_vector)
{
	extern char _start[];
	const unsigned char *random = (void *)getauxval(AT_RANDOM);
	char **end = environ;

	while (*end)
		end++;
	say("%ld %ld %ld", getauxval(AT_PAGESZ), getauxval(AT_CLKTCK), getauxval(AT_PHENT));
	say("%ld %ld %ld", getauxval(AT_SECURE), getauxval(AT_BASE), getauxval(AT_FLAGS));
	say("%ld %ld %ld", getauxval(AT_UID), getauxval(AT_EUID), getauxval(AT_GID));
	say("%s %d", (char *)getauxval(AT_PLATFORM), getauxval(AT_ENTRY) == (unsigned long)_start);
	say("%d", random[0] || random[1] || random[2]);
	say("%d", getauxval(AT_EXECFN) > (unsigned long)end && !strcmp(strrchr((char *)getauxval(AT_EXECFN), '/'),
									strrchr(program_invocation_name, '/')));
	say("%d", getauxval(51) >= 1024); /* AT_MINSIGSTKSZ */
}

/* ---- the first thread has ended, then another becomes another program ------------------------ */

#define BECOMES "CW_LATER" /* in the environment of the new program */

__attribute__((constructor)) static void later_program(void)
{
	if (!getenv(BECOMES))
		return;
	bool same = getpid() == (pid_t)syscall(SYS_gettid);

	syscall(SYS_exit, same && !syscall(SYS_tgkill, getpid(), getpid(), 0) ? 5 : 6);
}

static void *exec_later(void *first)
{
	char *const arguments[] = {"later", NULL}, *const environment[] = {BECOMES "=1", NULL};
	char name[40], state[100] = "";

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", *(pid_t *)first);
	do { /* until the first has ended: a zombie, or gone from there */
		int fd = open(name, O_RDONLY);

		if (fd < 0)
			break;
		if (read(fd, state, sizeof(state) - 1) < 0)
			break;
		close(fd);
	} while (!strstr(state, ") Z "));
	execve("./later", arguments, environment);
	_exit(99);
}

SCENARIO(exec_by_the_last_thread_that_was_not_the_first)
{
	pid_t child;
	int status;

	copy_myself("later", 0755);
	child = fork();
	if (!child) {
		static pid_t first;
		pthread_t thread;

		first = getpid();
		pthread_create(&thread, NULL, exec_later, &first);
		syscall(SYS_exit, 7);
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

/* ---- a file of /proc that was opened by one and is read by another -------------------------- */

#define READER "CW_READER"

__attribute__((constructor)) static void reader_program(void)
{
	char byte;

	if (getenv(READER))
		_exit(read(0, &byte, 1) == 1);
}

/* A set-id program reads for nobody what he could not read himself: 0. */
SCENARIO(what_may_not_be_looked_at_is_not_read_by_a_set_id_program)
{
	char *const arguments[] = {"reader", NULL}, *const environment[] = {READER "=1", NULL};
	pid_t child;
	int status;

	copy_myself("reader", 0755);
	chmod("reader", 04755);
	chmod(".", 0755);
	child = fork();
	if (!child) {
		int fd;

		setgid(USER_A);
		setuid(USER_A);
		fd = open("/proc/1/maps", O_RDONLY);
		if (fd < 0)
			_exit(0); /* as on Linux */
		dup2(fd, 0);
		execve("./reader", arguments, environment);
		_exit(99);
	}
	T(waitpid(child, &status, 0) == child);
	say("%x", status);
}

/* A program of two segments that ends with 42, and the second one as @second says. */
static void make_program(const char *name, const Elf64_Phdr *second)
{
	static const unsigned char code[] = {0xb8, 60, 0, 0, 0, 0xbf, 42, 0, 0, 0, 0x0f, 0x05};
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		unsigned char code[sizeof(code)];
	} image = {
		.header = {.e_ident = ELFMAG "\2\1\1",
			   .e_type = ET_EXEC,
			   .e_machine = EM_X86_64,
			   .e_version = 1,
			   .e_phoff = offsetof(__typeof__(image), segments),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2,
			   .e_entry = 0x400000 + offsetof(__typeof__(image), code)},
		.segments = {{PT_LOAD, PF_R | PF_X, 0, 0x400000, 0x400000, sizeof(image),
			      sizeof(image), 4096},
			     *second},
	};
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0755);

	memcpy(image.code, code, sizeof(code));
	write(fd, &image, sizeof(image));
	close(fd);
}

SCENARIO(segments_of_programs)
{
	make_program("zeros",
		     &(Elf64_Phdr){PT_LOAD, PF_R | PF_W, 0x123, 0x600000, 0, 0, 0x1000, 4096});
	try_program("./zeros");
	make_program("straight",
		     &(Elf64_Phdr){PT_LOAD, PF_R | PF_W, 0, 0x600000, 0, 64, 0x3000, 4096});
	try_program("./straight");
}
