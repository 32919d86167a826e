/*
 * init.c - process 1 of a booted Chainwalk: mounts, a controlling terminal, one job, its status,
 * power-off.
 *
 * A plain Linux program: it works as init of a Linux kernel too, where /proc/chainwalk does not
 * exist; there it writes the records of docs/kernel/control-port.md to the second serial port
 * itself, and leaves by QEMU's isa-debug-exit. It is told what to do on the kernel's command line:
 *
 *	job_user=NAME	run the job as this user of /etc/passwd (default root)
 *	job_cwd=DIR	in this folder (default: the user's home)
 *	job_tty=raw	the console hands the job's bytes through as they are: no "\r" before
 *			"\n", no echo
 *	job_input=none	the job reads nothing: its standard input is /dev/null
 *	job_env=A=B	one more environment variable; may be repeated
 *	job_list=DEVICE	when the job has ended, write to DEVICE what it has changed in / and /tmp
 *			(listtree.c); it starts at a whole second, so that what is older can be told
 *	job_profile=NS	sample the kernel meanwhile, about every NS (docs/lab/profile.md)
 *	-- PROGRAM ARG...	the job; %XX stands for a byte that a command line cannot carry
 *
 * Without a job on the command line, /etc/cw/job is read: the arguments, one a line, written the
 * same way. Without that it is a login shell. When the job ends, every other process is ended, file
 * systems are synced and unmounted, and "exit STATUS" is written to /proc/chainwalk/exit before
 * power-off. A job that a signal ended has the status 128 + signal, as in a shell.
 *
 * Limits: 255 arguments, 64 KB of command line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 255
#define QEMU_EXIT_PORT 0xf4 /* isa-debug-exit: QEMU ends with 2 * value + 1 */
#define QEMU_SHUTDOWN 16

struct job {
	char *argv[MAX_ARGUMENTS + 1];
	int argc;
	char user[64];
	char cwd[256];
	char list[64]; /* "": no list of changes is wanted */
	char profile[16]; /* "": none */
	bool raw;
	bool no_input;
};

struct user {
	uid_t uid;
	gid_t gid;
	char home[128];
};

static char command_line[65536];
static unsigned records; /* sent on the control port so far */

/* When a session's leader ends, Linux hangs the terminal up and throws away what it has yet to
 * send: the end of what the job wrote. There init leads the session, and lives. */
static bool on_linux;

static void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "init: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, ": %s\n", strerror(errno));
	va_end(args);
}

