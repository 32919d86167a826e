/*
 * record.c - key streams: every operation of the caches, written to memory that the machine's
 * host reads as a file while we run and afterwards (lab/record, docs/lab/key-streams.md).
 *
 * The memory begins with a head that always tells how much there is; records follow, of one size,
 * in the order they happened. The names of dentries stand at its other end: each record's in front
 * of those of the records before it. Once the two meet, nothing more is kept, only counted.
 *
 * record_lock is innermost. Process context, as all operations of the caches.
 */
#ifdef CONFIG_RECORD_KEYS
#include "boot/boot_info.h"
#include "hash/cache.h"
#include "core/kernel.h"

struct record_head {
	char magic[8];
	u64 bytes;	/* of it all, this head included */
	u64 operations; /* records that follow */
	u64 name_bytes; /* of names at the end */
	u64 lost;	/* operations after it was full */
	u64 unused[3];
};

struct record {
	u8 cache, operation, cpu, unused; /* enum hash_cache_number, enum hash_operation */
	u32 length;			  /* of its name */
	u64 first, second;		  /* the key; of a dentry parent and name hash */
	u64 object;			  /* its address; 0: not found */
};

static struct record_head *head;
static DEFINE_SPINLOCK(record_lock);

void hash_record(enum hash_cache_number cache, enum hash_operation operation, const void *object,
		 u64 first, u64 second, const char *name, u32 length)
{
	if (!head)
		return;
	guard(spinlock, &record_lock);
	struct record *record = (struct record *)(head + 1) + head->operations;
	char *names = (char *)head + head->bytes - head->name_bytes - length;

	if (head->lost || (char *)(record + 1) > names) {
		head->lost++;
		return;
	}
	*record = (struct record){(u8)cache, (u8)operation, (u8)cpu_id(), 0,
				  length,    first,	    second,	  (uintptr_t)object};
	memcpy(names, name, length);
	head->name_bytes += length;
	WRITE_ONCE(head->operations, head->operations + 1);
}

void hash_record_init(void)
{
	u64 size;

	if (!cmdline_u64("record", &size) || size < PAGE_SIZE)
		return;

	size_t bytes = round_down(size, PAGE_SIZE);

	head = boot_alloc_top(&bytes);
	*head = (struct record_head){.magic = "CWRECORD", .bytes = bytes};
}
#endif
