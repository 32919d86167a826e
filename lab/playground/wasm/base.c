/*
 * base.c - the ground of the module: the kernel's statistics and formats as they are, and what they
 * and the engines ask of a machine (memory, a panic, the compiler's own calls) in a few lines.
 *
 * Memory grows upward and is never given back piece by piece: first the operations (heap_keep()),
 * then what the engine at work takes, which all goes when another begins. What reports take stays.
 */
#include "hash/shared.h"
#include "hash/cache.h"
#include "core/kernel.h"
#include "lab/playground/wasm/engine.h"
#include "hash/random.c"
#include "hash/report.c"
#include "core/log/text.c"
#include "core/base/format.c"

#define EXPORTED __attribute__((visibility("default"), used))
#define WASM_PAGE 65536

struct operation *operations;
u32 operation_count;
struct trace trace;
u32 *sizes;

struct cpu cpus[NR_CPUS];
struct lock_class lock_classes[LOCK_CLASSES];

extern char __heap_base; /* the linker's: the first byte behind all that is static */
static size_t heap_end, heap_kept;
static char complaint[200];

/* ---- memory ---------------------------------------------------------------------------------- */

void *heap_take(u64 bytes)
{
	size_t begin = round_up(heap_end ? heap_end : (size_t)&__heap_base, (size_t)64);
	u64 end = begin + bytes, there = (u64)__builtin_wasm_memory_size(0) * WASM_PAGE;

	if (end > there) {
		u64 pages = DIV_ROUND_UP(end - there, WASM_PAGE);

		if (end >> 31 || __builtin_wasm_memory_grow(0, (size_t)pages) == (size_t)-1)
			return NULL;
	}
	heap_end = (size_t)end;
	memset((void *)begin, 0, (size_t)bytes);
	return (void *)begin;
}

void heap_begin(void)
{
	heap_end = heap_kept;
}

/* For the page: memory that stays until heap_forget(). */
EXPORTED void *heap_keep(u32 bytes)
{
	void *memory;

	heap_begin();
	memory = heap_take(bytes);
	heap_kept = heap_end;
	return memory;
}

/* All of it is free. */
EXPORTED void heap_forget(void)
{
	heap_end = heap_kept = 0;
}

/* A report's text: it is needed again and again, and has its own place. */
void *kmalloc(size_t size, unsigned gfp)
{
	static char place[2][1 << 16] __aligned(16);
	static unsigned turn;

	return size <= sizeof(place[0]) ? place[turn++ % 2] : NULL;
}

void kfree(const void *object)
{
}

void *hash_cache_create(struct hash_cache *cache, size_t entry_bytes)
{
	/* An entry is made of pointers, which in the kernel have 8 bytes. That much is taken here,
	 * too: in a bucket of tagged.h numbers of 8 bytes stand between them. */
	u64 bytes = cache->entries * entry_bytes * 8 / sizeof(void *);
	void *buckets = heap_take(bytes);

	if (!buckets)
		panic("no memory for a table of %llu buckets", cache->entries);
	cache->bits = (unsigned)ilog2(cache->entries);
	cache->bytes = bytes;
	return buckets;
}

/* ---- what is wrong --------------------------------------------------------------------------- */

void complain(const char *sentence)
{
	strlcpy(complaint, sentence, sizeof(complaint));
}

EXPORTED const char *complaint_said(void)
{
	return complaint;
}

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vscnprintf(complaint, sizeof(complaint), format, arguments);
	va_end(arguments);
	__builtin_trap(); /* the page catches it, and asks what was said */
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

/* "%pS" is not for here. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	return NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

/*
 * Expand columns, all in memory that heap_keep() gave, into `operations`. @keys have no names where
 * @lengths is NULL. Returns @count, or the number of an operation that cannot be.
 */
EXPORTED u32 operations_expand(u32 count, u32 object_count, const u8 *kinds,
			       const u32 *object_column, const u64 *first, const u64 *second,
			       const u32 *root_column, const u16 *lengths, const char *names)
{
	const struct columns columns = {kinds,	     object_column, first, second,
					root_column, lengths,	    names};
	u64 *came;

	operations = heap_keep(count * sizeof(*operations));
	came = heap_take((object_count + 1ull) * sizeof(*came));
	if (!operations || !came)
		return 0;
	operation_count = count;
	return (u32)operation_expand(&columns, count, came, operations);
}

/* The numbers of the keyed functions. */
EXPORTED void seed_set(u64 seed)
{
	hash_random_init(seed);
}

EXPORTED const u32 *sizes_walked(void)
{
	return sizes;
}

/* ---- the compiler's own calls ---------------------------------------------------------------- */

void *memcpy(void *to, const void *from, size_t n)
{
	return __builtin_memcpy(to, from, n); /* one instruction of this machine */
}

void *memset(void *to, int byte, size_t n)
{
	return __builtin_memset(to, byte, n);
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *left = a, *right = b;

	for (size_t i = 0; i < n; i++)
		if (left[i] != right[i])
			return left[i] - right[i];
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t strnlen(const char *s, size_t most)
{
	size_t n = 0;

	while (n < most && s[n])
		n++;
	return n;
}

/* Numbers of 128 bits by halves of 64. */
typedef union {
	unsigned __int128 whole;
	struct {
		u64 low, high;
	};
} wide;

unsigned __int128 __multi3(unsigned __int128 a, unsigned __int128 b)
{
	wide x = {.whole = a}, y = {.whole = b}, product;
	u64 x0 = (u32)x.low, x1 = x.low >> 32, y0 = (u32)y.low, y1 = y.low >> 32;
	u64 low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (u32)middle;

	product.low = other << 32 | (u32)low;
	product.high = x1 * y1 + (middle >> 32) + (other >> 32) + x.high * y.low + x.low * y.high;
	return product.whole;
}

unsigned __int128 __ashlti3(unsigned __int128 value, int count)
{
	wide x = {.whole = value};

	if (count >= 64)
		return ((wide){.high = x.low << (count - 64)}).whole;
	if (count)
		x = (wide){.low = x.low << count, .high = x.high << count | x.low >> (64 - count)};
	return x.whole;
}

unsigned __int128 __lshrti3(unsigned __int128 value, int count)
{
	wide x = {.whole = value};

	if (count >= 64)
		return ((wide){.low = x.high >> (count - 64)}).whole;
	if (count)
		x = (wide){.low = x.low >> count | x.high << (64 - count), .high = x.high >> count};
	return x.whole;
}
