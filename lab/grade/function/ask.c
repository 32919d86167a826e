/*
 * ask.c - asks what was submitted: questions of QUESTION words come on standard input, answers go
 * to standard output. For the sandbox (oracle.py), where it is linked with what the submission is
 * in.
 *
 * Nothing here guards against the submission, which can do with this process what it likes. The
 * grader believes none of the answers: it asks again, elsewhere and in another order.
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
#include "hash/keys.h" /* the numbers of keyed functions: a submission may have use for them */

#define AT_ONCE 512
#define SEED 0x43686169u

u32 submission_answer(const u64 *question);

int main(void)
{
	static u64 asked[AT_ONCE][QUESTION];
	static u32 answers[AT_ONCE];
	size_t bytes;

	draw_keys(SEED);
	while ((bytes = pipe_take(asked, sizeof(asked))) >= sizeof(asked[0])) {
		size_t n = bytes / sizeof(asked[0]);

		for (size_t i = 0; i < n; i++)
			answers[i] = submission_answer(asked[i]);
		if (!pipe_give(answers, n * sizeof(answers[0])))
			return 1;
	}
	return 0;
}
