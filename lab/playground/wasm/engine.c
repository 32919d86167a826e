/*
 * engine.c - one cache in one structure, around the kernel's own table code, for the page: runs
 * operations, shows the way of one of them, tells bucket sizes and the kernel's own report.
 *
 * Compiled once for each cache and structure (lab/playground/module.py): -DREPLAY_PAGE ... says
 * which cache, -DENGINE=page_chained what the functions' names begin with. The hash functions come
 * as pointers, so that one engine serves them all, a formula of the page among them. What is found
 * must be what the kernel found, as in a replay on the host (lab/record/replay.c).
 */
#include "hash/cache.h"
#include "core/kernel.h"
#include "core/log/text.h"
#include "lab/playground/wasm/engine.h"
#include "lab/record/cache.h"

#define ENGINE_PASTE_(a, b) a##_##b
#define ENGINE_PASTE(a, b) ENGINE_PASTE_(a, b)
/* What of a key's second word its bucket depends on: a path's is for comparing alone
 * (fs/path/direct/find.h). */
#ifdef REPLAY_PATH
#define HASHED_SECOND(second) 0
#else
#define HASHED_SECOND(second) (second)
#endif

#define E(name) __attribute__((visibility("default"), used)) ENGINE_PASTE(ENGINE, name)

static bucket_function bucket_function_given;
static name_function name_function_given;
static u32 sizes_room;

/*
 * Begin with an empty table of 1 << @bits buckets. @object_count and @root_count: the numbers of
 * the stream's objects and owners are below these. @function: its name, for the report, which
 * stays. False, with a complaint: there is no memory.
 */
bool E(begin)(u32 bits, u32 object_count, u32 root_count, bucket_function function,
	      name_function names, const char *function_name)
{
	heap_begin();
	objects = heap_take((object_count + 1ull) * sizeof(*objects));
	roots = heap_take((root_count + 1ull) * sizeof(*roots));
	if (!objects || !roots) {
		complain("no memory for the objects");
		return false;
	}
	memset(counters, 0, sizeof(counters));
	memset(&table, 0, sizeof(table));
	bucket_function_given = function;
	name_function_given = names;
	cache.function = function_name;
	cache.rule = "replay";
	cache.bytes = 0;
	cache.entries = 1ull << (bits + WORDS_BITS); /* for hash_cache_create() */
	for (u32 i = 0; i < root_count; i++)
		T(root_init)(&roots[i]);
	T(create)(&table, &cache);
	/* A table that grows with its objects has at most so many buckets. */
	sizes_room = (cache.trees ? root_count : (u32)cache.entries + object_count) + 1;
	sizes = heap_take(sizes_room * (u64)sizeof(*sizes));
	if (!sizes)
		complain("no memory for the table");
	return sizes;
}

/* The bucket of @from's key, whose second word is then *@second. */
static __always_inline u32 bucket_of(const struct operation *from, u64 *second)
{
	*second = from->second;
#ifdef REPLAY_DENTRY
	*second = name_function_given(from->first, from->name, from->length);
#endif
	if (cache.trees)
		return 0;
	return bucket_function_given(from->first, HASHED_SECOND(*second), cache.bits);
}

/* NULL, or what is wrong. */
static __always_inline const char *step(const struct operation *from)
{
	unsigned operation = from->kind & KIND_OPERATION;
	u64 steps = 0, compares = 0, second;
	const struct object *expected, *found;
	struct key key;
	u32 bucket;

	if (operation == HASH_REPORT)
		return NULL;
	bucket = bucket_of(from, &second);
	if (unlikely(bucket >> cache.bits && !cache.trees))
		return "the hash function gives a bucket that the table has not";
	if (operation == HASH_INSERT || operation == HASH_REMOVE)
		return change(from, bucket, second);
	key = (struct key){from->first, second, from->name, from->length, &compares};
	found = T(find)(&table, &roots[from->root], bucket, &key, compare, &steps);
	expected = from->object == NONE ? NULL : &objects[from->object];
	if (unlikely(found != expected))
		return found ? "an object is found that the kernel did not find"
			     : "an object is not found that the kernel found";
	if (operation == HASH_FIND) { /* a look is not counted */
		hash_count_find(&counters[0], found, steps);
		counters[0].compares += compares;
	}
	return NULL;
}

