/*
 * hash.c - asks a submitted name hash: on standard input names, each with the seed of the kernel's
 * keys and the salt, on standard output their hashes. For the sandbox (lab/grade/flood/asked.py).
 *
 * A question: the seed and the salt, eight bytes each, the name's length in two, the name, and
 * SLACK bytes of anything, as behind a name in the kernel.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/base/types.h"
#include "hash/shared.h"
#include "core/random.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#include "hash/keys.h"

#define MOST_BYTES (64 << 20)
#define MOST_NAMES (1 << 20)
#define HEAD 18
#define SLACK 7

u32 submission_hash(uintptr_t salt, const char *name, size_t length);

static char asked[MOST_BYTES];
static u32 answers[MOST_NAMES];

static size_t take_all(void)
{
	size_t have = 0;

	while (have < sizeof(asked)) {
		ssize_t n = read(STDIN_FILENO, asked + have, sizeof(asked) - have);

		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

static bool give(const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = write(STDOUT_FILENO, (const char *)from + done, bytes - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int main(void)
{
	const char *const end = asked + take_all();
	u64 drawn = 0, seed, salt;
	size_t count = 0;
	uint16_t length;

	draw_keys(drawn);
	for (const char *at = asked; end - at >= HEAD && count < MOST_NAMES; count++) {
		memcpy(&seed, at, 8);
		memcpy(&salt, at + 8, 8);
		memcpy(&length, at + 16, 2);
		if (seed != drawn)
			draw_keys(drawn = seed);
		answers[count] = submission_hash((uintptr_t)salt, at + HEAD, length);
		at += HEAD + length + SLACK;
	}
	return give(answers, count * sizeof(answers[0])) ? 0 : 1;
}
