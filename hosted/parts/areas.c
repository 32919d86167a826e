/*
 * areas.c - mm/space/areas.c and mm/space/vma.c alone, in a process: random areas against a model that knows of
 * each page what is there.
 *
 * After each step the tree is looked at: its order, its heights, its neighbours, that no bound is
 * too low, that the areas are the model's and none could be joined with the next; and what it finds
 * is compared with what a walk finds. Usage: areas SEED STEPS PAGES. Prints "ok" and how many areas
 * there were at most.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mm/space/areas.c"
#include "mm/space/vma.c"

#define BASE MB(16) /* where the model's pages begin */
#define PAGES_MAX 65536u

struct cpu cpus[NR_CPUS];
unsigned nr_cpus = 1;
bool hosted_irqs_off;
struct task hosted_task;
struct lock_class lock_classes[LOCK_CLASSES];

static struct mm mm;
static unsigned pages, flags_at[PAGES_MAX]; /* the model: VM_* of each page and 1 << 31, or 0 */
static bool touched[PAGES_MAX];		    /* has an anonymous page */
static unsigned allocations_left = ~0u;
static u64 seed;

/* ---- what the two files need ----------------------------------------------------------------- */

void panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	exit(2);
}

void assert_failed(const char *what, const char *file, int line, const char *function)
{
	panic("%s:%d: %s: %s", file, line, function, what);
}

u16 lock_class(const char *name)
{
	(void)name;
	return 1;
}

void spin_lock_wait(spinlock_t *lock, u8 ticket)
{
	panic("a lock is taken twice: %p, %u", (void *)lock, ticket);
}

void lockdep_acquire(const void *lock, u16 class, unsigned level, enum lock_wait wait)
{
	(void)lock, (void)class, (void)level, (void)wait;
}

void lockdep_release(const void *lock, u16 class)
{
	(void)lock, (void)class;
}

bool lockdep_is_held(const void *lock)
{
	(void)lock;
	return true;
}

void lockdep_might_sleep(const char *file, int line)
{
	(void)file, (void)line;
}

void rwsem_wait(struct rw_semaphore *lock, u32 as)
{
	panic("a lock is taken twice: %p, %u", (void *)lock, as);
}

void rwsem_hand_over(struct rw_semaphore *lock)
{
	panic("nobody waits for %p", (void *)lock);
}

void *kmalloc(size_t size, unsigned gfp)
{
	(void)gfp;
	return allocations_left && allocations_left-- ? malloc(size) : NULL;
}

void kfree(const void *object)
{
	free((void *)object);
}

/* These areas have no files. */
const struct mapped_file_operations *mapped_files;

void vma_zap(struct vma *vma, u64 start, u64 end)
{
	if (vma->mm == &mm)
		memset(touched + (start - BASE) / PAGE_SIZE, 0, (end - start) / PAGE_SIZE);
}

/* ---- the tree's invariants ------------------------------------------------------------------- */

static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static void check(bool condition, const char *what)
{
	if (!condition)
		panic("%s", what);
}

static u64 gap_by_hand(const struct vma *vma)
{
	u64 top = min(vma->start, mm.mmap_top), floor = vma->below ? vma->below->end : KB(64);

	if (vma->flags & VM_GROWSDOWN)
		top = top > MB(1) ? top - MB(1) : 0;
	return top > floor ? top - floor : 0;
}

static struct vma *walked; /* the area that the walk in order has just left */
static unsigned walked_count;

/* Walk @node's subtree in order; its height, and its largest gap. */
static int check_subtree(struct vma *node, u64 *gap)
{
	u64 gaps[2] = {0, 0};
	int heights[2] = {0, 0};

	if (!node)
		return 0;
	heights[0] = check_subtree(node->child[BELOW], &gaps[0]);
	check(node->start < node->end, "an area is nonsense");
	check(node->below == walked && (!walked || walked->above == node), "wrong neighbours");
	check(!walked || walked->end <= node->start, "areas overlap or are out of order");
	walked = node;
	walked_count++;
	heights[1] = check_subtree(node->child[ABOVE], &gaps[1]);
	check(abs(heights[0] - heights[1]) <= 1, "a node is not balanced");
	check(node->height == 1 + max(heights[0], heights[1]), "a height is wrong");
	for (unsigned side = 0; side < 2; side++)
		check(!node->child[side] || (node->child[side]->parent == node &&
					     node->child[side]->largest_gap <= node->largest_gap),
		      "a child has another parent, or a higher bound");
	*gap = max(gap_by_hand(node), max(gaps[0], gaps[1]));
	check(node->largest_gap >= *gap, "a bound is too low");
	return node->height;
}

