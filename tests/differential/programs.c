/*
 * programs.c - what real programs were seen to do when they failed here and not on Linux.
 */
#include "scenarios.h"

/* bash's process substitution: comm <(...) opens /dev/fd/63 when its writer may have gone already. */
SCENARIO(pipe_opened_again)
{
	char name[32], byte;
	int fds[2], again;

	alarm(5); /* a hang is the end of the scenario */
	T(pipe(fds));
	T(write(fds[1], "xy", 2));
	close(fds[1]);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fds[0]);
	again = open(name, O_RDONLY);
	T(again >= 0);
	T(read(again, &byte, 1));
	T(read(fds[0], &byte, 1));
	T(read(again, &byte, 1));
	T(open(name, O_WRONLY | O_NONBLOCK) >= 0);
}