/* The whole of a small file as a string; its length, or -1. */
static ssize_t read_file(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;

	if (fd < 0)
		return -1;
	while (length < size - 1) {
		ssize_t n = read(fd, buffer + length, size - 1 - length);

		if (n <= 0)
			break;
		length += n;
	}
	close(fd);
	buffer[length] = 0;
	return length;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* CRC-32 (IEEE 802.3), bit by bit: records are short. */
static unsigned crc32(const char *text)
{
	unsigned crc = ~0u;

	for (; *text; text++) {
		crc ^= (unsigned char)*text;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* On Linux: one record on the control port. */
static void send_record(const char *type, const char *json)
{
	static int port = -1;
	struct termios settings;

	if (port < 0) {
		port = open("/dev/ttyS1", O_WRONLY | O_NOCTTY | O_CLOEXEC);
		if (tcgetattr(port, &settings))
			return;
		cfmakeraw(&settings);
		tcsetattr(port, TCSANOW, &settings);
	}
	dprintf(port, "@CW %u %zu %08x %s %s\n", records++, strlen(json), crc32(json), type, json);
	tcdrain(port);
}

static void mark(const char *name)
{
	char text[64];
	struct timespec now;

	snprintf(text, sizeof(text), "%s\n", name);
	if (!write_file("/proc/chainwalk/mark", text))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "{\"name\":\"%s\",\"ns\":%lld}", name,
		 now.tv_sec * 1000000000LL + now.tv_nsec);
	send_record("mark", text);
}

/* Modes of the console that are not wanted. */
static void turn_off(tcflag_t input, tcflag_t output, tcflag_t local)
{
	struct termios settings;

	if (tcgetattr(0, &settings))
		return;
	settings.c_iflag &= ~input;
	settings.c_oflag &= ~output;
	settings.c_lflag &= ~local;
	tcsetattr(0, TCSANOW, &settings);
}

/* The job's status, and the end, of which QEMU tells by the value 33. What the console has yet to
 * send goes out first, even after a Ctrl-S: QEMU ends at once, whatever is still in a buffer. */
static void report_and_leave(int status)
{
	char text[32];

	turn_off(IXON, 0, 0);
	tcdrain(STDOUT_FILENO);
	snprintf(text, sizeof(text), "exit %d\n", status);
	if (write_file("/proc/chainwalk/exit", text)) {
		snprintf(text, sizeof(text), "{\"status\":%d}", status);
		send_record("exit", text);
		snprintf(text, sizeof(text), "{\"records\":%u}", records);
		send_record("end", text);
		if (!ioperm(QEMU_EXIT_PORT, 1, 1))
			outb(QEMU_SHUTDOWN, QEMU_EXIT_PORT);
	}
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void mount_one(const char *type, const char *where, const char *options)
{
	if (mount(type, where, type, 0, options) && errno != EBUSY)
		complain("mounting %s on %s", type, where);
}

static void mount_all(void)
{
	mount_one("devtmpfs", "/dev", NULL);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
	if ((mkdir("/dev/shm", 01777) && errno != EEXIST) || chmod("/dev/shm", 01777)) /* shm_open, sem_open */
		complain("/dev/shm");
	mount_one("proc", "/proc", NULL);
	mount_one("tmpfs", "/tmp", "mode=1777");
}

/* Descriptors 0, 1 and 2 are the console, which becomes the session's controlling terminal. */
static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		if (fd != i)
			dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replace %XX in place. */
static void decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (text[0] == '%' && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0) {
			*out++ = hex_digit(text[1]) * 16 + hex_digit(text[2]);
			text += 2;
		} else {
			*out++ = *text;
		}
	}
	*out = 0;
}

static void split(struct job *job, char *text, const char *separators)
{
	char *save, *word;

	for (word = strtok_r(text, separators, &save); word && job->argc < MAX_ARGUMENTS;
	     word = strtok_r(NULL, separators, &save)) {
		decode(word);
		/* An empty argument cannot be written between separators: it is a lone "%". */
		job->argv[job->argc++] = strcmp(word, "%") ? word : word + 1;
	}
}

static void take_option(struct job *job, char *word)
{
	if (!strncmp(word, "job_user=", 9))
		snprintf(job->user, sizeof(job->user), "%s", word + 9);
	else if (!strncmp(word, "job_cwd=", 8))
		snprintf(job->cwd, sizeof(job->cwd), "%s", word + 8);
	else if (!strncmp(word, "job_list=", 9))
		snprintf(job->list, sizeof(job->list), "%s", word + 9);
	else if (!strncmp(word, "job_profile=", 12))
		snprintf(job->profile, sizeof(job->profile), "%s", word + 12);
	else if (!strcmp(word, "job_tty=raw"))
		job->raw = true;
	else if (!strcmp(word, "job_input=none"))
		job->no_input = true;
	else if (!strncmp(word, "job_env=", 8)) {
		decode(word + 8);
		putenv(word + 8);
	}
}

static void read_job(struct job *job)
{
	static char job_file[65536];
	char *options = command_line, *arguments, *save, *word;

	snprintf(job->user, sizeof(job->user), "root");
	if (read_file("/proc/cmdline", command_line, sizeof(command_line)) < 0)
		complain("reading /proc/cmdline");
	arguments = strstr(command_line, " -- ");
	if (arguments) {
		*arguments = 0;
		split(job, arguments + 4, " \n");
	}
	for (word = strtok_r(options, " \n", &save); word; word = strtok_r(NULL, " \n", &save))
		take_option(job, word);
	if (!job->argc && read_file("/etc/cw/job", job_file, sizeof(job_file)) > 0)
		split(job, job_file, "\n");
	if (!job->argc) {
		job->argv[job->argc++] = "/bin/sh";
		job->argv[job->argc++] = "-l";
	}
}

static int find_user(const char *name, struct user *user)
{
	static char passwd[8192];
	char *line, *save;

	*user = (struct user){.home = "/"};
	if (read_file("/etc/passwd", passwd, sizeof(passwd)) < 0)
		return strcmp(name, "root") ? -1 : 0;
	for (line = strtok_r(passwd, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char found[64];

		if (sscanf(line, "%63[^:]:%*[^:]:%u:%u:%*[^:]:%127[^:]", found, &user->uid,
			   &user->gid, user->home) == 4 &&
		    !strcmp(found, name))
			return 0;
	}
	errno = ENOENT;
	return -1;
}

/* A session with the console as its controlling terminal, led by the calling process. */
static void begin_session(void)
{
	setsid();
	/* by its own name programs can reopen it; the console stands in for it */
	if (ioctl(0, TIOCSCTTY, 0))
		complain("taking the console as controlling terminal");
}

/* In the child: become the job. Does not return. */
static void become_job(const struct job *job)
{
	struct user user;
	sigset_t none;

	if (!on_linux)
		begin_session();
	else if (setpgid(0, 0) || tcsetpgrp(0, getpid()))
		complain("taking the foreground");
	if (job->no_input) {
		close(0);
		if (open("/dev/null", O_RDONLY))
			complain("/dev/null");
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (find_user(job->user, &user)) {
		complain("user %s", job->user);
		_exit(126);
	}
	setenv("HOME", user.home, 1);
	setenv("USER", job->user, 1);
	setenv("LOGNAME", job->user, 1);
	if (chdir(job->cwd[0] ? job->cwd : user.home) && chdir("/"))
		complain("chdir");
	if (user.uid && (setgroups(1, &user.gid) || setgid(user.gid) || setuid(user.uid))) {
		complain("becoming %s", job->user);
		_exit(126);
	}
	execvp(job->argv[0], job->argv);
	complain("%s", job->argv[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Reap everything until the job is gone; its status as a shell would give it. */
static int wait_for(pid_t job)
{
	for (;;) {
		int status;
		pid_t pid = wait(&status);

		if (pid < 0 && errno != EINTR)
			return 255;
		if (pid == job)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

static void end_others(void)
{
	struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

	if (kill(-1, SIGTERM) && errno == ESRCH)
		return;
	for (int tries = 0; tries < 20; tries++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (kill(-1, 0))
			return;
		nanosleep(&pause, NULL);
	}
	kill(-1, SIGKILL);
	while (wait(NULL) > 0)
		;
}

/*
 * An instruction that does nothing but be seen by the plugin that counts instructions
 * (lab/measure/instructions.c): the job begins, the job has ended.
 */
#define SIGN_TO_COUNTER(number) __asm__ __volatile__("nopl 0x4357000" #number "(%%rax)" ::: "memory")

/* The seconds of the clock, of which one has just begun. */
static time_t wait_for_second(void)
{
	struct timespec now;
	time_t second;

	clock_gettime(CLOCK_REALTIME, &now);
	second = now.tv_sec + 1;
	while (now.tv_sec < second) { /* a sleep may end a little early */
		nanosleep(&(struct timespec){.tv_nsec = 1000000000 - now.tv_nsec}, NULL);
		clock_gettime(CLOCK_REALTIME, &now);
	}
	return second;
}

static void list_changes(const char *device, time_t since)
{
	char seconds[32];
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open(device, O_WRONLY);

		snprintf(seconds, sizeof(seconds), "%lld", (long long)since);
		if (fd < 0 || dup2(fd, 1) < 0)
			complain("%s", device);
		else
			execl("/usr/local/bin/listtree", "listtree", seconds, "/", "/tmp", NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) != pid)
		;
}

static void unmount_all(void)
{
	chdir("/");
	sync();
	umount("/tmp");
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL))
		complain("remounting / read-only");
	sync();
}

int main(void)
{
	static struct job job;
	sigset_t all;
	pid_t pid;
	int status;
	time_t since = 0;

	clearenv(); /* Linux puts words of the command line there */
	mount_all();
	mark("first_user");
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
	setenv("TERM", "vt100", 1);
	open_console();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	read_job(&job);
	on_linux = access("/proc/chainwalk", F_OK) != 0;
	if (on_linux)
		begin_session();
	if (job.raw)
		turn_off(0, OPOST, ECHO);
	if (job.list[0])
		since = wait_for_second();
	/* from here on, input that comes is the job's */
	mark("job");
	if (job.profile[0])
		write_file("/proc/profile", job.profile);
	SIGN_TO_COUNTER(1);
	pid = fork();
	if (pid < 0)
		complain("fork");
	if (pid == 0)
		become_job(&job);
	status = pid < 0 ? 126 : wait_for(pid);
	SIGN_TO_COUNTER(2);
	if (job.profile[0])
		write_file("/proc/profile", "0");
	mark("job_end");

	end_others();
	if (job.list[0])
		list_changes(job.list, since);
	unmount_all();
	report_and_leave(status);
}
