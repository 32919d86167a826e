/*
 * submission.c - a submitted header's name hash as the kernel takes it, and a function around it
 * that hash.c can call.
 */
#include "core/base/types.h"
#include "hash/shared.h"

#include SUBMISSION

u32 submission_hash(uintptr_t salt, const char *name, size_t length);
u32 submission_hash(uintptr_t salt, const char *name, size_t length)
{
	return name_hash(salt, name, length);
}
