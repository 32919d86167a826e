/*
 * salvage.c - what can still be read of a damaged file.
 *
 * First by the map, bucket after bucket, as a scan would, but on past what can't be read. Then on
 * overflow pages that no chain reached: a chain that was cut leaves its chunks there, in use by
 * the account. A page whose checksum is wrong is not looked at: its records may be wrong, too.
 */
#include "buckets/big.h"
#include "buckets/hash.h"
#include "header.h"
#include "store/lock.h"
#include "store/pool.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct salvage {
	struct chainhash *from, *to;
	chainhash_report *report;
	void *context;
	u8 *reached; /* slots of overflow pages, by ordinal */
	int64_t copied;
	int error; /* of the new table: the end */
};

__attribute__((__format__(__printf__, 2, 3))) static void say(struct salvage *s, const char *format,
							      ...)
{
	char text[200];
	va_list arguments;

	if (!s->report)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	s->report(s->context, text);
}

static void copy_record(struct salvage *s, struct item item, const char *where, u32 number)
{
	struct chainhash *t = s->from;
	int error = 0;

	if (!item.key) {
		error = big_read(t, &item);
		for (size_t i = 0; i < t->read.count; i++) {
			u32 address = (u32)t->read.list[i], slots = (u32)(t->read.list[i] >> 32);

			s->reached[overflow_ordinal(t, address)] |=
				(u8)(((1u << slots) - 1) << (address & 7));
		}
		if (!error) {
			item.key = t->big;
			item.data = t->big + item.key_size;
			if (hash_key(t, item.key, item.key_size) != item.hash)
				error = -EBADMSG;
		}
	}
	if (error) {
		say(s, "%s %u: a large record of %llu bytes is lost", where, (unsigned)number,
		    (unsigned long long)item.key_size + item.data_size);
		return;
	}
	error = chainhash_put(s->to, (struct chainhash_item){item.key, item.key_size},
			      (struct chainhash_item){item.data, item.data_size}, CHAINHASH_INSERT);
	s->copied += !error;
	if (error && error != -EEXIST)
		s->error = error;
}

/* Copy what is on one view. Only a record whose tag its key has is one. */
static void copy_view(struct salvage *s, const u8 *base, u32 size, const char *where, u32 number)
{
	struct chainhash *t = s->from;
	u8 *copy = malloc(size);
	u32 lost = 0;

	if (!copy) {
		s->error = -ENOMEM;
		return;
	}
	/* A large record's reading may take the page out of memory. */
	memcpy(copy, base, size);
	if (!view_sound(copy, size)) {
		say(s, "%s %u: the head of its page is wrong", where, (unsigned)number);
		free(copy);
		return;
	}
	for (u32 i = 0; i < view_count(copy) && !s->error; i++) {
		struct item item;
		bool right = item_read(copy, size, i, &item);
		u32 hash = 0;

		if (right)
			hash = item.key ? hash_key(t, item.key, item.key_size) : item.hash;
		if (right && hash_tag(hash_spread(hash)) == *tag_at(copy, i))
			copy_record(s, item, where, number);
		else
			lost++;
	}
	if (lost)
		say(s, "%s %u: %u records are lost", where, (unsigned)number, (unsigned)lost);
	free(copy);
}

static void copy_bucket(struct salvage *s, u32 bucket)
{
	struct chainhash *t = s->from;
	struct view view = {.size = t->page_size, .logical = primary_page(t, bucket)};
	u32 next;
	int error = 0;

	t->operation++;
	view.base = page_get(t, view.logical, &error);
	while (view.base && !error && !s->error) {
		next = view_next(view.base);
		copy_view(s, view.base, view.size, "bucket", bucket);
		if (!next)
			return;
		t->operation++;
		error = chunk_get(t, next, &view);
		if (!error) {
			u8 slots = (u8)(((1u << view_slots(view.base)) - 1) << (next & 7));
			u8 *reached = &s->reached[overflow_ordinal(t, next)];

			if (*reached & slots)
				error = -EBADMSG;
			*reached |= slots;
		}
	}
	if (error)
		say(s, "bucket %u: a page of its chain cannot be read (%s)", (unsigned)bucket,
		    strerror(-error));
}

