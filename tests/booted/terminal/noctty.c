/*
 * noctty.c - a session's leader opens the terminal, which nobody controls: it is his, unless he
 * has said O_NOCTTY, or may only write to it.
 */
#define _GNU_SOURCE
#include "../must.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

enum steal { LEAVE, STEAL };

/* A session of its own opens the terminal, or takes it from whose it is. When it ends the terminal is
 * nobody's. Has it been its own? */
static int in_session(int flags, enum steal steal)
{
	pid_t child = fork();
	int status, terminal;

	must(child, "fork");
	if (!child) {
		must(setsid(), "setsid");
		must(terminal = open("/dev/ttyS0", flags), "/dev/ttyS0");
		if (steal == STEAL)
			must(ioctl(terminal, TIOCSCTTY, 1), "TIOCSCTTY");
		_exit(open("/dev/tty", O_RDWR) >= 0);
	}
	must(waitpid(child, &status, 0), "waitpid");
	return WEXITSTATUS(status);
}

static const char *said(int ours)
{
	return ours ? "it controls us" : "it does not";
}

int main(void)
{
	printf("TIOCSCTTY: %s\n", said(in_session(O_RDWR | O_NOCTTY, STEAL)));
	printf("open: %s\n", said(in_session(O_RDWR, LEAVE)));
	printf("O_NOCTTY: %s\n", said(in_session(O_RDWR | O_NOCTTY, LEAVE)));
	printf("O_WRONLY: %s\n", said(in_session(O_WRONLY, LEAVE)));
	return 0;
}
