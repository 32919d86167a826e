/*
 * submission.c - a submitted header as the kernel takes it, and a function around it that ask.c can
 * call. SUBMISSION is the header's name, SUBMITTED(first, second, bits) a call of its function.
 */
#include "core/base/types.h"
#include "hash/shared.h"

#include SUBMISSION

u32 submission_answer(const u64 *question);
u32 submission_answer(const u64 *question)
{
	return SUBMITTED(question[0], question[1], (unsigned)question[2]);
}
