/*
 * dynahash.c - Pitt's dynahash: Larson's linear hashing in memory.
 *
 * The algorithm. Buckets are lists of elements. They are split in the order of their numbers, one
 * each time that there are more than `fill` elements for each bucket (controlled splitting),
 * whichever bucket it is that has become long. When all that were there at the begin of a
 * generation have been split, the table has doubled. A bucket's number is the hash by the high
 * mask, or, if no such bucket is there yet, by the low mask. The bucket that is split and its new
 * one differ in the one bit between the two masks.
 *
 * The table begins with `nelem` buckets, rounded up to a power of two: who knows the final number
 * saves all splits. Pointers to buckets stand in segments of 256, so that growing moves none.
 *
 * Source: Seltzer and Yigit 1991, "dynahash"; Larson 1988; Litwin 1980.
 *
 * Limits. In memory only. The table does not shrink. Colliding keys are no error, only slow.
 *
 * No locks: several threads may look up while nobody writes, by attached handles.
 */
#include <stdlib.h>
#include <string.h>

#include "parts/hash.h"
#include "system.h"

enum { NELEM, FILL };
static const struct option_rule options[] = {
	[NELEM] = {"nelem", "elements to expect: so many buckets at first", 1, 1u << 30, 1, NULL},
	[FILL] = {"fill", "elements for each bucket", 1, 1 << 20, 1, NULL},
	{.name = NULL},
};

enum { SEGMENT = 256 };

struct element {
	struct element *next;
	uint32_t hash;
	size_t key_size, data_size;
	char bytes[]; /* key, data */
};

struct buckets {
	struct element ***segments;
	size_t segments_room; /* of the array of segments */
	uint32_t most;	      /* the number of the last bucket */
	uint32_t high, low;   /* masks */
	uint64_t fill;
	uint64_t count; /* of elements */
};

struct dynahash {
	struct table table;
	struct buckets *buckets; /* shared by all handles */
	bool attached;
};

static struct element **bucket_at(const struct buckets *buckets, uint32_t number)
{
	return &buckets->segments[number / SEGMENT][number % SEGMENT];
}

static struct element **bucket_of(const struct buckets *buckets, uint32_t hash)
{
	uint32_t number = hash & buckets->high;

	if (number > buckets->most)
		number = hash & buckets->low;
	return bucket_at(buckets, number);
}

/* Have a segment for bucket @number, whose predecessors are there. */
static int have_segment(struct buckets *buckets, uint32_t number)
{
	const size_t segment = number / SEGMENT;

	if (number % SEGMENT)
		return 0;
	if (segment == buckets->segments_room) {
		const size_t room = segment ? 2 * segment : SEGMENT;
		struct element ***larger = realloc(buckets->segments, room * sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		memset(larger + segment, 0, (room - segment) * sizeof(*larger));
		buckets->segments = larger;
		buckets->segments_room = room;
	}
	if (!buckets->segments[segment])
		buckets->segments[segment] = calloc(SEGMENT, sizeof(**buckets->segments));
	return buckets->segments[segment] ? 0 : -ENOMEM;
}

/* Add a bucket, and bring over what belongs to it from the one that is next to be split. */
static int split(struct buckets *buckets)
{
	const uint32_t fresh = buckets->most + 1;
	struct element **from, **to;
	int error;

	if (!fresh) /* 2^32 buckets: no further bit to split by */
		return 0;
	error = have_segment(buckets, fresh);
	if (error)
		return error;
	if (fresh > buckets->high) {
		buckets->low = buckets->high;
		buckets->high = buckets->high << 1 | 1;
	}
	buckets->most = fresh;
	from = bucket_at(buckets, fresh & buckets->low);
	to = bucket_at(buckets, fresh);
	while (*from) {
		struct element *element = *from;

		if ((element->hash & buckets->high) == fresh) {
			*from = element->next;
			element->next = NULL;
			*to = element;
			to = &element->next;
		} else {
			from = &element->next;
		}
	}
	return 0;
}

/* Where the pointer to the element of @key is; to NULL if there is none. */
static struct element **find(const struct buckets *buckets, uint32_t hash, struct item key)
{
	struct element **place = bucket_of(buckets, hash);

	for (; *place; place = &(*place)->next)
		if ((*place)->hash == hash && (*place)->key_size == key.size &&
		    !memcmp((*place)->bytes, key.bytes, key.size))
			break;
	return place;
}

static struct buckets *buckets_of(struct table *table)
{
	return ((struct dynahash *)table)->buckets;
}

static struct element **find_key(struct table *table, struct item key)
{
	return find(buckets_of(table), hash_larson(key.bytes, key.size), key);
}

static struct item data_of(const struct element *element)
{
	return (struct item){element->bytes + element->key_size, element->data_size};
}

static int dynahash_get(struct table *table, struct item key, struct item *data)
{
	const struct element *element = *find_key(table, key);

	if (!element)
		return -ENOENT;
	*data = data_of(element);
	return 0;
}

static struct element *element_of(struct item key, struct item data)
{
	struct element *element;

	if (key.size > PTRDIFF_MAX / 2 || data.size > PTRDIFF_MAX / 2)
		return NULL;
	element = malloc(sizeof(*element) + key.size + data.size);
	if (!element)
		return NULL;
	element->hash = hash_larson(key.bytes, key.size);
	element->key_size = key.size;
	element->data_size = data.size;
	memcpy(element->bytes, key.bytes, key.size);
	memcpy(element->bytes + key.size, data.bytes, data.size);
	return element;
}

static int dynahash_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct buckets *buckets = buckets_of(table);
	struct element **place = find_key(table, key), *old = *place, *fresh;

	if (old && !replace)
		return -EEXIST;
	fresh = element_of(key, data);
	if (!fresh)
		return -ENOMEM;
	fresh->next = old ? old->next : NULL;
	*place = fresh;
	free(old);
	if (old)
		return 0;
	buckets->count++;
	if (buckets->count > buckets->fill * ((uint64_t)buckets->most + 1))
		(void)split(buckets); /* without memory the chains become longer, no more */
	return 0;
}

