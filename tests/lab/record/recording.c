/*
 * recording.c - hash/record.c alone, in memory that the test gives.
 */
#include <stdlib.h>
#include <string.h>

#define CONFIG_RECORD_KEYS 1
#include "hash/record.c"

struct cpu cpus[NR_CPUS];
bool hosted_irqs_off;
static void *memory;
static u64 size;

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	abort(); /* nobody else is there */
}

bool cmdline_u64(const char *name, u64 *value)
{
	*value = size;
	return true;
}

void *boot_alloc_top(size_t *bytes)
{
	return memory;
}

void begin(void *given, u64 bytes)
{
	memory = given;
	size = bytes;
	hash_record_init();
}

void record(unsigned cache, unsigned operation, u64 object, u64 first, const char *name, u32 length)
{
	hash_record(cache, operation, (void *)object, first, 0, name, length);
}
