/*
 * halves.h - an instruction that reads a word and writes it, without the lock prefix, is two
 * accesses: other processors come in between. With the machine's one processor nobody could; so if
 * its task is to stop behind the first, what was written is taken out again, and written when the
 * task goes on. Included once, by interleave.c.
 */
#pragma once

#include "lists.h"

struct half {
	uint64_t address;
	unsigned bytes; /* 0: there is none */
	uint8_t word[16];
};

static struct half read_first;	/* in the instruction that is executed: what stood there */
static struct half late[TASKS]; /* what each has still to write */

/* An instruction that is not locked has read: its task is to stop here. */
static void stop_half_way(uint64_t address, unsigned bytes)
{
	if (bytes <= sizeof(read_first.word) && address <= GUEST_MEMORY - bytes) {
		read_first = (struct half){address, bytes, {}};
		memcpy(read_first.word, at(address), bytes);
	}
}

/* It has written, too: only to where it has read can that be put off. */
static void put_off(unsigned task, uint64_t address, unsigned bytes)
{
	if (read_first.address != address || read_first.bytes != bytes)
		return;
	late[task] = read_first;
	memcpy(late[task].word, at(address), bytes);
	memcpy(at(address), read_first.word, bytes);
	read_first.bytes = 0;
}

/* @task goes on. */
static void second_half(unsigned task)
{
	if (late[task].bytes)
		memcpy(at(late[task].address), late[task].word, late[task].bytes);
	late[task].bytes = 0;
}
