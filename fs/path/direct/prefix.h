/*
 * prefix.h - the prefix cache: which places a credential may reach from the root, so that nobody
 * has to look at each directory on the way (Tsai 2015, section 3.1).
 *
 * That somebody may reach a place means: he may search all directories above it. It is remembered
 * as the version that the place has. What is done to a directory above gives the place another
 * version first (direct.h), so that nothing has to be found and taken out of here. A version is
 * given once, to one place, or to all names of one directory (siblings/siblings.h), so it says
 * which it is of. It is a number of 64 bits, of which a
 * word of the cache has the lower half; the upper half, the epoch, is that of a whole cache. When
 * it ends there is another cache, and when memory does there is none.
 *
 * Sets of PREFIX_WAYS words, the one used last in front. Readers and writers take no lock, for each
 * word is true by itself; that one is lost, or stands there twice, when two threads of a credential
 * meet, does no harm.
 */
#pragma once

#include "fs/cred.h"

#ifdef CONFIG_DCACHE_FASTPATH

#define PREFIX_PATIENCE 8 /* who wants to remember no more often than this needs no cache */

struct prefix_cache {
	u32 epoch; /* as long as it lives, like: */
	u32 mask;  /* the number of sets, a power of two, less 1 */
	struct cred *cred;
	struct list_head link; /* in the list of all */
	struct rcu_head rcu;
	u32 words[];
};

static __always_inline u32 *prefix_set(struct prefix_cache *cache, u32 word)
{
	return &cache->words[(word & cache->mask) * CONFIG_PREFIX_WAYS];
}

/* In a place of the set but the first: is it there? Brings it to the front. */
bool prefix_find_further(u32 *set, u32 word);

/* May who has @cache (NULL: nothing is known) reach the place that has @version? */
static __always_inline bool prefix_allows(struct prefix_cache *cache, u64 version)
{
	if (unlikely(!cache) || unlikely(cache->epoch != version >> 32))
		return false;

	u32 word = (u32)version, *set = prefix_set(cache, word);

	if (likely(READ_ONCE(*set) == word))
		return true;
	return CONFIG_PREFIX_WAYS > 1 && prefix_find_further(set, word);
}

/* Current may reach the place of @version. A credential that has asked but a few times has no cache
 * yet, nor one for which there is no memory. Does not sleep. */
void prefix_remember(u64 version);
/* The same within a reader's section; false: there is no cache for it. */
bool prefix_remember_now(u64 version);
/* Free the caches of all credentials: how many there were. Does not sleep. */
u64 prefix_forget_all(void);
/* A version that no place has, nor ever had. */
u64 prefix_new_version(void);
/* The newest of all. Tests have it stand just before the end of an epoch. */
extern u64 prefix_last_version;
/* Is it of an epoch that has ended, so that it is not remembered any more? */
bool prefix_is_old(u64 version);
/* @cred, which nobody else has yet; or, if current's own is equal, a reference to that: it may have
 * a cache already, and @cred is freed. */
const struct cred *cred_or_equal(struct cred *cred);
/* Of who is gone, and its cache. */
void free_cred(struct cred *cred);

#endif