static void check_tree(const struct mm *mm)
{
	u64 gap;

	walked = NULL;
	walked_count = 0;
	check_subtree(mm->areas, &gap);
	check(!mm->areas || !mm->areas->parent, "the root has a parent");
	check(!walked || !walked->above, "the last area is not the last");
	check(walked_count == mm->area_count, "the count is wrong");
}

/* ---- against the model ----------------------------------------------------------------------- */

static u64 address_of(unsigned page)
{
	return BASE + (u64)page * PAGE_SIZE;
}

static void check_areas(void)
{
	const struct vma *vma = first_area(&mm, 0);
	u64 total = 0;

	for (unsigned page = 0; page < pages;) {
		unsigned begin = page, flags = flags_at[page];

		while (page < pages && flags_at[page] == flags)
			page++;
		if (!flags)
			continue;
		check(vma && vma->start == address_of(begin) && vma->end == address_of(page) &&
			      vma->flags == (flags & ~(1u << 31)),
		      "an area is not what the model has");
		total += page - begin;
		vma = vma->above;
	}
	check(!vma && mm.total_pages == total, "there are areas that the model has not");
}

static void check_find(void)
{
	u64 address = address_of(0) - MB(1) + random_below((pages + 512) * PAGE_SIZE);
	const struct vma *wanted = first_area(&mm, 0);

	while (wanted && wanted->end <= address)
		wanted = wanted->above;
	check(first_area(&mm, address) == wanted, "another area was found");
	check(find_vma(&mm, address) == wanted && find_vma(&mm, address) == wanted,
	      "find_vma() finds another one");
}

static s64 free_range_by_hand(u64 length)
{
	const struct vma *vma = first_area(&mm, 0), *found = NULL, *last = NULL;

	for (; vma; vma = vma->above) {
		if (gap_by_hand(vma) >= length)
			found = vma;
		last = vma;
	}
	if ((last ? last->end : KB(64)) + length <= mm.mmap_top)
		return (s64)(mm.mmap_top - length);
	if (!found)
		return -ENOMEM;
	return (s64)(min(found->start, mm.mmap_top) - (found->flags & VM_GROWSDOWN ? MB(1) : 0) -
		     length);
}

static void check_find_free(void)
{
	u64 length = (1 + random_below(random_below(4) ? 8 : 2 * pages)) * PAGE_SIZE;

	check(find_free_range(&mm, length) == free_range_by_hand(length),
	      "another free range was found");
}

static void set_pages(unsigned begin, unsigned end, unsigned flags)
{
	for (unsigned page = begin; page < end; page++)
		flags_at[page] = flags;
}

static bool is_free(unsigned begin, unsigned end)
{
	for (unsigned page = begin; page < end; page++)
		if (flags_at[page])
			return false;
	return true;
}

static unsigned random_flags(void)
{
	return (unsigned)random_below(4) | (random_below(50) ? 0 : VM_GROWSDOWN);
}

static void map_pages(unsigned begin, unsigned end)
{
	const struct vma wanted = {
		.start = address_of(begin), .end = address_of(end), .flags = random_flags()};

	check(range_is_free(&mm, wanted.start, wanted.end) == is_free(begin, end),
	      "range_is_free() is wrong");
	if (is_free(begin, end) && vma_add(&mm, &wanted) == 0)
		set_pages(begin, end, wanted.flags | 1u << 31);
}

static void unmap_pages(unsigned begin, unsigned end)
{
	if (vma_remove(&mm, address_of(begin), address_of(end)) < 0)
		return;
	set_pages(begin, end, 0);
	for (unsigned page = begin; page < end; page++)
		check(!touched[page], "a page was left where no area is");
}

static void touch(unsigned page)
{
	struct vma *vma = first_area(&mm, address_of(page));

	if (!vma || vma->start > address_of(page))
		return;
	vma->has_anonymous = true;
	touched[page] = true;
}

