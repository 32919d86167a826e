/*
 * races.c - interleavings: data races, by what happens before what.
 *
 * Each task has a vector clock: of every task's steps, those that come before what it does now. Its
 * own part moves on whenever it releases something. An atomic variable carries the clock of what
 * was released into it; who acquires it takes that over. (Flanagan and Freund, FastTrack, 2009;
 * fences as in C11.) For every 8 bytes of memory a few accesses are kept: whose, when, which bytes,
 * where in the code. Two accesses race if they touch a common byte, one at least writes, one at
 * least is plain (see may_meet()), and neither comes before the other. That does not depend on
 * their having met in this run: a run in which they were far apart shows the race as well.
 *
 * Known limit: of more than ACCESSES in a cell the oldest are forgotten, and their races with them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log/assert.h"
#include "hosted/interleave/ring/ring.h"

#define ACCESSES 6
#define SYNCS 16384 /* atomic variables, at most; a power of 2 */
#define GROUP 64    /* cells of which is known whether one was ever used */

struct access {
	u32 epoch; /* 0: none */
	u32 node, pc;
	u8 task, mask, kind;
};

struct cell {
	struct access access[ACCESSES];
};

struct sync {
	uintptr_t key;
	struct ring_clock released;
};

/* A run begins with fresh memory and touches as little of it as it can: it is short. */
static struct cell *arena_cells, *data_cells;
static u8 group_used[ARENA_BYTES / 8 / GROUP];
static struct sync *syncs;		      /* in order of their first use */
static u16 sync_index[2 * SYNCS], sync_count; /* hashed; 0: free */

extern char __data_start[];