/* Operations @from to before @to, after those before them. Returns @to, or the operation that
 * cannot be, with a complaint. */
u32 E(run)(u32 from, u32 to)
{
	for (u32 i = from; i < to; i++) {
		const char *wrong = step(&operations[i]);

		if (unlikely(wrong != NULL)) {
			complain(wrong);
			return i;
		}
	}
	return to;
}

/* ---- showing --------------------------------------------------------------------------------- */

static struct shown shown_object(const struct object *object)
{
	return (struct shown){object->first, object->second, object->name, object->length,
			      (u32)(object - objects)};
}

static void show(const struct object *object)
{
	if (trace.length < SHOWN)
		trace.chain[trace.length] = shown_object(object);
	trace.length++;
}

/* compare() that shows what it is asked about. */
static int compare_shown(const struct object *object, const struct key *key)
{
	show(object);
	return compare(object, key);
}

/* Nothing is ever the key: so a walk goes to its end. */
static int compare_all(const struct object *object, const struct key *key)
{
	show(object);
	return 1;
}

/* All of @bucket, of which what the walk of @key visits is shown already. */
static void show_bucket(u32 bucket, const struct key *key)
{
#ifdef REPLAY_TAGGED
	/* A walk leaves out what has another tag: those come behind. */
	u32 visited = min(trace.length, (u32)SHOWN);

	for (struct object *at = NULL; (at = T(next)(&table, bucket, at));) {
		bool shown = false;

		for (u32 i = 0; i < visited && !shown; i++)
			shown = trace.chain[i].object == (u32)(at - objects);
		if (!shown)
			show(at);
	}
#else
	u64 walked = 0;

	trace.length = 0;
	T(find)(&table, &roots[0], bucket, key, compare_all, &walked);
#endif
}

/*
 * Where operation @at leads in the table as it is now: the walk of its key, and in a table of
 * buckets all of its chain. Changes nothing and counts nothing.
 */
struct trace *E(trace)(u32 at)
{
	const struct operation *from = &operations[at];
	struct T(root) *root = &roots[from->root];
	u64 ignored = 0, second, walked = 0;
	struct key key;

	memset(&trace, 0, sizeof(trace));
	trace.kind = from->kind;
	if ((from->kind & KIND_OPERATION) == HASH_REPORT)
		return &trace;
	trace.bucket = bucket_of(from, &second);
	trace.key = (struct shown){from->first, second, from->name, from->length, from->object};
	key = (struct key){from->first, second, from->name, from->length, &ignored};
	T(find)(&table, root, trace.bucket, &key, compare_shown, &walked);
	trace.walked = (u32)walked;
	if (!cache.trees)
		show_bucket(trace.bucket, &key);
	return &trace;
}

static void note_size(u64 size, void *argument)
{
	u32 *count = argument;

	if (*count < sizes_room)
		sizes[(*count)++] = (u32)size;
}

/* Walk the table into `sizes`; how many there are. */
u32 E(sizes)(void)
{
	u32 count = 0;

	cache.walk(&table, note_size, &count);
	return count;
}

/* Lookups of each kind and their steps so far: struct hash_counters. */
const struct hash_counters *E(counters)(void)
{
	return counters;
}

/* The kernel's report as JSON (docs/kernel/counters.md), terminated; until the next call. */
const char *E(report)(void)
{
	static struct text text;

	text.length = 0;
	hash_report_json(&cache, &text);
	text_write(&text, "", 1);
	return text.error ? NULL : text.data;
}
