/*
 * replay.c - one cache's recorded operations through one choice of functions, structure and size,
 * in this process: the kernel's own headers and statistics around a plain array of objects.
 *
 * Compiled once for each choice as a shared object, by lab/record/engine.py: -DREPLAY_PAGE ... says
 * which cache's, and the headers that hash/choose.py wrote say what is chosen. The operations come
 * expanded, one struct operation each, so that a key is read from where a caller would have it, and
 * not from the object that is looked for.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hash/cache.h"
#include "core/kernel.h"
#include "lab/record/operation.h"
#include "hash/random.c"
#include "hash/report.c"
#include "core/log/text.c"
#include "core/base/format.c"

/* "%pS" is not for here. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	return NULL;
}

/* ---- the cache ------------------------------------------------------------------------------- */

#include "lab/record/cache.h"

#if defined(REPLAY_PAGE)
#define HASH(first, second, bits) page_hash((uintptr_t)(first), second, bits)
#elif defined(REPLAY_BUFFER)
#define HASH(first, second, bits) buffer_hash((u32)(first), second, bits)
#elif defined(REPLAY_INODE)
#define HASH(first, second, bits) inode_hash((uintptr_t)(first), second, bits)
#elif defined(REPLAY_SWAP)
#define HASH(first, second, bits) swap_hash((u32)(first), second, bits)
#elif defined(REPLAY_PATH)
#define HASH(first, second, bits) path_hash(first, 0, bits)
#else
#define HASH(first, second, bits) dentry_hash((uintptr_t)(first), (u32)(second), bits)
#endif

static void *buckets;
static u64 table_entries;

/* ---- what the kernel's code asks for --------------------------------------------------------- */

struct cpu cpus[NR_CPUS];
bool hosted_irqs_off;
struct lock_class lock_classes[LOCK_CLASSES];
static jmp_buf out_of_here;
static char complaint[200], rule_given[32];

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(complaint, sizeof(complaint), format, arguments);
	longjmp(out_of_here, 1);
}

void printk(const char *format, ...)
{
}

u16 lock_class(const char *name)
{
	return 0;
}

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	panic("a lock that nobody holds is taken");
}

void *kmalloc(size_t size, unsigned gfp)
{
	return malloc(size);
}

void kfree(const void *object)
{
	free((void *)object);
}

void *hash_cache_create(struct hash_cache *made, size_t entry_bytes)
{
	buckets = calloc(table_entries, entry_bytes);
	if (!buckets)
		panic("no memory for a table of %llu buckets", (unsigned long long)table_entries);
	made->entries = table_entries;
	made->bits = (unsigned)ilog2(table_entries);
	made->bytes = table_entries * entry_bytes;
	return buckets;
}

/* ---- for engine.py --------------------------------------------------------------------------- */

const char *replay_complaint(void)
{
	return complaint;
}

unsigned replay_operation_bytes(void)
{
	return sizeof(struct operation);
}

/* operation_expand() (operation.h) for engine.py. */
u64 replay_expand(const u8 *kinds, u64 n, const u32 *object_column, const u64 *first,
		  const u64 *second, const u32 *root_column, const u16 *lengths, const char *names,
		  u32 count, struct operation *out)
{
	const struct columns columns = {kinds,	     object_column, first, second,
					root_column, lengths,	    names};
	u64 *came = calloc(count + 1ull, sizeof(*came)), done = 0;

	if (came)
		done = operation_expand(&columns, n, came, out);
	free(came);
	return done;
}

/* Give back what replay_begin() took. */
void replay_end(void)
{
	free(objects);
	free(roots);
	free(buckets);
	objects = NULL;
	roots = NULL;
	buckets = NULL;
}

/* Begin with an empty table of @bits; 0, or -1 and a complaint. @rule goes into the report. */
int replay_begin(unsigned bits, u32 object_count, u32 root_count, u64 seed, const char *rule)
{

	replay_end();
	if (setjmp(out_of_here))
		return -1;
	table_entries = 1ull << (bits + WORDS_BITS);
	objects = calloc(object_count + 1ull, sizeof(*objects));
	roots = calloc(root_count + 1ull, sizeof(*roots));
	if (!objects || !roots)
		panic("no memory for %u objects", object_count);
	hash_random_init(seed);
	memset(counters, 0, sizeof(counters));
	memset(&table, 0, sizeof(table));
	cache.bytes = 0;
	snprintf(rule_given, sizeof(rule_given), "%s", rule);
	cache.rule = rule_given;
	for (u32 i = 0; i < root_count; i++)
		T(root_init)(&roots[i]);
	T(create)(&table, &cache);
	return 0;
}

/* CPU time of this thread since @begin, in nanoseconds. */
static u64 since(const struct timespec *begin)
{
	struct timespec end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return (u64)(end.tv_sec - begin->tv_sec) * NSEC_PER_SEC + (u64)end.tv_nsec -
	       (u64)begin->tv_nsec;
}

/* The bucket, and the name hash in *@second where there is a name. */
static __always_inline u32 bucket_of(const struct operation *from, u64 *second, unsigned bits)
{
	*second = from->second;
#ifdef REPLAY_DENTRY
	*second = hash_of_component(from->first, from->name, from->length);
#endif
	return HASH(from->first, *second, bits);
}

#ifdef REPLAY_DENTRY
/* Buckets and name hashes of @count operations. Before all walks, since no processor guesses how
 * long a name is; false: one is not as it was recorded, though it should be. */
