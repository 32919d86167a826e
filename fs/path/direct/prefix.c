/* prefix.c - see prefix.h. */
#include "fs/path/direct/prefix.h"

#ifdef CONFIG_DCACHE_FASTPATH

#include "core/memory/slab.h"

u64 prefix_last_version = 1ul << 32; /* 0 is none */

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

/* All caches, whose credentials have not been freed; and cred->prefix of these, but to read. Within
 * process_lock, which interrupts take, when a process is forgotten. */
static DEFINE_SPINLOCK(caches_lock);
static LIST_HEAD(caches);

static void free_cache(struct rcu_head *head)
{
	kfree(container_of(head, struct prefix_cache, rcu));
}

/* @cred has @cache (NULL: none) from now on, and no more what it had. */
static void replace(struct cred *cred, struct prefix_cache *cache)
{
	struct prefix_cache *old = cred->prefix;

	lockdep_assert_held(&caches_lock);
	smp_store_release(&cred->prefix, cache);
	if (cache)
		list_add(&cache->link, &caches);
	if (old) {
		list_del(&old->link);
		call_rcu(&old->rcu, free_cache);
	}
}

static void insert(struct prefix_cache *cache, u32 word)
{
	u32 *set = prefix_set(cache, word);

	if (READ_ONCE(*set) == word || prefix_find_further(set, word))
		return;
	for (unsigned i = CONFIG_PREFIX_WAYS - 1; i; i--)
		WRITE_ONCE(set[i], READ_ONCE(set[i - 1]));
	WRITE_ONCE(set[0], word);
}

/* @cred gets a cache of the epoch of @version, which it has, in place of one that is older. */
static void new_cache(struct cred *cred, u64 version)
{
	const u32 sets = KB(CONFIG_PREFIX_KB) / 4 / CONFIG_PREFIX_WAYS;
	struct prefix_cache *cache;

	if (__atomic_fetch_add(&cred->prefix_asked, 1, __ATOMIC_RELAXED) < PREFIX_PATIENCE)
		return;
	cache = kzalloc(sizeof(*cache) + KB(CONFIG_PREFIX_KB), GFP_KERNEL | GFP_NOWARN);
	if (!cache)
		return;
	cache->mask = (1u << (31 - __builtin_clz(sets))) - 1;
	cache->epoch = (u32)(version >> 32);
	cache->cred = cred;
	insert(cache, (u32)version);
	guard(spinlock_irqsave, &caches_lock);
	if (!cred->prefix || cred->prefix->epoch < cache->epoch)
		replace(cred, cache);
	else
		kfree(cache); /* another thread was first */
}

u64 prefix_forget_all(void)
{
	u64 count = 0;

	guard(spinlock_irqsave, &caches_lock);
	for (; !list_empty(&caches); count++)
		replace(list_first_entry(&caches, struct prefix_cache, link)->cred, NULL);
	return count;
}

bool prefix_remember_now(u64 version)
{
	struct prefix_cache *cache = smp_load_acquire(&current->cred->prefix);

	rcu_assert_reader();
	if (!cache || cache->epoch != version >> 32)
		return false;
	insert(cache, (u32)version);
	return true;
}

void prefix_remember(u64 version)
{
	rcu_read_lock();
	bool done = prefix_remember_now(version);

	rcu_read_unlock();
	if (!done)
		new_cache((struct cred *)current->cred, version);
}

u64 prefix_new_version(void)
{
	u64 version = __atomic_add_fetch(&prefix_last_version, 1, __ATOMIC_RELAXED);

	return (u32)version ? version : prefix_new_version(); /* 0 is no word */
}

bool prefix_is_old(u64 version)
{
	return version >> 32 != READ_ONCE(prefix_last_version) >> 32;
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
	if (READ_ONCE(cred->prefix)) { /* most have none, and nobody else gives it one now */
		guard(spinlock_irqsave, &caches_lock);
		replace(cred, NULL);
	}
	kfree(cred);
}

#endif
