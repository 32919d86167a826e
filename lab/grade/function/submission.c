/*
 * submission.c - a submitted header as the kernel takes it, and a function around it that ask.c can
 * call. SUBMISSION is the header's name, SUBMITTED(first, second, bits) a call of its function.
 */
#include "core/base/types.h"
#include "hash/shared.h"

#include SUBMISSION

u32 submission_bucket(u64 first, u64 second, unsigned bits);
u32 submission_bucket(u64 first, u64 second, unsigned bits)
{
	return SUBMITTED(first, second, bits);
}
