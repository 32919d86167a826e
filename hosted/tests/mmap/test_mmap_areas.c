/*
 * test_mmap_areas.c - the areas of one address space: what is mapped where, how it may be touched,
 * which areas are joined; the stack, the break; memory that ends.
 */
#include <string.h>

#include "mm/cache/page_cache.h"
#include "hosted/tests/mmap/mmap.h"

static void anonymous(void)
{
	u64 at = MAPPED(user_map(0, PAGE(4), RW, MAP_PRIVATE, NULL, 0));
	char text[PAGE_SIZE + 100], back[sizeof(text)];

	CHECK_EQUAL(peek(at + 17), 0);
	memset(text, 'x', sizeof(text));
	CHECK_EQUAL(user_store(at + PAGE(1) - 50, text, sizeof(text)), 0);
	CHECK_EQUAL(user_load(at + PAGE(1) - 50, back, sizeof(back)), 0);
	CHECK(memcmp(text, back, sizeof(text)) == 0);
	CHECK_EQUAL(peek(at + PAGE(1) - 51), 0);
	CHECK_EQUAL(current->mm->resident_pages, 3);
	CHECK_EQUAL(peek(at + PAGE(4)), -USER_SIGSEGV);
	CHECK_EQUAL(user_store(at + PAGE(4) - 1, text, 2), USER_SIGSEGV);
	CHECK_EQUAL(peek(at + PAGE(4) - 1), 'x'); /* the first byte could be touched */
	CHECK_EQUAL(peek(0), -USER_SIGSEGV);
	CHECK_EQUAL(peek(USER_TOP), -USER_SIGSEGV);
	CHECK_EQUAL(user_fetch(at), USER_SIGSEGV);
	CHECK_EQUAL(sys_munmap(at, PAGE(4)), 0);
	CHECK_EQUAL(current->mm->resident_pages, 0);
}

TEST(mmap_anonymous)
{
	on_each(anonymous);
}

static void protection(void)
{
	u64 at = MAPPED(user_map(0, PAGE(3), RW, MAP_PRIVATE, NULL, 0));

	for (unsigned n = 0; n < 3; n++)
		CHECK_EQUAL(poke(at + PAGE(n), 'a' + (int)n), 0);
	CHECK_EQUAL(sys_mprotect(at + PAGE(1), PAGE(1), PROT_READ), 0);
	CHECK_EQUAL(poke(at + PAGE(1), 'x'), -USER_SIGSEGV);
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
	CHECK_EQUAL(poke(at, 'A'), 0);
	CHECK_EQUAL(sys_mprotect(at, PAGE(3), PROT_NONE), 0);
	CHECK_EQUAL(peek(at), -USER_SIGSEGV);
	CHECK_EQUAL(sys_mprotect(at, PAGE(3), RW), 0);
	CHECK_EQUAL(poke(at + PAGE(1), 'B'), 0);
	CHECK_EQUAL(peek(at), 'A');
	CHECK_EQUAL(peek(at + PAGE(1)), 'B');
	CHECK_EQUAL(peek(at + PAGE(2)), 'c');
	CHECK_EQUAL(sys_mprotect(at, PAGE(4), PROT_READ), -ENOMEM); /* up to the hole it is done */
	CHECK_EQUAL(poke(at + PAGE(2), 'x'), -USER_SIGSEGV);
}

TEST(mmap_protection)
{
	on_each(protection);
}

/* Where the area at @address begins and ends. */
static void check_area(u64 address, u64 start, u64 end)
{
	const struct vma *vma;

	guard(read, &current->mm->lock);
	vma = find_vma(current->mm, address);
	CHECK(vma && vma->start == start && vma->end == end);
}

static void split_and_merge(void)
{
	make_file("/mnt/f", 8);
	u64 at = MAPPED(user_map(0, PAGE(8), PROT_READ, MAP_PRIVATE, "/mnt/f", 0));

	for (unsigned n = 0; n < 8; n++)
		CHECK_EQUAL(peek(at + PAGE(n)), 'a' + (int)n);
	CHECK_EQUAL(sys_munmap(at + PAGE(3), PAGE(2)), 0);
	check_area(at, at, at + PAGE(3));
	check_area(at + PAGE(3), at + PAGE(5), at + PAGE(8));
	for (unsigned n = 0; n < 8; n++)
		CHECK_EQUAL(peek(at + PAGE(n)), n == 3 || n == 4 ? -USER_SIGSEGV : 'a' + (int)n);
	CHECK_EQUAL(sys_mprotect(at + PAGE(6), PAGE(1), RW), 0);
	check_area(at + PAGE(6), at + PAGE(6), at + PAGE(7));
	CHECK_EQUAL(poke(at + PAGE(6), 'G'), 0);
	CHECK_EQUAL(sys_mprotect(at + PAGE(6), PAGE(1), PROT_READ), 0);
	check_area(at + PAGE(6), at + PAGE(5), at + PAGE(8));
	CHECK_EQUAL(peek(at + PAGE(6)), 'G');
	CHECK_EQUAL(peek(at + PAGE(7)), 'h');
	CHECK_EQUAL(user_map(at + PAGE(2), PAGE(4), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0),
		    at + PAGE(2));
	CHECK_EQUAL(peek(at + PAGE(1)), 'b');
	CHECK_EQUAL(peek(at + PAGE(2)), 0);
	CHECK_EQUAL(peek(at + PAGE(5)), 0);
	CHECK_EQUAL(peek(at + PAGE(6)), 'G');
}

