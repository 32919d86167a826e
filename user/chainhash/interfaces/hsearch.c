/*
 * hsearch.c - System V's hsearch, and its reentrant form, over libchainhash: <search.h>.
 *
 * Programs link with it unchanged: -lchainhash_hsearch -lchainhash before the C library, whose
 * functions these stand in for. What is better than there: the table grows beyond what hcreate()
 * was told; hcreate_r() makes as many tables as one likes. As there, keys and data stay the
 * caller's, an entry's address holds until hdestroy(), and what is written to its data stays.
 *
 * Each entry has memory of its own; the hash table holds its address under the key's bytes. The one
 * field of struct hsearch_data that C libraries agree on, a pointer, points to our table.
 */
#include "chainhash.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

/* The field of struct hsearch_data that is the library's own. */
#ifdef __GLIBC__
#define OURS table
#else
#define OURS __tab
#endif

static struct hsearch_data only;

static struct chainhash *table_of(const struct hsearch_data *data)
{
	return (struct chainhash *)(void *)data->OURS;
}

/* What all calls give that fail. */
static int refuse(int error)
{
	errno = -error;
	return 0;
}

int hcreate_r(size_t count, struct hsearch_data *data)
{
	struct chainhash_options options = {.bucket_size = 256, .fill_factor = 8};
	struct chainhash *made;
	int error;

	if (!data)
		return refuse(-EINVAL);
	if (data->OURS)
		return 0;
	/* A wrong guess must not cost more memory than it would have saved. */
	options.elements = count < 1u << 20 ? count : 1u << 20;
	error = chainhash_open(&made, NULL, 0, 0, &options);
	if (error)
		return refuse(error);
	data->OURS = (void *)made;
	return 1;
}

void hdestroy_r(struct hsearch_data *data)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item address;

	if (!data)
		refuse(-EINVAL);
	if (!data || !data->OURS)
		return;
	while (!chainhash_scan(table_of(data), &cursor, NULL, &address)) {
		ENTRY *entry;

		memcpy(&entry, address.bytes, sizeof(entry));
		free(entry);
	}
	chainhash_abandon(table_of(data));
	data->OURS = NULL;
}

static int enter(struct chainhash *table, struct chainhash_item key, ENTRY item, ENTRY **found)
{
	ENTRY *entry = malloc(sizeof(*entry));
	struct chainhash_item address = {&entry, sizeof(entry)};
	int error = entry ? chainhash_put(table, key, address, CHAINHASH_INSERT) : -ENOMEM;

	if (error) {
		free(entry);
		return error;
	}
	*entry = item;
	*found = entry;
	return 0;
}

int hsearch_r(ENTRY item, ACTION action, ENTRY **found, struct hsearch_data *data)
{
	struct chainhash *table = table_of(data);
	struct chainhash_item key = {item.key, strlen(item.key)}, address;
	int error;

	*found = NULL;
	if (!table)
		return refuse(-EINVAL);
	error = chainhash_get(table, key, &address);
	if (!error)
		memcpy(found, address.bytes, sizeof(*found));
	else if (error == -ENOENT)
		error = action == ENTER ? enter(table, key, item, found) : -ESRCH;
	return error ? refuse(error) : 1;
}

int hcreate(size_t count)
{
	return hcreate_r(count, &only);
}

void hdestroy(void)
{
	hdestroy_r(&only);
}

ENTRY *hsearch(ENTRY item, ACTION action)
{
	ENTRY *found;

	hsearch_r(item, action, &found, &only);
	return found;
}
