/*
 * shrinker.h - what can give memory back when it is short: caches register here, and the allocator
 * asks for frames here, so that neither knows the other.
 *
 * When memory is short, reclaim (mm/cache/reclaim.c) goes through memory in rounds. Round by round
 * the priority falls, from 6 to 0, and so the share of each cache that is asked for grows, from
 * 1/64 to all. A round has three parts: before_pages() of each shrinker; the clean pages of the
 * page cache; after_pages() and if_too_few() of each, and then give_frames(). Shrinkers are asked
 * in the order in which they have registered.
 *
 *	static struct shrinker shrinker = {.name = "inodes", .after_pages = shrink_inodes};
 *	shrinker_register(&shrinker);
 *
 * The operations are called by reclaim_pages(), mostly from within an allocation that may sleep,
 * whatever locks its caller holds: they take locks by trying, or locks under which nobody
 * allocates; they start no I/O and do not sleep, but may let others run (cond_resched()); what they
 * allocate (best: nothing) does not reclaim again.
 */
#pragma once

#include "core/base/list.h"

struct shrinker {
	const char *name; /* in the plural */

	/* Drop 1/2^@priority of the objects that nobody uses, or what the cache's own policy makes
	 * of it: how many went. If fewer frames than are wanted have been freed when a round has
	 * looked at its pages: if_too_few(). NULL: nothing to drop then. */
	u64 (*before_pages)(unsigned priority);
	u64 (*after_pages)(unsigned priority);
	u64 (*if_too_few)(unsigned priority);
	/* Give back the frames that are only kept to be handed out again soon: how many. NULL. */
	u64 (*give_frames)(void);
	/* Is more to become free soon without being asked, because it is being written? Then
	 * reclaim waits for it. NULL: never. */
	bool (*is_busy)(void);

	struct list_head link; /* in shrinkers */
};

/* In the order of registration; complete after boot, so without a lock. */
extern struct list_head shrinkers;

/* Boot: @shrinker, which stays, is asked from now on. */
void shrinker_register(struct shrinker *shrinker);

/* Boot: what reclaim_pages() does. */
void reclaim_register(u64 (*reclaim)(u64 pages));

/*
 * Try to free @pages frames by dropping clean unused pages of the page cache and by asking the
 * shrinkers; how many frames were freed. Never starts writing a page: dirty ones are left to
 * write-back (which is hurried). May sleep. Does nothing when called from within itself or by the
 * threads of write-back and swap (task->in_reclaim), or before somebody has registered.
 */
u64 reclaim_pages(u64 pages);
