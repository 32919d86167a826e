/*
 * schedule.c - interleavings: what a schedule's seed decides.
 *
 * Each task has a priority, and the highest that can runs: until it sleeps, or steps back at a
 * chosen point and then is the lowest. Few such points are enough for most defects (Burckhardt,
 * Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of Finding
 * Bugs, 2010). How they are chosen, the seed says:
 *
 *   steps   anywhere among as many as the profile took
 *   places  at places in the code that share memory, each as likely as any other, however often it
 *           runs; and at one of its first times, or any
 *   focus   at every access to a piece or two of shared memory (a struct page, or 64 bytes), by
 *           throwing a coin: what goes wrong there mostly wants several steps that alternate
 *   chase   at one of the places; and from then on at every access to the memory it was about to
 *           touch, by throwing a coin
 *   walk    everywhere, by throwing a coin
 *
 * Schedule 0, the profile, has no such points.
 */
#include "hosted/interleave/ring/ring.h"

#define CHANGES_MAX 4

static struct rng rng;
static enum { PROFILE, STEPS, PLACES, FOCUS, CHASE, WALK } strategy;
static unsigned change_count;
static u64 step, lowest;
static u64 change_step[CHANGES_MAX];
static struct {
	u32 pc, times;
} change_site[CHANGES_MAX];
static uintptr_t change_granule[CHANGES_MAX];
static unsigned one_in; /* of focus and walk */
static bool interrupts_here, unfair;

static u64 draw(u64 n)
{
	return n ? rng_below(&rng, n) : 0;
}

static void choose_steps(void)
{
	for (unsigned i = 0; i < change_count; i++)
		change_step[i] = 1 + draw(ring_shared->steps);
}

static void choose_sites(void)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < RING_SITES; i++)
		shared += ring_shared->sites[i].shared;
	for (unsigned n = 0; n < change_count; n++) {
		u64 left = draw(shared);

		for (unsigned i = 0; i < RING_SITES; i++) {
			const struct ring_site *site = &ring_shared->sites[i];

			if (!site->shared || left--)
				continue;
			change_site[n].pc = site->pc;
			change_site[n].times =
				1 + (u32)draw(draw(2) ? min(site->count, 4u) : site->count);
			break;
		}
	}
}

static void choose_granules(void)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < RING_GRANULES; i++)
		shared += ring_shared->granules[i] != 0;
	for (unsigned n = 0; n < change_count; n++) {
		u64 left = draw(shared);

		for (unsigned i = 0; i < RING_GRANULES; i++)
			if (ring_shared->granules[i] && !left--) {
				change_granule[n] = ring_shared->granules[i];
				break;
			}
	}
}

void schedule_begin(u64 seed)
{
	static const u8 strategies[] = {STEPS, PLACES, FOCUS, CHASE, PLACES,
					CHASE, FOCUS,  CHASE, STEPS, WALK};
	static const u8 changes[] = { /* at most */
		[PROFILE] = 3, [STEPS] = 3, [PLACES] = 3, [FOCUS] = 2, [CHASE] = 1, [WALK] = 3};

	rng.state = seed * 0x9e3779b97f4a7c15ull;
	lowest = 1ull << 32;
	strategy = seed ? strategies[seed % sizeof(strategies)] : PROFILE;
	change_count = 1 + (unsigned)draw(changes[strategy]);
	one_in = 2u << draw(strategy == WALK ? 8 : 4);
	interrupts_here = draw(2);
	disk_rng.state = rng_next(&rng);
	if (strategy == STEPS)
		choose_steps();
	else if (strategy == PLACES || strategy == CHASE)
		choose_sites();
	else if (strategy == FOCUS)
		choose_granules();
}

/* Its time has come? */
static bool at_site(u32 pc)
{
	for (unsigned i = 0; i < change_count; i++)
		if (change_site[i].pc == pc && change_site[i].times && !--change_site[i].times)
			return true;
	return false;
}

static bool at_granule(uintptr_t address)
{
	for (unsigned i = 0; i < change_count; i++)
		if (change_granule[i] == memory_granule(address))
			return !draw(one_in);
	return false;
}

static bool at_change(uintptr_t address, u32 pc)
{
	switch (strategy) {
	case STEPS:
		for (unsigned i = 0; i < change_count; i++)
			if (change_step[i] == step)
				return true;
		return false;
	case PLACES:
		return at_site(pc);
	case FOCUS:
		return at_granule(address);
	case CHASE:
		if (!at_site(pc))
			return at_granule(address);
		change_granule[0] = memory_granule(address);
		return true;
	case WALK:
		return !draw(one_in);
	default:
		return false;
	}
}

bool schedule_change(uintptr_t address, enum ring_kind kind, u32 pc)
{
	(void)kind;
	step++;
	return at_change(address, pc) || (unfair && !draw(8));
}

void schedule_unfair_for_long(void)
{
	unfair = true;
}

bool schedule_interrupt(void)
{
	return interrupts_here && !draw(64);
}

bool schedule_time_passes(void)
{
	return !draw(16);
}

u64 schedule_priority(void)
{
	return (1ull << 32) + 1 + (strategy == PROFILE ? 0 : draw(1u << 30));
}

u64 schedule_lowest(void)
{
	return --lowest;
}
