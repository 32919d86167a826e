/*
 * hsearch.c - System V's hsearch in memory: one table of fixed size, and its choices.
 *
 * The algorithm. The table has room for `nelem` entries, rounded up: to a power of two, or with the
 * division hash to a prime. `hash` is multiplicative (Knuth, section 6.4: the key folded into a
 * word, times the golden ratio, the upper bits) or division (the word modulo the prime; DIV). What
 * happens to keys that meet in one place is told by `collisions`:
 *
 *	double	open addressing; a second multiplicative hash, made odd, is the distance of probes
 *	linear	open addressing; the next place (what DIV brings with it)
 *	brent	as double, but a new key that would be probed more than twice may push an earlier
 *		key on, where that makes the sum of all probes less (Brent 1973; BRENT)
 *	chain	lists of entries from each place (CHAINED), in the `order` front (a new entry comes
 *		first), up or down (sorted by key; SORTUP, SORTDOWN)
 *
 * Source: Seltzer and Yigit 1991, "hsearch", which names the compile-time options in brackets; the
 * manual page HSEARCH(BA_LIB); Knuth, volume 3, section 6.4, algorithms D and that of Brent.
 *
 * Limits. One table in a process (EBUSY). It never grows: without chains a key too many is refused
 * (ENOSPC), with them the chains become long. No deletion, no scan, no file. Keys and data stay the
 * caller's memory. By division a table of a power of two would see the last bytes only, hence the
 * prime; double hashing with it uses distances from 1 to one less than the prime.
 *
 * No locks: several threads may look up while nobody enters; attached handles are the table itself.
 */
#include <stdlib.h>
#include <string.h>

#include "parts/hash.h"
#include "system.h"

enum { NELEM, HASH, COLLISIONS, ORDER };
enum hash_choice { MULTIPLICATIVE, DIVISION };
enum collision_choice { DOUBLE, LINEAR, BRENT, CHAIN };
enum order_choice { FRONT, UP, DOWN };

static const char *const hash_words[] = {"multiplicative", "division", NULL};
static const char *const collision_words[] = {"double", "linear", "brent", "chain", NULL};
static const char *const order_words[] = {"front", "up", "down", NULL};

static const struct option_rule options[] = {
	[NELEM] = {"nelem", "entries of the table, rounded up", 1, 1u << 30, 1000, NULL},
	[HASH] = {"hash", "of keys", 0, DIVISION, MULTIPLICATIVE, hash_words},
	[COLLISIONS] = {"collisions", "how they end", 0, CHAIN, DOUBLE, collision_words},
	[ORDER] = {"order", "of chains", 0, DOWN, FRONT, order_words},
	{.name = NULL},
};

/* With open addressing the entries of the table itself; a key's bytes of NULL: it is free. */
struct entry {
	struct item key, data;
	struct entry *next; /* of the chain */
};

struct hsearch {
	struct table table;
	bool attached; /* a handle of another thread, which owns nothing */
	enum hash_choice hash;
	enum collision_choice collisions;
	enum order_choice order;
	uint32_t size;	       /* places */
	unsigned bits;	       /* of a power of two */
	struct entry *entries; /* open addressing */
	struct entry **chains; /* chains */
};

/* hcreate() left its table in variables of the library. */
static bool is_open;

/* A key as one word, every byte in it. */
static uint32_t fold(struct item key)
{
	return hash_65599(key.bytes, key.size);
}

static uint32_t first_place(const struct hsearch *table, uint32_t word)
{
	if (table->hash == DIVISION)
		return word % table->size;
	return word * HASH_GOLDEN >> (32 - table->bits);
}

/* How far apart the places of a key are; without a divisor in common with the table's size. */
static uint32_t distance(const struct hsearch *table, uint32_t word)
{
	if (table->collisions == LINEAR)
		return 1;
	if (table->hash == DIVISION)
		return 1 + word / table->size % (table->size - 1);
	return ((word * 0x85ebca6bu) >> (32 - table->bits)) | 1;
}

static uint32_t step(const struct hsearch *table, uint32_t place, uint32_t distance)
{
	return (uint32_t)(((uint64_t)place + distance) % table->size);
}

static bool same(struct item a, struct item b)
{
	return a.size == b.size && !memcmp(a.bytes, b.bytes, a.size);
}

/* As memcmp(), the shorter first where one is the other's begin. */
static int compare(struct item a, struct item b)
{
	const int order = memcmp(a.bytes, b.bytes, a.size < b.size ? a.size : b.size);

	if (order || a.size == b.size)
		return order;
	return a.size < b.size ? -1 : 1;
}

/*
 * The entry of @key, or NULL. @place, @probes: the free place at which the search ended, and how
 * many taken ones came before it; @probes is the table's size if it is full.
 */
static struct entry *probe(const struct hsearch *table, struct item key, uint32_t *place,
			   uint32_t *probes)
{
	const uint32_t word = fold(key), apart = distance(table, word);

	*place = first_place(table, word);
	for (*probes = 0; *probes < table->size; (*probes)++) {
		struct entry *entry = &table->entries[*place];

		if (!entry->key.bytes)
			return NULL;
		if (same(entry->key, key))
			return entry;
		*place = step(table, *place, apart);
	}
	return NULL;
}

static struct entry **chain_of(const struct hsearch *table, struct item key)
{
	return &table->chains[first_place(table, fold(key))];
}

/* The entry of @key in its chain; NULL. A sorted chain is left where the key would have been. */
static struct entry *find_in_chain(const struct hsearch *table, struct item key)
{
	for (struct entry *entry = *chain_of(table, key); entry; entry = entry->next) {
		const int order = table->order == FRONT ? 0 : compare(entry->key, key);

		if (same(entry->key, key))
			return entry;
		if ((table->order == UP && order > 0) || (table->order == DOWN && order < 0))
			return NULL;
	}
	return NULL;
}

