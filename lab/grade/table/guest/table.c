/*
 * table.c - a submitted structure as a cache instantiates it (fs/block/buffer.c), around objects
 * that have a key and nothing else. TABLE_HEADER and TABLE_LINK_HEADER are its headers,
 * TABLE_LINK_STRUCT and TABLE_ROOT_STRUCT what they call the parts that objects and owners embed.
 * LOCKLESS: there are several tasks, and who finds takes no lock.
 */
#include "core/base/types.h"
#include TABLE_LINK_HEADER

struct object {
	u64 first, second;
	struct TABLE_LINK_STRUCT link;
};

struct key {
	u64 first, second;
	u32 *compares;
};

#define lab_table_root TABLE_ROOT_STRUCT
#define TABLE lab_table
#define TABLE_OBJECT struct object
#define TABLE_LINK link
#define TABLE_KEY struct key
#ifdef LOCKLESS
#define TABLE_LOCK_HEADER "hash/lock/rcu.h"
/* An object's key may change while somebody looks at the object where it was. */
#define READ_KEY(word) READ_ONCE(word)
#define WRITE_KEY(word, value) WRITE_ONCE(word, value)
#else
#define TABLE_LOCK_HEADER "hash/lock/global.h"
#define READ_KEY(word) (word)
#define WRITE_KEY(word, value) ((word) = (value))
#endif
#include TABLE_HEADER

#include "table.h"

static struct lab_table table;
static struct TABLE_ROOT_STRUCT root;
static struct hash_cache cache = {.name = "buffer", .title = "Buffer", .function = "drawn"};
static unsigned wanted_bits;
const unsigned table_object_bytes = sizeof(struct object);

static __always_inline int compare(const struct object *object, const struct key *key)
{
	++*key->compares;
	const u64 second = READ_KEY(object->second);

	if (second != key->second)
		return second < key->second ? -1 : 1;
	const u64 first = READ_KEY(object->first);

	if (first != key->first)
		return first < key->first ? -1 : 1;
	return 0;
}

/* ---- what is asked --------------------------------------------------------------------------- */

void table_create(unsigned bits)
{
	wanted_bits = bits;
	T(root_init)(&root);
	T(create)(&table, &cache);
}

void table_insert(const struct asked *asked, struct object *object)
{
	WRITE_KEY(object->first, asked->first);
	WRITE_KEY(object->second, asked->second);
	T(lock)(&table, &root, asked->bucket);
	T(insert)(&table, &root, asked->bucket, object);
	T(unlock)(&table, &root, asked->bucket);
}

void table_remove(const struct asked *asked, struct object *object)
{
	T(lock)(&table, &root, asked->bucket);
	T(remove)(&table, &root, asked->bucket, object);
	T(unlock)(&table, &root, asked->bucket);
}

struct object *table_find(const struct asked *asked, u32 *steps, u32 *compares)
{
	struct key key = {asked->first, asked->second, compares};
	struct object *found;
	u64 visited = 0;

#ifndef LOCKLESS
	T(lock_to_read)(&table, &root, asked->bucket);
#endif
	found = T(find)(&table, &root, asked->bucket, &key, compare, &visited);
#ifndef LOCKLESS
	T(unlock_read)(&table, &root, asked->bucket);
#endif
	*steps = (u32)min(visited, 0xffffffffull);
	return found;
}

struct sizes {
	u64 sum, largest, filled;
};

static void add(u64 size, void *sizes)
{
	struct sizes *all = sizes;

	all->sum += size;
	all->largest = max(all->largest, size);
	all->filled += size > 0;
}

uint64_t table_walk(u32 *largest, u32 *filled)
{
	struct sizes all = {};

	cache.walk(cache.table, add, &all);
	*largest = (u32)min(all.largest, 0xffffffffull);
	*filled = (u32)min(all.filled, 0xffffffffull);
	return all.sum;
}

/* ---- what it may call ------------------------------------------------------------------------ */

/* As hash/size.c: as many entries as can be had, in powers of two. */
void *hash_cache_create(struct hash_cache *made, size_t entry_bytes)
{
	unsigned bits = wanted_bits;
	void *memory;

	while (!(memory = machine_memory(entry_bytes << bits)) && bits > 1)
		bits--;
	if (!memory)
		machine_stop(STOPPED_PANIC);
	made->bits = bits;
	made->entries = 1ull << bits;
	made->bytes = made->entries * entry_bytes;
	return memory;
}

u16 lock_class(const char *name)
{
	return 1;
}

void printk(const char *format, ...)
{
}

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
#ifdef LOCKLESS
	do
		machine_wait();
	while (__atomic_exchange_n(&lock->state, 1, __ATOMIC_ACQUIRE));
#else
	machine_stop(STOPPED_LOCKED); /* there is nobody else who would let it go */
#endif
}

void panic(const char *format, ...)
{
	machine_stop(STOPPED_PANIC);
}
