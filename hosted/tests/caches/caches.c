/* caches.c - see caches.h. */
#include "hosted/tests/caches/caches.h"

struct hosted_disk caches_disk;

void caches_start(unsigned megabytes, unsigned block_size, unsigned kilobytes)
{
	hosted_quiet = true;
	hosted_init(megabytes);
	disk_create(&caches_disk, "ram0", 0, KB(kilobytes));
	caches_disk.asynchronous = true;
	image_make(&caches_disk, block_size, kilobytes, IMAGE_USUAL " -i 4096");
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
}

void caches_stop(void)
{
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
	image_check(&caches_disk);
}

static void add_size(u64 size, void *total)
{
	*(u64 *)total += size;
}

u64 objects_in(struct hash_cache *cache)
{
	u64 total = 0;

	cache->walk(cache->table, add_size, &total);
	return total;
}

int stat_path(const char *path)
{
	struct kstat stat;

	return sys_newfstatat(AT_FDCWD, path, &stat, AT_SYMLINK_NOFOLLOW);
}

/* A directory goes after what is in it. */
u64 drop_dentries(void)
{
	u64 freed = 0, more;

	while ((more = shrink_dcache(1000)) != 0)
		freed += more;
	return freed;
}

void fill(unsigned char *data, size_t n, u64 seed)
{
	struct rng rng = {seed};

	for (size_t i = 0; i < n; i++)
		data[i] = (unsigned char)rng_next(&rng);
}

#ifdef CONFIG_HASH_STATS
struct hash_counters since(const struct hash_counters *counters, struct hash_counters *last)
{
	struct hash_counters now = counters[0],
			     grown = {
				     .hits = now.hits - last->hits,
				     .misses = now.misses - last->misses,
				     .hit_steps = now.hit_steps - last->hit_steps,
				     .miss_steps = now.miss_steps - last->miss_steps,
				     .compares = now.compares - last->compares,
				     .inserts = now.inserts - last->inserts,
				     .removes = now.removes - last->removes,
			     };

	*last = now;
	return grown;
}
#endif