static int dynahash_remove(struct table *table, struct item key)
{
	struct element **place = find_key(table, key), *element = *place;

	if (!element)
		return -ENOENT;
	*place = element->next;
	free(element);
	buckets_of(table)->count--;
	return 0;
}

/* at[0]: the bucket; at[1]: how many of its elements have been seen. */
static int dynahash_scan(struct table *table, struct cursor *cursor, struct item *key,
			 struct item *data)
{
	const struct buckets *buckets = buckets_of(table);

	for (; cursor->at[0] <= buckets->most; cursor->at[0]++, cursor->at[1] = 0) {
		const struct element *element = *bucket_at(buckets, (uint32_t)cursor->at[0]);

		for (uint64_t seen = 0; element && seen < cursor->at[1]; seen++)
			element = element->next;
		if (!element)
			continue;
		cursor->at[1]++;
		*key = (struct item){element->bytes, element->key_size};
		if (data)
			*data = data_of(element);
		return 0;
	}
	return -ENOENT;
}

static void free_buckets(struct buckets *buckets)
{
	for (size_t i = 0; i < buckets->segments_room && buckets->segments[i]; i++) {
		for (unsigned j = 0; j < SEGMENT; j++) {
			struct element *next, *element = buckets->segments[i][j];

			for (; element; element = next) {
				next = element->next;
				free(element);
			}
		}
		free(buckets->segments[i]);
	}
	free(buckets->segments);
	free(buckets);
}

static int dynahash_close(struct table *table)
{
	struct dynahash *handle = (struct dynahash *)table;

	if (!handle->attached)
		free_buckets(handle->buckets);
	free(handle);
	return 0;
}

static int make_handle(struct table **made, struct buckets *buckets, bool attached)
{
	struct dynahash *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	handle->buckets = buckets;
	handle->attached = attached;
	*made = &handle->table;
	return 0;
}

static int dynahash_attach(struct table *table, struct table **made)
{
	return make_handle(made, buckets_of(table), true);
}

static int dynahash_open(struct table **made, const char *path, unsigned flags,
			 const uint64_t *values)
{
	struct buckets *buckets = calloc(1, sizeof(*buckets));
	uint64_t count = 1;
	int error = 0;

	(void)path;
	(void)flags;
	if (!buckets)
		return -ENOMEM;
	while (count < values[NELEM])
		count *= 2;
	for (uint64_t number = 0; number < count && !error; number += SEGMENT)
		error = have_segment(buckets, (uint32_t)number);
	buckets->most = (uint32_t)(count - 1);
	buckets->low = (uint32_t)(count - 1);
	buckets->high = (uint32_t)(2 * count - 1);
	buckets->fill = values[FILL];
	if (!error)
		error = make_handle(made, buckets, false);
	if (error)
		free_buckets(buckets);
	return error;
}

const struct system dynahash_system = {
	.name = "dynahash",
	.summary = "Pitt's dynahash: linear hashing in memory with controlled splitting",
	.traits = SYSTEM_MEMORY | SYSTEM_READERS,
	.options = options,
	.open = dynahash_open,
	.attach = dynahash_attach,
	.get = dynahash_get,
	.put = dynahash_put,
	.remove = dynahash_remove,
	.scan = dynahash_scan,
	.close = dynahash_close,
};