/* Chunks in use that nobody has led to. */
static void copy_orphans(struct salvage *s, u32 ordinal)
{
	struct chainhash *t = s->from;
	u8 wanted = (u8)(t->slots_used[ordinal] & ~s->reached[ordinal] & ((1u << t->slots) - 1));
	u8 *page, *copy;
	int error = 0;

	if (!wanted || ordinal % t->page_size == 0)
		return;
	t->operation++;
	page = page_get(t, overflow_page(t, ordinal), &error);
	copy = page ? malloc(t->page_size) : NULL;
	if (!copy) {
		say(s, "overflow page %u cannot be read", (unsigned)ordinal);
		return;
	}
	memcpy(copy, page, t->page_size);
	for (u32 slot = 0; slot < t->slots && !s->error;) {
		u8 *base = copy + (size_t)slot * t->slot_size;
		u32 slots = t->slots_used[ordinal] & 1u << slot ? view_slots(base) : 1;

		if (wanted & 1u << slot && slot + slots <= t->slots && view_count(base))
			copy_view(s, base, slots * t->slot_size, "overflow page", ordinal);
		slot += slots;
	}
	free(copy);
}

static void account_load(struct salvage *s)
{
	struct chainhash *t = s->from;
	u32 count = overflow_count(t);

	t->slots_used = calloc((size_t)count + 1, 1);
	s->reached = calloc((size_t)count + 1, 1);
	if (!t->slots_used || !s->reached) {
		s->error = -ENOMEM;
		return;
	}
	for (u32 first = 0; first < count; first += t->page_size) {
		u32 part = count - first < t->page_size ? count - first : t->page_size;
		int error = 0;
		const u8 *page = page_get(t, overflow_page(t, first), &error);

		t->operation++;
		if (page) {
			memcpy(t->slots_used + first, page, part);
			continue;
		}
		say(s, "bitmap page %u cannot be read", (unsigned)(first / t->page_size));
		memset(t->slots_used + first, 0xff, part);
	}
}

static int open_damaged(struct salvage *s, const char *path,
			const struct chainhash_options *options)
{
	static const struct chainhash_options defaults;
	struct chainhash *t = s->from;
	struct header header;
	int error;

	t->on_disk = true;
	t->read_only = true;
	t->operation = 1;
	t->cache_size = 8 << 20;
	t->store.tolerant = true;
	t->store.descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (t->store.descriptor < 0)
		return -errno;
	error = header_read(t, &header);
	if (!error)
		error = lock_reader(t->store.descriptor, header.sequence);
	if (!error)
		error = hash_check(t, options ? options : &defaults);
	if (error) {
		say(s, "%s", chainhash_message());
		return error;
	}
	t->store.end = header.end;
	set_masks(t);
	error = store_load(t, header.root, header.levels, header.pages);
	if (t->store.lost)
		say(s, "%llu pages of the map are damaged, or lead nowhere",
		    (unsigned long long)t->store.lost);
	return error;
}

int64_t chainhash_salvage(const char *path, struct chainhash *to,
			  const struct chainhash_options *options, chainhash_report *report,
			  void *context)
{
	struct salvage s = {.to = to, .report = report, .context = context};

	s.from = calloc(1, sizeof(*s.from));
	if (!s.from)
		return -ENOMEM;
	s.error = open_damaged(&s, path, options);
	if (!s.error)
		account_load(&s);
	for (u32 bucket = 0; !s.error && bucket <= s.from->max_bucket; bucket++)
		copy_bucket(&s, bucket);
	for (u32 i = 0; !s.error && i < overflow_count(s.from); i++)
		copy_orphans(&s, i);
	if (!s.error && (u64)s.copied != s.from->records)
		say(&s, "%lld records of %llu were read", (long long)s.copied,
		    (unsigned long long)s.from->records);
	free(s.reached);
	table_free(s.from);
	return s.error ? s.error : s.copied;
}