TEST(mmap_split_and_merge)
{
	on_each(split_and_merge);
}

/* Tables without an area are freed; those with one are not. */
static void many_tables(void)
{
	u64 at = GB(1);

	for (unsigned n = 0; n < 100; n++) {
		u64 here = at + n * MB(4);

		CHECK_EQUAL(user_map(here, PAGE(1), RW, MAP_PRIVATE | MAP_FIXED, NULL, 0), here);
		CHECK_EQUAL(poke(here, 'x'), 0);
	}
	for (unsigned n = 0; n < 100; n++)
		if (n % 10)
			CHECK_EQUAL(sys_munmap(at + n * MB(4), PAGE(1)), 0);
	for (unsigned n = 0; n < 100; n++)
		CHECK_EQUAL(peek(at + n * MB(4)), n % 10 ? -USER_SIGSEGV : 'x');
	CHECK(hosted_pages_in_use < 150);
}

TEST(mmap_many_tables)
{
	on_each(many_tables);
}

static void stack_and_break(void)
{
	struct mm *mm = current->mm;
	u64 top = GB(4);

	mm->brk_start = mm->brk_end = GB(2) + 100;
	CHECK_EQUAL(sys_brk(0), GB(2) + 100);
	CHECK_EQUAL(peek(GB(2) + PAGE(1)), -USER_SIGSEGV);
	CHECK_EQUAL(sys_brk(GB(2) + PAGE(3)), GB(2) + PAGE(3));
	CHECK_EQUAL(poke(GB(2) + PAGE(2), 'b'), 0);
	CHECK_EQUAL(sys_brk(GB(2) + PAGE(1)), GB(2) + PAGE(1));
	CHECK_EQUAL(peek(GB(2) + PAGE(2)), -USER_SIGSEGV);
	CHECK_EQUAL(user_map(top - PAGE(1), PAGE(1), RW, MAP_PRIVATE | MAP_FIXED | MAP_GROWSDOWN,
			     NULL, 0),
		    top - PAGE(1));
	hosted_limits[RLIMIT_STACK].soft = PAGE(8);
	CHECK_EQUAL(poke(top - PAGE(8), 's'), 0);
	CHECK_EQUAL(poke(top - PAGE(8) - 1, 's'), -USER_SIGSEGV);
	hosted_limits[RLIMIT_STACK].soft = ~0ULL;
	hosted_limits[RLIMIT_AS].soft = PAGE(mm->total_pages + 1);
	CHECK_EQUAL(user_map(0, PAGE(2), RW, MAP_PRIVATE, NULL, 0), -ENOMEM);
	CHECK(user_map(0, PAGE(1), RW, MAP_PRIVATE, NULL, 0) > 0);
	hosted_limits[RLIMIT_AS].soft = ~0ULL;
}

TEST(mmap_stack_and_break)
{
	on_each(stack_and_break);
}

/* Whichever allocation of a fork or a call fails: nothing is half done, nothing is lost. */
static void allocations_fail(void)
{
	struct mm *child;
	u64 at;
	s64 result;

	make_file("/mnt/f", 2);
	at = MAPPED(user_map(0, PAGE(4), RW, MAP_PRIVATE, NULL, 0));
	MAPPED(user_map(0, PAGE(2), RW, MAP_PRIVATE, "/mnt/f", 0));
	CHECK_EQUAL(poke(at, 'x'), 0);
	for (int n = 1;; n++) {
		hosted_fail_after = n;
		child = mm_fork(current->mm);
		if (child)
			mm_put(child);
		if (hosted_fail_after)
			break;
		CHECK(!child);
	}
	for (int n = 1;; n++) {
		hosted_fail_after = n;
		result = sys_mprotect(at + PAGE(1), PAGE(1), PROT_READ);
		CHECK_EQUAL(poke(at + PAGE(1), 'x'), result ? 0 : -USER_SIGSEGV);
		if (hosted_fail_after)
			break;
	}
	hosted_fail_after = 0;
	CHECK_EQUAL(peek(at), 'x');
}

TEST(mmap_allocations_fail)
{
	on_each(allocations_fail);
}