void races_begin(void)
{
	size_t data_bytes = (size_t)(_end - __data_start);

	arena_cells = mmap(NULL, ARENA_BYTES / 8 * sizeof(struct cell), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	data_cells = mmap(NULL, (data_bytes / 8 + 1) * sizeof(struct cell), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	syncs = mmap(NULL, SYNCS * sizeof(*syncs), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	BUG_ON(arena_cells == MAP_FAILED || data_cells == MAP_FAILED || syncs == MAP_FAILED);
}

/* The cell of @address, or NULL: not the kernel's memory. */
static inline struct cell *cell_of(uintptr_t address)
{
	if (address - ARENA_BASE < ARENA_BYTES)
		return &arena_cells[(address - ARENA_BASE) / 8];
	if (address >= (uintptr_t)__data_start && address < (uintptr_t)_end)
		return &data_cells[address / 8 - (uintptr_t)__data_start / 8];
	return NULL;
}

/* Of the arena only. */
static bool cell_used(const struct cell *cell)
{
	u64 number = (u64)(cell - arena_cells);

	return number >= ARENA_BYTES / 8 || group_used[number / GROUP];
}

static void use_cell(const struct cell *cell)
{
	u64 number = (u64)(cell - arena_cells);

	if (number < ARENA_BYTES / 8)
		group_used[number / GROUP] = true;
}

bool races_tracked(uintptr_t address)
{
	return cell_of(address) != NULL;
}

/* ---- clocks -----------------------------------------------------------------------------------
 */

void races_join(struct ring_clock *into, const struct ring_clock *from)
{
	for (unsigned i = 0; i < RING_TASKS; i++)
		into->at[i] = max(into->at[i], from->at[i]);
}

static void next_epoch(void)
{
	running->clock.at[running->number]++;
}

void races_publish(struct ring_clock *clock)
{
	races_join(clock, &running->clock);
	next_epoch();
}

static struct sync *sync_of(uintptr_t address)
{
	uintptr_t key = address / 4;

	for (u64 i = key * 0x9e3779b97f4a7c15ull >> 40;; i++) {
		u16 *index = &sync_index[i % ARRAY_SIZE(sync_index)];

		if (!*index) {
			if (sync_count == SYNCS - 1)
				ring_fail("too many atomic variables");
			*index = ++sync_count;
			syncs[*index].key = key;
		}
		if (syncs[*index].key == key)
			return &syncs[*index];
	}
}

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

void races_load(uintptr_t address, int order)
{
	const struct sync *sync = sync_of(address);

	races_join(acquires(order) ? &running->clock : &running->fence_acquire, &sync->released);
}

void races_store(uintptr_t address, int order)
{
	struct sync *sync = sync_of(address);

	sync->released = running->fence_release;
	if (releases(order))
		races_publish(&sync->released);
}

/* Whoever acquires it has what others released before it, as well. */
void races_exchange(uintptr_t address, int order)
{
	struct sync *sync = sync_of(address);

	races_join(acquires(order) ? &running->clock : &running->fence_acquire, &sync->released);
	races_join(&sync->released, &running->fence_release);
	if (releases(order))
		races_publish(&sync->released);
}

void races_fence(int order)
{
	if (acquires(order))
		races_join(&running->clock, &running->fence_acquire);
	if (releases(order))
		races_publish(&running->fence_release);
}

/* ---- the profile: what tasks share ------------------------------------------------------------
 */

static struct ring_site *site_of(u32 pc)
{
	u32 i = pc * 2654435761u >> 8;

	for (;; i++) {
		struct ring_site *site = &ring_shared->sites[i % RING_SITES];

		if (!site->pc)
			site->pc = pc;
		if (site->pc == pc)
			return site;
	}
}

static void note_shared(uintptr_t address, u32 pc, u32 other)
{
	uintptr_t granule = memory_granule(address);

	site_of(pc)->shared = site_of(other)->shared = true;
	for (u64 i = granule * 0x9e3779b97f4a7c15ull >> 40;; i++) {
		uintptr_t *at = &ring_shared->granules[i % RING_GRANULES];

		if (!*at)
			*at = granule;
		if (*at == granule)
			return;
	}
}

/* ---- accesses ---------------------------------------------------------------------------------
 */

static const char *kind_name(unsigned kind)
{
	static const char *const names[] = {"reads", "writes", "reads (marked)", "writes (marked)",
					    "frees"};

	return names[kind];
}

static bool writes(unsigned kind)
{
	return kind == RING_WRITE || kind == RING_MARKED_WRITE || kind == RING_FREE;
}

/* That the two conflict is known. As Linux's checker does, a plain write is taken to be done in one
 * piece, so that a marked read may meet it; whether what depends on it is ordered is seen there. */
static bool may_meet(unsigned a, unsigned b)
{
	if (a == RING_MARKED_READ)
		return b == RING_MARKED_WRITE || b == RING_WRITE;
	return a == RING_MARKED_WRITE && b == RING_MARKED_WRITE;
}

static void report(uintptr_t address, const struct access *new, const struct access *old)
{
	u32 low = min(new->pc, old->pc), high = max(new->pc, old->pc);
	struct ring_race *race = ring_shared->races;

	for (unsigned i = 0; i < ring_shared->race_count; i++, race++)
		if (race->pc[0] == low && race->pc[1] == high)
			return;
	if (ring_shared->race_count == RING_RACES)
		return;
	*race = (struct ring_race){
		.pc = {low, high},
		.address = address,
		.what = {kind_name(new->kind), kind_name(old->kind)},
		.task = {new->task, old->task},
		.program_seed = ring_program_seed,
	};
	stacks_get(new->node, new->pc, &race->stack[0]);
	stacks_get(old->node, old->pc, &race->stack[1]);
	memory_describe(address, race->place, sizeof(race->place));
	ring_shared->race_count++;
}

static bool before(const struct access *access)
{
	return access->epoch <= running->clock.at[access->task];
}

/* Is all that could race with @old seen by looking at @new? */
static bool covers(const struct access *new, const struct access *old)
{
	if (old->mask & ~new->mask || !before(old))
		return false;
	if (new->kind == RING_WRITE || new->kind == RING_FREE || new->kind == old->kind)
		return true;
	if (writes(old->kind))
		return false;
	return new->kind == RING_READ ||
	       (new->kind == RING_MARKED_WRITE && old->kind == RING_MARKED_READ);
}

static void access_cell(struct cell *cell, uintptr_t address, const struct access *new)
{
	struct access *place = NULL, *oldest = cell->access;

	for (struct access *old = cell->access; old < cell->access + ACCESSES; old++) {
		if (!old->epoch) {
			place = place ?: old;
			break; /* they are filled from the front */
		}
		if (old->task != new->task && old->mask &new->mask &&
		    (writes(old->kind) || writes(new->kind))) {
			if (!ring_shared->steps) /* the profile is being made */
				note_shared(address, new->pc, old->pc);
			if (!may_meet(old->kind, new->kind) && !may_meet(new->kind, old->kind) &&
			    !before(old))
				report(address, new, old);
		}
		if (!place && covers(new, old))
			place = old;
		if (old->epoch < oldest->epoch)
			oldest = old;
	}
	*(place ?: oldest) = *new;
}

void races_access(uintptr_t address, size_t size, enum ring_kind kind, u32 pc)
{
	struct access access = {
		.epoch = running->clock.at[running->number],
		.node = running->node,
		.pc = pc,
		.task = (u8)running->number,
		.kind = (u8)kind,
	};
	struct cell *cell = cell_of(address);
	uintptr_t end = address + size;
	const char *wrong;

	if (!cell)
		return;
	wrong = kind == RING_FREE ? NULL : memory_wrong(address);
	if (unlikely(wrong)) {
		char place[96];

		memory_describe(address, place, sizeof(place));
		ring_fail("%s: task %u %s %s, at %#lx", wrong, running->number, kind_name(kind),
			  place, (unsigned long)address);
	}
	if (!ring_shared->steps)
		site_of(pc)->count++;
	for (uintptr_t at = address & ~7ul; at < end; at += 8, cell++) {
		unsigned from = at < address ? (unsigned)(address - at) : 0;
		unsigned to = end - at < 8 ? (unsigned)(end - at) : 8;

		access.mask = (u8)((0xffu << from) & (0xffu >> (8 - to)));
		if (kind == RING_FREE && !cell_used(cell))
			continue;
		use_cell(cell);
		access_cell(cell, at, &access);
	}
}

void races_forget(uintptr_t address, size_t size)
{
	struct cell *cell = cell_of(address);

	for (size_t left = DIV_ROUND_UP(size, 8); left--; cell++)
		if (cell_used(cell) && cell->access[0].epoch)
			memset(cell, 0, sizeof(*cell));
}
