/*
 * exercise.h - hosted: use a file system that may be damaged: mount it, look at everything, change
 * a little, unmount. What may come of it are errors, and a line in the log for each that says
 * "damaged" or "I/O".
 */
#pragma once

#include "hosted/machine/hosted.h"

struct exercise_counts {
	unsigned images, mounted, unharmed; /* ... without any error */
	unsigned refused[2];		    /* not ext2 or unknown; damaged */
	u64 calls, eio, euclean, others;
};
extern struct exercise_counts exercise_counts;

void exercise(struct hosted_disk *disk, u64 seed);
