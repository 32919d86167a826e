/*
 * header.c - the headers' bytes. See header.h.
 */
#include "header.h"
#include "buckets/bucket.h"
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define MAGIC "\211CHASH\r\n"
#define VERSION 2u
#define SEQUENCE_MOST (1ull << 60) /* readers' locks are on bytes from 2^62 on */

enum { FLAG_CHECKSUMS = 1, SPLIT_SHIFT = 8, CHECKSUM_PLACE = HEADER_SIZE - 4, PAGES_LEAST = 8 };

static _Thread_local char message[256];

int refuse(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error;
}

const char *chainhash_message(void)
{
	return message;
}

/*
 * The average of a bucket's bytes at which controlled splitting by bytes sets in is a page and an
 * eighth. Of the buckets that are yet to be split in a generation most then have a chunk; fewer
 * bytes would leave the pages of those already split emptier (docs/chainhash/design.md).
 */
void set_page_size(struct chainhash *t, u32 size)
{
	t->page_size = size;
	t->page_shift = top_bit(size) - 1;
	t->slots = size / SLOT_SIZE_LEAST < 8 ? size / SLOT_SIZE_LEAST : 8;
	t->slots += !t->slots;
	t->slot_size = size / t->slots;
	t->bytes_limit = size - PAGE_HEAD + size / 8;
	t->store.first = (PAGES_PLACE + size - 1) / size;
	t->frames_most = t->cache_size >> t->page_shift;
	if (t->frames_most < PAGES_LEAST)
		t->frames_most = PAGES_LEAST;
}

void header_make(const struct chainhash *t, u64 sequence, u8 *bytes)
{
	const struct store *store = &t->store;
	struct entry root = store->level[store->levels].entries[0];

	memset(bytes, 0, HEADER_SIZE);
	memcpy(bytes, MAGIC, 8);
	store32(bytes + 8, VERSION);
	store32(bytes + 12, t->page_size);
	store64(bytes + 16, sequence);
	store64(bytes + 24, t->records);
	store64(bytes + 32, t->record_bytes);
	store32(bytes + 40, t->fill_factor);
	store32(bytes + 44, (t->checksums ? FLAG_CHECKSUMS : 0) | t->split << SPLIT_SHIFT);
	store32(bytes + 48, t->max_bucket);
	store32(bytes + 52, store->end);
	store32(bytes + 56, root.physical);
	store32(bytes + 60, root.checksum);
	store32(bytes + 64, store->levels);
	store32(bytes + 68, t->hash_check);
	store64(bytes + 72, t->seed);
	store64(bytes + 80, store->level[0].count);
	memcpy(bytes + 88, t->hash_name, sizeof(t->hash_name));
	for (unsigned i = 0; i < GENERATIONS; i++)
		store32(bytes + 120 + i * 4, t->spares[i]);
	store32(bytes + CHECKSUM_PLACE, checksum(bytes, CHECKSUM_PLACE));
}

/* Does the header describe a table at all? Its checksum is right. */
static bool header_sound(const struct chainhash *t)
{
	const struct store *store = &t->store;
	u64 overflow = t->spares[top_bit(t->max_bucket)];
	bool sound = t->max_bucket <= BUCKETS_MOST - 1 && store->pages <= UINT32_MAX &&
		     store->levels == store_levels_for(t, store->pages) &&
		     store->sequence <= SEQUENCE_MOST && t->split <= CHAINHASH_SPLIT_BOTH &&
		     store->end >= store->first && !t->hash_name[sizeof(t->hash_name) - 1];

	for (unsigned i = 1; i < GENERATIONS && i <= top_bit(t->max_bucket); i++)
		sound = sound && t->spares[i] >= t->spares[i - 1];
	/* All of their bitmaps are in the file, which so bounds how many they are. */
	return sound && overflow <= 1u << 31 &&
	       overflow >> t->page_shift <= store->end - store->first;
}