static struct entry *find(const struct hsearch *table, struct item key)
{
	uint32_t place, probes;

	if (table->collisions == CHAIN)
		return find_in_chain(table, key);
	return probe(table, key, &place, &probes);
}

/* The free place that the entry in @place would come to in at most @most steps; false: none. */
static bool may_move(const struct hsearch *table, uint32_t place, uint32_t most, uint32_t *to,
		     uint32_t *steps)
{
	const uint32_t apart = distance(table, fold(table->entries[place].key));

	*to = place;
	for (*steps = 1; *steps <= most; (*steps)++) {
		*to = step(table, *to, apart);
		if (!table->entries[*to].key.bytes)
			return true;
	}
	return false;
}

/*
 * Brent's rearrangement: @key would be found by its probe number @probes (from 0 on), at @place. If
 * an entry at its probe i can go on by j steps and i + j is less, that entry goes and leaves its
 * place; of all such the least i + j. The place for @key is returned.
 */
static uint32_t rearranged(struct hsearch *table, struct item key, uint32_t place, uint32_t probes)
{
	const uint32_t word = fold(key), apart = distance(table, word);
	uint32_t at = first_place(table, word), best = probes, from = place, to = place;

	for (uint32_t i = 0; i + 1 < best; i++) {
		uint32_t free_place, steps;

		if (may_move(table, at, best - i - 1, &free_place, &steps)) {
			best = i + steps;
			from = at;
			to = free_place;
		}
		at = step(table, at, apart);
	}
	if (from != place) {
		table->entries[to] = table->entries[from];
		table->entries[from].key.bytes = NULL;
	}
	return from;
}

static int enter_in_chain(struct hsearch *table, struct item key, struct item data)
{
	struct entry **place = chain_of(table, key), *entry = malloc(sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	while (*place && table->order != FRONT) {
		const int order = compare((*place)->key, key);

		if (table->order == UP ? order > 0 : order < 0)
			break;
		place = &(*place)->next;
	}
	*entry = (struct entry){key, data, *place};
	*place = entry;
	return 0;
}

static int enter(struct hsearch *table, struct item key, struct item data)
{
	uint32_t place, probes;

	if (table->collisions == CHAIN)
		return enter_in_chain(table, key, data);
	probe(table, key, &place, &probes);
	if (probes == table->size)
		return -ENOSPC;
	if (table->collisions == BRENT && probes >= 2)
		place = rearranged(table, key, place, probes);
	table->entries[place] = (struct entry){key, data, NULL};
	return 0;
}

static int hsearch_get(struct table *table, struct item key, struct item *data)
{
	const struct entry *entry = find((struct hsearch *)table, key);

	if (!entry)
		return -ENOENT;
	*data = entry->data;
	return 0;
}

static int hsearch_put(struct table *table, struct item key, struct item data, bool replace)
{
	struct entry *entry = find((struct hsearch *)table, key);

	if (!entry)
		return enter((struct hsearch *)table, key, data);
	if (!replace)
		return -EEXIST;
	entry->data = data; /* the caller of ENTER is handed the entry, and may do so */
	return 0;
}

static int hsearch_attach(struct table *table, struct table **made)
{
	*made = malloc(sizeof(struct hsearch));
	if (!*made)
		return -ENOMEM;
	memcpy(*made, table, sizeof(struct hsearch));
	((struct hsearch *)*made)->attached = true;
	return 0;
}

static int hsearch_close(struct table *table)
{
	struct hsearch *hsearch = (struct hsearch *)table;

	for (uint32_t i = 0; hsearch->chains && !hsearch->attached && i < hsearch->size; i++) {
		struct entry *next, *entry = hsearch->chains[i];

		for (; entry; entry = next) {
			next = entry->next;
			free(entry);
		}
	}
	if (!hsearch->attached) {
		free(hsearch->chains);
		free(hsearch->entries);
		is_open = false;
	}
	free(hsearch);
	return 0;
}

static bool is_prime(uint64_t number)
{
	for (uint64_t divisor = 2; divisor * divisor <= number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

static void choose_size(struct hsearch *table, uint64_t nelem)
{
	table->bits = 1;
	while (1ull << table->bits < nelem)
		table->bits++;
	table->size = 1u << table->bits;
	if (table->hash != DIVISION)
		return;
	for (table->size = nelem < 3 ? 3 : (uint32_t)nelem; !is_prime(table->size);)
		table->size++;
}

static int hsearch_open(struct table **made, const char *path, unsigned flags,
			const uint64_t *values)
{
	struct hsearch *table;

	(void)path;
	(void)flags;
	if (is_open)
		return -EBUSY;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->hash = (enum hash_choice)values[HASH];
	table->collisions = (enum collision_choice)values[COLLISIONS];
	table->order = (enum order_choice)values[ORDER];
	choose_size(table, values[NELEM]);
	if (table->collisions == CHAIN)
		table->chains = calloc(table->size, sizeof(*table->chains));
	else
		table->entries = calloc(table->size, sizeof(*table->entries));
	if (!table->chains && !table->entries) {
		free(table);
		return -ENOMEM;
	}
	is_open = true;
	*made = &table->table;
	return 0;
}

const struct system hsearch_system = {
	.name = "hsearch",
	.summary = "System V's hsearch: one table of fixed size in memory",
	.traits = SYSTEM_MEMORY | SYSTEM_BORROWS | SYSTEM_SINGLE | SYSTEM_READERS,
	.options = options,
	.open = hsearch_open,
	.attach = hsearch_attach,
	.get = hsearch_get,
	.put = hsearch_put,
	.close = hsearch_close,
};