/* As mprotect does it, with what lies between holes as well. */
static void protect_pages(unsigned begin, unsigned end)
{
	unsigned rights = (unsigned)random_below(4);
	struct vma *first = vma_carve(&mm, address_of(begin), address_of(end));

	if (!IS_ERR(first)) {
		for_each_area_from (vma, first, address_of(end))
			vma_change(vma, vma->start, vma->end, (vma->flags & ~3u) | rights);
		for (unsigned page = begin; page < end; page++)
			if (flags_at[page])
				flags_at[page] = (flags_at[page] & ~3u) | rights;
	}
	vma_merge(&mm, address_of(begin), address_of(end));
}

/* As a stack does. */
static void grow_down(unsigned page)
{
	struct vma *vma = first_area(&mm, address_of(page));
	unsigned end = page;

	if (!vma || !(vma->flags & VM_GROWSDOWN) || vma->start <= address_of(page))
		return;
	while (!flags_at[end])
		end++;
	vma_change(vma, address_of(page), vma->end, vma->flags);
	set_pages(page, end, flags_at[end]);
	vma_merge(&mm, address_of(page), vma->end);
}

/* A copy of all areas, as a fork has it; @most: memory for that many. */
static void copy_all(unsigned most)
{
	struct mm original = mm, copy = {.mmap_top = mm.mmap_top};
	int error;

	INIT_LIST_HEAD(&copy.dead);
	allocations_left = most;
	error = areas_copy(&copy, &original);
	allocations_left = ~0u;
	check(error == (most < original.area_count ? -ENOMEM : 0), "a copy has another outcome");
	check(copy.area_count == min(most, original.area_count), "a copy has not all");
	for (const struct vma *a = first_area(&copy, 0), *b = first_area(&original, 0); a;
	     a = a->above, b = b->above)
		check(a->start == b->start && a->end == b->end && a->flags == b->flags &&
			      (!a->below) == (!b->below),
		      "a copy is not equal");
	if (!error)
		check_tree(&copy);
	down_write(&copy.lock);
	vma_remove(&copy, 0, USER_TOP);
	check(!copy.areas && !copy.area_count && !copy.total_pages, "a copy is not gone");
	mm_write_unlock(&copy);
}

static void step(void)
{
	unsigned begin = (unsigned)random_below(pages);
	unsigned length = 1 + (unsigned)random_below(random_below(8) ? 4 : 200);
	unsigned end = min(begin + length, pages);

	down_write(&mm.lock);
	/* now and then memory ends in the middle */
	allocations_left = random_below(20) ? ~0u : (unsigned)random_below(3);
	touch(begin);
	switch (random_below(8)) {
	case 0 ... 3:
		map_pages(begin, end);
		break;
	case 4 ... 5:
		protect_pages(begin, end);
		break;
	case 6:
		unmap_pages(begin, end);
		break;
	default:
		grow_down(begin);
	}
	if (allocations_left < 3) /* what was split and not changed is whole again */
		vma_merge(&mm, address_of(0), address_of(pages));
	allocations_left = ~0u;
	check_find();
	check_find_free();
	mm_write_unlock(&mm);
}

int main(int argc, char **argv)
{
	unsigned steps = argc > 2 ? (unsigned)atoi(argv[2]) : 20000, most = 0;

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	pages = argc > 3 ? (unsigned)atoi(argv[3]) : 2000;
	check(pages <= PAGES_MAX, "too many pages");
	mm.mmap_top = address_of(pages - pages / 8);
	INIT_LIST_HEAD(&mm.dead);
	for (unsigned i = 0; i < steps; i++) {
		step();
		check_tree(&mm);
		most = max(most, mm.area_count);
		if (i % 64 == 0)
			check_areas();
		if (i % 256 == 0)
			copy_all(random_below(2) ? mm.area_count
						 : (unsigned)random_below(most + 1));
	}
	down_write(&mm.lock);
	vma_remove(&mm, 0, USER_TOP);
	mm_write_unlock(&mm);
	check(!mm.areas && !mm.area_count && !mm.total_pages && !mm.data_pages, "some stayed");
	for (unsigned page = 0; page < pages; page++)
		check(!touched[page], "a page stayed");
	printf("ok, %u areas\n", most);
	return 0;
}