static int header_take(struct chainhash *t, const u8 *bytes)
{
	u32 size = load32(bytes + 12), flags = load32(bytes + 44);

	if (load32(bytes + 8) != VERSION)
		return refuse(-ENOTSUP, "the file's format is version %u; this library knows %u",
			      load32(bytes + 8), VERSION);
	if (size < PAGE_SIZE_LEAST || size > PAGE_SIZE_MOST || (size & (size - 1)))
		return refuse(-EBADMSG, "the file is damaged: pages of %u bytes", size);
	if (!load64(bytes + 16) && t->store.torn)
		return refuse(-EBADMSG, "the file is damaged: the header of its state is torn");
	if (!load64(bytes + 16))
		return refuse(-ENODATA, "nothing was ever synced to the file");
	set_page_size(t, size);
	t->store.sequence = load64(bytes + 16);
	t->records = load64(bytes + 24);
	t->record_bytes = load64(bytes + 32);
	t->fill_factor = load32(bytes + 40);
	t->checksums = flags & FLAG_CHECKSUMS;
	t->split = flags >> SPLIT_SHIFT & 0xff;
	t->max_bucket = load32(bytes + 48);
	t->store.end = load32(bytes + 52);
	t->store.root = (struct entry){load32(bytes + 56), load32(bytes + 60)};
	t->store.levels = load32(bytes + 64);
	t->hash_check = load32(bytes + 68);
	t->seed = load64(bytes + 72);
	t->store.pages = load64(bytes + 80);
	memcpy(t->hash_name, bytes + 88, sizeof(t->hash_name));
	for (unsigned i = 0; i < GENERATIONS; i++)
		t->spares[i] = load32(bytes + 120 + i * 4);
	if (!header_sound(t))
		return refuse(-EBADMSG, "the file is damaged: its header contradicts itself");
	return 0;
}

/* Why there is no sound header. */
static int header_missing(int descriptor, u8 headers[2][HEADER_SIZE])
{
	const u8 *start = headers[0];
	u32 magic = load32(start);

	if (!lseek(descriptor, 0, SEEK_END))
		return refuse(-ENODATA, "the file is empty");
	if (!memcmp(headers, empty_page, 2 * (size_t)HEADER_SIZE))
		return refuse(-EINVAL,
			      "not a file of chainhash: there are zeros where headers were");
	if (magic == 0x13579ace || magic == 0x13579acd || magic == 0x13579acf)
		return refuse(-EINVAL, "not a file of chainhash, but of gdbm");
	if (magic == 0x61150600)
		return refuse(-EINVAL, "not a file of chainhash, but of Berkeley DB 1.85 (hash)");
	if (!memcmp(start, "ToKyO Ca", 8))
		return refuse(-EINVAL, "not a file of chainhash, but of Tokyo Cabinet");
	if (!memcmp(start, "TDB file", 8))
		return refuse(-EINVAL, "not a file of chainhash, but of tdb");
	if (memcmp(start, MAGIC, 8) && memcmp(headers[1], MAGIC, 8))
		return refuse(-EINVAL, "not a file of chainhash");
	return refuse(-EBADMSG, "the file is damaged: no header of it is whole");
}

static bool header_whole(const u8 *bytes)
{
	return !memcmp(bytes, MAGIC, 8) &&
	       load32(bytes + CHECKSUM_PLACE) == checksum(bytes, CHECKSUM_PLACE);
}

int header_read(struct chainhash *t)
{
	u8 headers[2][HEADER_SIZE] = {{0}}; /* what lies beyond the file's end is zero */
	const u8 *newest = NULL, *other;

	for (u64 i = 0; i < 2; i++) {
		u8 *bytes = headers[i];
		int error = read_all(t->store.descriptor, bytes, HEADER_SIZE, i * HEADER_PLACE);

		if (error && error != -EBADMSG)
			return refuse(error, "the file cannot be read");
		if (header_whole(bytes) && (!newest || load64(bytes + 16) > load64(newest + 16)))
			newest = bytes;
	}
	other = headers[newest == headers[0]];
	t->store.torn = !header_whole(other) && memcmp(other, empty_page, HEADER_SIZE);
	return newest ? header_take(t, newest) : header_missing(t->store.descriptor, headers);
}
