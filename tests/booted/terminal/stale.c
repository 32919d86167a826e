/*
 * stale.c - a terminal's foreground group may have ended, and its number may be that of another
 * session's group by now: which gets no signals of the terminal.
 *
 * A session takes the terminal, and puts a group in the foreground, which ends. Processes are made
 * until one has that number: the victim, in a session of its own. Then the terminal's size changes,
 * and its session ends. Prints what signals the victim got.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../must.h"

#define PIDS 40000 /* more than there are */
#define FIRST 400

static volatile sig_atomic_t got_size, got_end;

static void get(int signo)
{
	if (signo == SIGWINCH)
		got_size = 1;
	else
		got_end = 1;
}

static void end(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* The session: tells the group's number to @told, waits for a byte from @asked, ends. */
static void lead(int told, int asked)
{
	struct winsize size = {33, 44, 0, 0};
	int terminal;
	char byte;

	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	must(setsid(), "setsid");
	must(terminal = open("/dev/console", O_RDWR | O_NOCTTY), "/dev/console");
	must(ioctl(terminal, TIOCSCTTY, 1), "TIOCSCTTY");
	pid_t group = 0;
	while (group < FIRST) { /* lower ones are given once */
		if (group)
			end(group);
		must(group = fork(), "fork");
		if (!group)
			for (;;)
				pause();
	}
	must(setpgid(group, group), "setpgid");
	must(tcsetpgrp(terminal, group), "tcsetpgrp");
	end(group);
	write(told, &group, sizeof(group));
	read(asked, &byte, 1);
	must(ioctl(terminal, TIOCSWINSZ, &size), "TIOCSWINSZ");
	_exit(0);
}

/* Until @asked says so: then what it got goes to @told. */
static void be_victim(int told, int asked)
{
	char byte;

	signal(SIGWINCH, get);
	signal(SIGHUP, get);
	must(setsid(), "setsid");
	write(told, "", 1);
	while (read(asked, &byte, 1) < 0)
		;
	printf("size: %s, ", got_size ? "told" : "nothing");
	printf("end: %s\n", got_end ? "told" : "nothing");
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	int of_leader[2], to_leader[2], of_victim[2], to_victim[2], status;
	pid_t group, child = 0;
	char byte;

	pipe(of_leader);
	pipe(to_leader);
	pipe(of_victim);
	pipe(to_victim);
	pid_t leader = fork();
	if (!leader)
		lead(of_leader[1], to_leader[0]);
	read(of_leader[0], &group, sizeof(group));
	for (int i = 0; i < PIDS && child != group; i++) {
		must(child = fork(), "fork");
		if (!child && getpid() == group)
			be_victim(of_victim[1], to_victim[0]);
		if (!child)
			_exit(0);
		if (child != group)
			waitpid(child, &status, 0);
	}
	if (child != group) {
		printf("no process has that number\n");
		return 1;
	}
	read(of_victim[0], &byte, 1);
	write(to_leader[1], "", 1);
	waitpid(leader, &status, 0);
	usleep(100000);
	write(to_victim[1], "", 1);
	waitpid(child, &status, 0);
	return 0;
}
