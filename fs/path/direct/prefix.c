/* prefix.c - see prefix.h. */
#include "fs/path/direct/prefix.h"

#ifdef CONFIG_DCACHE_FASTPATH

#include "core/memory/slab.h"

#define PREFIX_BYTES KB(64) /* as Tsai 2015, section 3.1 */

static u64 last_version = 1ul << 32; /* 0 is none */

bool prefix_find_further(u32 *set, u32 word)
{
	for (unsigned i = 1; i < CONFIG_PREFIX_WAYS; i++) {
		if (READ_ONCE(set[i]) != word)
			continue;
		for (; i; i--)
			WRITE_ONCE(set[i], READ_ONCE(set[i - 1]));
		WRITE_ONCE(set[0], word);
		return true;
	}
	return false;
}

/* Current's cache, which is of now; NULL: it has none. */
static struct prefix_cache *own_cache(void)
{
	struct cred *cred = (struct cred *)current->cred;
	struct prefix_cache *cache = READ_ONCE(cred->prefix), *other;
	const u32 sets = PREFIX_BYTES / 4 / CONFIG_PREFIX_WAYS;

	if (!cache) {
		if (__atomic_fetch_add(&cred->prefix_asked, 1, __ATOMIC_RELAXED) < PREFIX_PATIENCE)
			return NULL;
		cache = kzalloc(sizeof(*cache) + PREFIX_BYTES, GFP_KERNEL | GFP_NOWARN);
		if (!cache)
			return NULL;
		cache->mask = (1u << (31 - __builtin_clz(sets))) - 1;
		cache->epoch = (u32)(READ_ONCE(last_version) >> 32);
		other = NULL;
		if (!__atomic_compare_exchange_n(&cred->prefix, &other, cache, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			kfree(cache);
			cache = other; /* another thread's was first */
		}
	}
	return cache;
}

void prefix_remember(u64 version)
{
	struct prefix_cache *cache = own_cache();
	u32 epoch = (u32)(version >> 32);

	if (!cache || epoch < cache->epoch)
		return;
	if (epoch >
	    cache->epoch) { /* the words first, so that none of them is taken for a new one */
		for (u32 i = 0; i < (cache->mask + 1) * CONFIG_PREFIX_WAYS; i++)
			WRITE_ONCE(cache->words[i], 0);
		smp_store_release(&cache->epoch, epoch);
	}

	u32 word = (u32)version, *set = prefix_set(cache, word);

	if (READ_ONCE(*set) == word || prefix_find_further(set, word))
		return;
	for (unsigned i = CONFIG_PREFIX_WAYS - 1; i; i--)
		WRITE_ONCE(set[i], READ_ONCE(set[i - 1]));
	WRITE_ONCE(set[0], word);
}

u64 prefix_new_version(void)
{
	u64 version = __atomic_add_fetch(&last_version, 1, __ATOMIC_RELAXED);

	return (u32)version ? version : prefix_new_version(); /* 0 is no word */
}

bool prefix_is_old(u64 version)
{
	return version >> 32 != READ_ONCE(last_version) >> 32;
}

const struct cred *cred_or_equal(struct cred *cred)
{
	const struct cred *old = current->cred;
	size_t ids = offsetof(struct cred, groups) - offsetof(struct cred, uid);

	if (memcmp(&cred->uid, &old->uid, ids) ||
	    memcmp(cred->groups, old->groups, cred->group_count * sizeof(gid_t)))
		return cred;
	put_cred(cred);
	return get_cred(old);
}

void free_cred(struct cred *cred)
{
	kfree(cred->prefix);
	kfree(cred);
}

#endif
