/*
 * submission.c - a submitted sizing.h, and a function around it that ask.c can call. A question's
 * first word says what is asked; the others are as machines.py and exact.py write them.
 */
#include "core/base/types.h"
#include "hash/shared.h"
#include "lab/grade/sizing/given.h"

#include SUBMISSION

enum { BUCKETS, HIT, MISS, FILLING, BITS };

static u32 chosen_bits(const u64 *word)
{
	struct sizing_load load = {
		.objects = word[0],
		.hits = (u32)word[1],
		.bucket_bytes = (u32)word[2],
		.object_bytes = (u32)word[3],
		.least_bits = (u32)word[4],
		.most_bits = (u32)word[5],
	};
	struct sizing_machine machine = {.line = (u32)word[6], .caches = (u32)word[7]};

	for (unsigned i = 0; i < SIZING_CACHES; i++) {
		machine.bytes[i] = word[8 + i];
		machine.ways[i] = (u32)word[8 + SIZING_CACHES + i];
	}
	for (unsigned i = 0; i <= SIZING_CACHES; i++)
		machine.cost[i] = (u32)word[8 + 2 * SIZING_CACHES + i];
	return sizing_bits(&load, &machine);
}

/* An answer that does not fit is wrong, and looks wrong. */
static u32 cut(u64 answer)
{
	return answer > UINT32_MAX ? UINT32_MAX : (u32)answer;
}

u32 submission_answer(const u64 *question);
u32 submission_answer(const u64 *question)
{
	u64 objects = question[1];
	unsigned bits = (unsigned)question[2];

	switch (question[0]) {
	case BUCKETS:
		return cut(sizing_buckets(objects, bits, (unsigned)question[3]));
	case HIT:
		return cut(sizing_hit(objects, bits));
	case MISS:
		return cut(sizing_miss(objects, bits));
	case FILLING:
		return cut(sizing_filling(objects, bits));
	default:
		return chosen_bits(question + 1);
	}
}
