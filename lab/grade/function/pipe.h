/*
 * pipe.h - how a program of the sandbox is given what it is asked, on standard input, and gives
 * what comes out, on standard output.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* All @bytes of what comes, or what there is of them: how much. */
static inline size_t pipe_take(void *into, size_t bytes)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t n = read(STDIN_FILENO, (char *)into + have, bytes - have);

		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

/* false: nobody takes them. */
static inline bool pipe_give(const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(STDOUT_FILENO, (const char *)from + done, bytes - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}