static __always_inline bool hash_names(const struct operation *from, u32 count, bool same_names,
				       u64 *second, u32 *bucket)
{
	u64 differs = 0;

	for (u32 i = 0; i < count; i++) {
		bucket[i] = bucket_of(&from[i], &second[i], cache.bits);
		differs |= second[i] ^ from[i].second;
	}
	return !same_names || !differs;
}
#endif

/*
 * @count finds in a row, FIND_ROW at most, all of them hits or (@hits is false) misses, in the
 * kernel. Are they here? Then they are counted.
 *
 * They change nothing, so what is wrong can be looked for afterwards. How many objects a walk
 * visits cannot be guessed: the processor goes wrong at the end of most walks, and what it has
 * begun of the next is lost. So there is no branch in here on what was found, and as little as
 * possible besides the walk.
 */
static __always_inline bool find_row(const struct operation *from, u32 count, bool hits,
				     bool same_names)
{
	const u64 beyond = cache.trees ? 1ull << 32 : cache.entries;
	const unsigned bits = cache.bits;
	u64 wrong = 0, steps = 0, compares = 0;
#ifdef REPLAY_DENTRY
	u64 seconds[FIND_ROW];
	u32 buckets_of[FIND_ROW];

	if (!hash_names(from, count, same_names, seconds, buckets_of))
		return false;
#endif
	for (u32 i = 0; i < count; i++) {
		const struct operation *at = &from[i];
		const struct object *expected = hits ? &objects[at->object] : NULL, *found;
		u64 second;
		u32 bucket;

#ifdef REPLAY_DENTRY
		second = seconds[i];
		bucket = buckets_of[i];
#else
		bucket = bucket_of(at, &second, bits);
#endif
		struct key key = {at->first, second, at->name, at->length, &compares};

		if (unlikely(bucket >= beyond))
			return false;
		found = T(find)(&table, &roots[at->root], bucket, &key, compare, &steps);
		wrong |= (uintptr_t)expected ^ (uintptr_t)found;
	}
	if (wrong)
		return false;
	*(hits ? &counters[0].hits : &counters[0].misses) += count;
	*(hits ? &counters[0].hit_steps : &counters[0].miss_steps) += steps;
	counters[0].compares += compares;
	return true;
}

/* Any operation but a counted find; or one that is known to be wrong. NULL, or what is wrong. */
static const char *step(const struct operation *from, bool same_names)
{
	const struct object *expected = from->object == NONE ? NULL : &objects[from->object],
			    *found;
	unsigned operation = from->kind & KIND_OPERATION;
	u64 steps = 0, compares = 0, second;
	struct key key;
	u32 bucket;

	if (operation == HASH_REPORT)
		return NULL;
	bucket = bucket_of(from, &second, cache.bits);
	if (bucket >> cache.bits && !cache.trees)
		return "the hash function gives a bucket that the table has not";
	if (same_names && second != from->second)
		return "the name hash gives another value than it gave the kernel";
	if (operation == HASH_INSERT || operation == HASH_REMOVE)
		return change(from, bucket, second);
	key = (struct key){from->first, second, from->name, from->length, &compares};
	found = T(find)(&table, &roots[from->root], bucket, &key, compare, &steps);
	if (found == expected)
		return NULL;
	return found ? "an object is found that the kernel did not find"
		     : "an object is not found that the kernel found";
}

/* Operations from *@at on, to before @to or the first that is wrong, which is then *@at: NULL, or
 * what is wrong with it. Not one with replay_run(): setjmp() keeps variables out of registers. */
static __attribute__((__noinline__)) const char *run(const struct operation *operations, u64 *at,
						     u64 to, bool same_names)
{
	const char *wrong = NULL;
	u64 i = *at;
	bool right;

	while (i < to && !wrong) {
		u32 finds = (u32)min((u64)operations[i].finds, to - i);

		if (operations[i].kind & KIND_FOUND)
			right = finds && find_row(&operations[i], finds, true, same_names);
		else
			right = finds && find_row(&operations[i], finds, false, same_names);
		if (right) {
			i += finds;
			continue;
		}
		for (u64 end = i + max(finds, 1u); i < end && !wrong; i++)
			wrong = step(&operations[i], same_names);
	}
	*at = wrong ? i - 1 : i;
	return wrong;
}

/*
 * Operations @from to before @to, after those before them. @same_names: name hashes must come out
 * as recorded. Returns @to, or the operation that cannot be, with a complaint; adds the CPU time to
 * *@nanoseconds.
 */
u64 replay_run(const struct operation *operations, u64 from, u64 to, bool same_names,
	       u64 *nanoseconds)
{
	const char *wrong;
	struct timespec begin;
	u64 at = from;

	if (setjmp(out_of_here))
		return from;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	wrong = run(operations, &at, to, same_names);
	*nanoseconds += since(&begin);
	if (wrong)
		snprintf(complaint, sizeof(complaint), "%s", wrong);
	return at;
}

#ifdef REPLAY_CHAINED
#include "lab/record/plain.h"
#endif

/* The kernel's report of the table as it is now, as text or JSON, terminated, into @out; its
 * length. */
u64 replay_report(bool json, char *out, u64 size)
{
	struct text text = {0};
	u64 length;

	(json ? hash_report_json : hash_report_text)(&cache, &text);
	length = text.length;
	if (length < size) {
		memcpy(out, text.data, length);
		out[length] = '\0';
	}
	kfree(text.data);
	return length;
}
