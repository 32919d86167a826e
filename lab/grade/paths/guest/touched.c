/*
 * touched.c - what gcc's sanitizer of addresses (-fsanitize=kernel-address) calls before each
 * access to memory of the file that is judged, and of no other: the machine ends where that is
 * none of its own, and says where.
 *
 * Two kinds of memory are known. Behind each of the file's variables the compiler leaves room,
 * which nobody may touch. And what the file has from kmalloc() comes from here: a block has such a
 * room behind it, too, and is never given out again, so that who still touches it after kfree() is
 * seen. All other memory is others', of which is not known what may be touched: dentries, the path
 * that was asked for, what other allocators give, the stack.
 *
 * Who reads may read the whole word of eight bytes in which something ends, as the kernel's own
 * load_word() does; who writes may not.
 *
 * The kernel's own names of these functions were changed in the object (machine.py). There is one
 * CPU, and no lock: tasks take their blocks by an atomic addition.
 */
#include "core/log/assert.h"
#include "core/memory/slab.h"

#define WORD 8u
#define ROOM (8u << 20) /* bytes; when they are used up, the kernel's own kmalloc() is asked */
#define BEHIND 64u	/* bytes that nobody may touch, behind each block */
#define MOST_ALIGNED 4096u

/* What the compiler says of a variable (struct __asan_global of gcc 7 and newer). */
struct variable {
	uintptr_t begin;
	size_t size, size_with_room;
	const void *unused[5];
};

/* Functions of the file that tell of its variables; none, if it has no variable. In a kernel nobody
 * calls them. */
extern void (*const __start_variables_told[])(void) __attribute__((weak));
extern void (*const __stop_variables_told[])(void) __attribute__((weak));

static const struct variable *variables;
static size_t variable_count;

static u8 room[ROOM] __aligned(MOST_ALIGNED);
static u8 given[ROOM / WORD]; /* how many bytes of a word may be touched */
static size_t used;	      /* bytes of `room` */

/* Stands before a block. */
struct head {
	size_t size;
	const void *block; /* itself; what is freed and begins no block has something else here */
};

void __asan_register_globals(const struct variable *told, size_t count);
void __asan_register_globals(const struct variable *told, size_t count)
{
	variables = told;
	variable_count = count;
}

void __asan_unregister_globals(const struct variable *told, size_t count);
void __asan_unregister_globals(const struct variable *told, size_t count)
{
}

static void learn_variables(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	for (void (*const *tell)(void) = __start_variables_told; tell < __stop_variables_told;
	     tell++)
		(*tell)();
}

static bool is_in_room(uintptr_t address)
{
	return address - (uintptr_t)room < ROOM;
}

/* May all of these @size bytes be touched, which begin in `room`? */
static bool is_given(uintptr_t address, size_t size, bool writes)
{
	for (uintptr_t end = address + size; address < end; address = (address | (WORD - 1)) + 1) {
		size_t word = (address - (uintptr_t)room) / WORD;
		size_t last = end - 1 < (address | (WORD - 1)) ? (end - 1) % WORD : WORD - 1;

		if (word >= ROOM / WORD || !given[word] || (writes && last >= given[word]))
			return false;
	}
	return true;
}

/* Does one of these @size bytes lie in the room behind a variable? */
static bool is_behind_variable(uintptr_t address, size_t size, bool writes)
{
	learn_variables();
	for (size_t i = 0; i < variable_count; i++) {
		const struct variable *one = &variables[i];
		size_t own = writes ? one->size : (one->size + WORD - 1) & ~(size_t)(WORD - 1);

		if (address < one->begin + one->size_with_room && address + size > one->begin + own)
			return true;
	}
	return false;
}

static void touch(uintptr_t address, size_t size, bool writes, const void *where)
{
	const char *what = writes ? "written" : "read";

	if (!size)
		return;
	if (is_in_room(address) && !is_given(address, size, writes))
		panic("undefined behaviour at %p: memory is %s that was freed, or outside a block",
		      where, what);
	if (is_behind_variable(address, size, writes))
		panic("undefined behaviour at %p: memory is %s behind the end of a variable", where,
		      what);
}

#define WHERE __builtin_return_address(0)

#define SIZED(size)                                                                                \
	void __asan_load##size(uintptr_t address);                                                 \
	void __asan_load##size(uintptr_t address)                                                  \
	{                                                                                          \
		touch(address, size, false, WHERE);                                                \
	}                                                                                          \
	void __asan_store##size(uintptr_t address);                                                \
	void __asan_store##size(uintptr_t address)                                                 \
	{                                                                                          \
		touch(address, size, true, WHERE);                                                 \
	}

SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

void __asan_loadN(uintptr_t address, size_t size);
void __asan_loadN(uintptr_t address, size_t size)
{
	touch(address, size, false, WHERE);
}

void __asan_storeN(uintptr_t address, size_t size);
void __asan_storeN(uintptr_t address, size_t size)
{
	touch(address, size, true, WHERE);
}

void __asan_handle_no_return(void);
void __asan_handle_no_return(void)
{
}

/* ---- in the place of the kernel's functions of these names ---------------------------------- */

void *checked_kmalloc(size_t size, unsigned gfp);
void *checked_kmalloc(size_t size, unsigned gfp)
{
	size_t whole = size ? size : 1;
	size_t align =
		whole & (whole - 1) || whole < WORD ? WORD : min(whole, (size_t)MOST_ALIGNED);
	size_t taken = sizeof(struct head) + align + whole + BEHIND;

	taken = (taken + WORD - 1) & ~(size_t)(WORD - 1);
	if (size > ROOM / 16)
		return kmalloc(size, gfp);
	size_t begin = __atomic_fetch_add(&used, taken, __ATOMIC_RELAXED) + sizeof(struct head);
	if (begin + taken > ROOM)
		return kmalloc(size, gfp);
	u8 *block = room + ((begin + align - 1) & ~(align - 1));
	((struct head *)block)[-1] = (struct head){.size = whole, .block = block};
	for (size_t i = 0; i < whole; i += WORD)
		given[((size_t)(block - room) + i) / WORD] = (u8)min(whole - i, (size_t)WORD);
	return block;
}

void checked_kfree(const void *object);
void checked_kfree(const void *object)
{
	const struct head *head = (const struct head *)object - 1;

	if (!is_in_room((uintptr_t)object)) {
		kfree(object);
		return;
	}
	u8 *words = &given[((uintptr_t)object - (uintptr_t)room) / WORD];
	if (!*words || head->block != object)
		panic("undefined behaviour at %p: what is freed was freed before, or is no block",
		      WHERE);
	memset(words, 0, (head->size + WORD - 1) / WORD);
}

void *checked_memcpy(void *to, const void *from, size_t size);
void *checked_memcpy(void *to, const void *from, size_t size)
{
	touch((uintptr_t)from, size, false, WHERE);
	touch((uintptr_t)to, size, true, WHERE);
	return memcpy(to, from, size);
}

void *checked_memmove(void *to, const void *from, size_t size);
void *checked_memmove(void *to, const void *from, size_t size)
{
	touch((uintptr_t)from, size, false, WHERE);
	touch((uintptr_t)to, size, true, WHERE);
	return memmove(to, from, size);
}

void *checked_memset(void *to, int byte, size_t size);
void *checked_memset(void *to, int byte, size_t size)
{
	touch((uintptr_t)to, size, true, WHERE);
	return memset(to, byte, size);
}
