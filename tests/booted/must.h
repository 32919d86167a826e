/*
 * must.h - of a test's program: a call that must not fail. Prints which did, and ends the process,
 * be it a child or the test itself.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void must(long result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}
