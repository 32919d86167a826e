/*
 * walk.c - along buckets and large records, with reports of what is wrong. See walk.h.
 */
#include "walk.h"
#include "buckets/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void walk_begin(struct walk *walk)
{
	struct chainhash *t = walk->table;

	/* A reader by mmap has no use for the account otherwise, and goes over to other states. */
	if (t->read_only && t->store.failed)
		walk->error = -EIO;
	else if (t->map.bytes)
		walk->error = overflow_load(t);
	if (t->store.torn && walk->report)
		walk->report(walk->context, "note: one header is torn, by a power cut in a sync or"
					    " by damage: the state before counts");
	walk->reached = calloc((size_t)overflow_count(t) + 1, 1);
	walk->page = malloc(t->page_size);
	if (!walk->error && (!walk->reached || !walk->page))
		walk->error = -ENOMEM;
}

void walk_end(struct walk *walk)
{
	free(walk->reached);
	free(walk->page);
}

void problem(struct walk *walk, const char *format, ...)
{
	char text[256];
	int size = 0;
	va_list arguments;

	if (walk->error)
		return;
	walk->problems++;
	if (!walk->report)
		return;
	if (walk->what)
		size = snprintf(text, sizeof(text), "%s %u: ", walk->what, walk->number);
	va_start(arguments, format);
	vsnprintf(text + size, sizeof(text) - (size_t)size, format, arguments);
	va_end(arguments);
	walk->report(walk->context, text);
}

/* Note that a chunk was reached; a second time is a problem, and false. */
static bool reach(struct walk *walk, u32 address, u32 slots)
{
	u8 *reached = &walk->reached[overflow_ordinal(walk->table, address)];
	u8 these = (u8)(((1u << slots) - 1) << (address & 7));
	bool first = !(*reached & these);

	*reached |= these;
	if (!first)
		problem(walk, "chunk 0x%x is in two chains", address);
	return first;
}

void walk_view(struct walk *walk, struct view view, walk_visit *visit)
{
	view.base = memcpy(walk->page, view.base, view.size);
	operation_begin(walk->table, false);
	visit(walk, &view);
}

void walk_bucket(struct walk *walk, u32 bucket, walk_visit *visit)
{
	struct chainhash *t = walk->table;
	struct chain chain;
	int next = chain_first(t, bucket, &chain);

	walk->what = "bucket";
	walk->number = bucket;
	for (; next > 0; next = chain_next(t, &chain)) {
		if (chain.number && !reach(walk, chain.view.address, view_slots(chain.view.base)))
			return;
		walk_view(walk, chain.view, visit);
	}
	walk_failed(walk, next);
	if (next < 0)
		problem(walk, "a page of its chain cannot be read (%s)", strerror(-next));
}

bool walk_big(struct walk *walk, struct item *item)
{
	struct chainhash *t = walk->table;
	int error = big_read(t, item);

	for (u64 i = 0; i < t->read.count; i++)
		reach(walk, (u32)t->read.list[i], (u32)(t->read.list[i] >> 32));
	if (!error && hash_key(t, item->key, item->key_size) == item->hash)
		return true;
	walk_failed(walk, error);
	problem(walk, "a large record of %llu bytes is lost",
		(unsigned long long)item->key_size + item->data_size);
	return false;
}
