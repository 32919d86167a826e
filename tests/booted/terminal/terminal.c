/*
 * terminal.c - what a terminal's system calls answer, one line a question; needs no keyboard.
 *
 * A plain Linux program, to be started as the leader of a session with its controlling terminal on
 * descriptor 0: test_terminal.py runs it on a pseudo-terminal of the host and on Chainwalk's
 * console and compares what it prints.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile int winch_count;

static void count_winch(int signo)
{
	(void)signo;
	winch_count++;
}

static void say(const char *what, long result)
{
	printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

/* Run @body in a child of its own process group in the background; how it ended or stopped. */
static void in_background(const char *what, int (*body)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		_exit(body());
	}
	setpgid(child, child);
	if (waitpid(child, &status, WUNTRACED) != child)
		say(what, -1);
	else if (WIFSTOPPED(status))
		say(what, 1000 + WSTOPSIG(status));
	else
		say(what, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int read_error(void)
{
	char c;

	return read(0, &c, 1) < 0 ? errno : 0;
}

static int read_ignoring(void)
{
	signal(SIGTTIN, SIG_IGN);
	return read_error();
}

static int set_attributes(void)
{
	struct termios settings;

	tcgetattr(0, &settings);
	return tcsetattr(0, TCSANOW, &settings) ? errno : 0;
}

static int set_attributes_ignoring(void)
{
	signal(SIGTTOU, SIG_IGN);
	return set_attributes();
}

static int write_some(void)
{
	return write(1, "from the background\n", 20) == 20 ? 0 : errno;
}

static int take_foreground(void)
{
	return tcsetpgrp(0, getpgrp()) ? errno : 0;
}

/* The parent of the reader is gone, so nobody could continue it: EIO, no stop. */
static int orphan_reads(void)
{
	int pipes[2], error = 255;

	if (pipe(pipes))
		return 254;
	if (!fork()) {
		pid_t parent = getpid();

		if (!fork()) {
			setpgid(0, 0);
			while (getppid() == parent)
				usleep(10000);
			error = read_error();
			_exit(write(pipes[1], &error, sizeof(error)) != sizeof(error));
		}
		_exit(0);
	}
	wait(NULL);
	return read(pipes[0], &error, sizeof(error)) == sizeof(error) ? error : 253;
}

/* In a session of its own there is no /dev/tty, and the terminal is taken already. */
static int other_session(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		setsid();
		say("other session: open /dev/tty", open("/dev/tty", O_RDWR));
		say("other session: TIOCSCTTY", ioctl(0, TIOCSCTTY, 0));
		say("other session: tcgetpgrp", tcgetpgrp(0));
		say("other session: TIOCNOTTY", ioctl(0, TIOCNOTTY));
		_exit(0);
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

static void settings(void)
{
	struct termios before, after;

	say("isatty", isatty(0));
	say("tcgetattr", tcgetattr(0, &before));
	before.c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN;
	before.c_oflag = OPOST | ONLCR;
	before.c_cc[VINTR] = 'x';
	before.c_cc[VTIME] = 7;
	say("tcsetattr", tcsetattr(0, TCSAFLUSH, &before));
	say("tcgetattr", tcgetattr(0, &after));
	say("lflag", after.c_lflag);
	say("oflag", after.c_oflag);
	say("characters", after.c_cc[VINTR] * 100 + after.c_cc[VTIME]);
	after.c_cc[VINTR] = 3;
	say("tcsetattr", tcsetattr(0, TCSADRAIN, &after));
	say("tcflush", tcflush(0, TCIFLUSH)); /* of output it would lose lines of ours */
	say("tcflush 77", tcflush(0, 77));
	say("tcdrain", tcdrain(1));
	say("unknown ioctl", ioctl(0, 0x54ff, 0));
	say("bad pointer", ioctl(0, TCGETS, 8));
	say("lseek", lseek(0, 0, SEEK_CUR));
}

static void window_size(void)
{
	struct winsize size = {.ws_row = 33, .ws_col = 99}, other = {0};

	signal(SIGWINCH, count_winch);
	say("TIOCSWINSZ", ioctl(0, TIOCSWINSZ, &size));
	say("TIOCSWINSZ again", ioctl(0, TIOCSWINSZ, &size));
	say("TIOCGWINSZ", ioctl(0, TIOCGWINSZ, &other));
	say("rows and columns", other.ws_row * 1000 + other.ws_col);
	say("SIGWINCH", winch_count);
}

static void set_minimum(int least, int time)
{
	struct termios settings;

	tcgetattr(0, &settings);
	settings.c_lflag &= ~ICANON;
	settings.c_cc[VMIN] = least;
	settings.c_cc[VTIME] = time;
	tcsetattr(0, TCSANOW, &settings);
}

static void reading(void)
{
	struct pollfd pollfd = {.fd = 0, .events = POLLIN | POLLOUT};
	struct timespec before, after;
	char c;
	int n = -1;

	say("FIONREAD", ioctl(0, FIONREAD, &n));
	say("bytes", n);
	say("poll", poll(&pollfd, 1, 0));
	say("events", pollfd.revents);
	pollfd.events = POLLIN;
	say("poll for input", poll(&pollfd, 1, 50));
	fcntl(0, F_SETFL, O_RDWR | O_NONBLOCK);
	say("read, not blocking", read(0, &c, 1));
	fcntl(0, F_SETFL, O_RDWR);
	say("read of nothing", read(0, &c, 0));
	set_minimum(0, 0);
	say("read, VMIN=0 VTIME=0", read(0, &c, 1));
	set_minimum(0, 3);
	clock_gettime(CLOCK_MONOTONIC, &before);
	say("read, VMIN=0 VTIME=3", read(0, &c, 1));
	clock_gettime(CLOCK_MONOTONIC, &after);
	n = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
	say("waited long enough", n >= 290);
}

static void jobs(void)
{
	struct termios settings;
	pid_t foreground = tcgetpgrp(0);

	say("tcgetpgrp", foreground == getpgrp());
	say("tcgetsid", tcgetsid(0) == getsid(0));
	say("tcsetpgrp of no group", tcsetpgrp(0, 99999));
	say("tcsetpgrp -1", tcsetpgrp(0, -1));
	say("tcsetpgrp of another session", tcsetpgrp(0, 1));
	in_background("read", read_error);
	in_background("read, ignoring SIGTTIN", read_ignoring);
	in_background("tcsetattr", set_attributes);
	in_background("tcsetattr, ignoring SIGTTOU", set_attributes_ignoring);
	in_background("tcsetpgrp", take_foreground);
	in_background("write", write_some);
	tcgetattr(0, &settings);
	settings.c_lflag |= TOSTOP;
	tcsetattr(0, TCSANOW, &settings);
	in_background("write, TOSTOP", write_some);
	settings.c_lflag &= ~TOSTOP;
	tcsetattr(0, TCSANOW, &settings);
	say("orphan's read", orphan_reads());
	other_session();
	say("open /dev/tty", open("/dev/tty", O_RDWR) >= 0);
}

int main(void)
{
	usleep(300000); /* who made a pseudo-terminal sets its size after the start */
	settings();
	window_size();
	reading();
	jobs();
	printf("end\n");
	return 0;
}
