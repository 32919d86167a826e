/*
 * hash.c - asks a submitted name hash: on standard input names, each with the seed of the kernel's
 * keys and the salt, on standard output their hashes. For the sandbox (lab/grade/flood/asked.py).
 *
 * A question: the seed and the salt, eight bytes each, the name's length in two, the name, and
 * SLACK bytes of anything, as behind a name in the kernel.
 */
#include <stdint.h>
#include <string.h>

#include "core/base/types.h"
#include "hash/shared.h"
#include "core/random.h"
#include "lab/grade/function/pipe.h"

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

int main(void)
{
	const char *const end = asked + pipe_take(asked, sizeof(asked));
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
	return pipe_give(answers, count * sizeof(answers[0])) ? 0 : 1;
}
