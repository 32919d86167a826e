/*
 * units.c - functions of the library's inside against what they stand for.
 */
#include "buckets/hash.h"
#include "buckets/overflow.h"
#include "buckets/split.h"
#include "model.h"
#include "store/lock.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* hash_default() reads eight bytes at a time; here one after the other. */
static void check_default_hash(void)
{
	for (size_t size = 0; size < 70; size++) {
		unsigned char *bytes = malloc(size + 1);
		uint32_t expected = 0;

		CHECK(bytes);
		for (size_t i = 0; i < size; i++) {
			bytes[i] = (unsigned char)(i * 37 + size * 11 + 200);
			expected = expected * 33 + bytes[i];
		}
		CHECK(hash_default(bytes, size) == expected);
		free(bytes);
	}
}

static void check_checksum(void)
{
	static const unsigned char zeros[32];

	CHECK(checksum((const u8 *)"123456789", 9) == 0xe3069283);
	CHECK(checksum(zeros, sizeof(zeros)) == 0x8a9136aa); /* RFC 3720, B.4 */
	CHECK(checksum_by_tables((const u8 *)"123456789", 9) == 0xe3069283);
	CHECK(checksum_by_tables(zeros, sizeof(zeros)) == 0x8a9136aa);
}

/*
 * Tags begin at another bit when the table has grown from level 7 to 8, and from 15 to 16: every
 * record has the right one, and is found, at every size about there.
 */
static void check_levels(void)
{
	struct chainhash_options options = {.bucket_size = 64, .fill_factor = 1};
	struct chainhash_item data;
	struct chainhash *table;

	CHECK(!chainhash_open(&table, NULL, 0, 0, &options));
	for (uint32_t i = 0; i < 70000; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_put(table, key, key, 0));
		if ((i >= 120 && i < 140) || (i >= 250 && i < 260) || i == 32770 || i == 50000)
			CHECK(!chainhash_verify(table, NULL, NULL, NULL));
	}
	CHECK(!chainhash_verify(table, NULL, NULL, NULL));
	for (uint32_t i = 0; i < 70000; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_get(table, key, &data) && !memcmp(data.bytes, &i, sizeof(i)));
	}
	chainhash_abandon(table);
}

/*
 * A chain that leads back to itself, as a damaged file may have it, is an error of the split, and
 * is noticed soon, however many pages there might be.
 */
static void check_endless_chain(void)
{
	struct chainhash_options options = {.bucket_size = 64, .fill_factor = 1000};
	struct chainhash_item key = {NULL, sizeof(uint32_t)};
	struct chainhash *table;
	struct chain chain;
	int next;
	uint32_t i;

	CHECK(!chainhash_open(&table, NULL, 0, 0, &options));
	key.bytes = &i;
	for (i = 0; i < 50; i++)
		CHECK(!chainhash_put(table, key, key, 0));
	CHECK(chain_first(table, 0, &chain) == 1);
	while (chain.next)
		CHECK(chain_next(table, &chain) == 1);
	CHECK(chain.number > 1);
	store32(chain.view.base + 4, chain.before.address);
	CHECK(chainhash_put(table, key, key, 0) == -EBADMSG && split(table) == -EBADMSG);
	table->spares[0] += 98000;
	next = chain_first(table, 0, &chain);
	while (next > 0)
		next = chain_next(table, &chain);
	CHECK(next == -EBADMSG && chain.number < 200);
	chainhash_abandon(table);
}

/* The first number from @number on whose record a split of the only bucket leaves where it is. */
static uint32_t next_staying(uint32_t number)
{
	while (hash_place(hash_default((const u8 *)&number, sizeof(number))) & 1)
		number++;
	return number;
}

/*
 * A split of a bucket whose chunk the account of a damaged file has as free in part: the first of
 * its records goes to a new chunk that lies over its head, with bytes that would make the second
 * one begin far before the page.
 */
static void check_split_over_itself(void)
{
	struct chainhash_options options = {.bucket_size = 4096, .fill_factor = 1000};
	static u8 bytes[3000];
	struct chainhash_item key = {NULL, sizeof(uint32_t)}, data = {bytes, 590};
	uint32_t number = 0;
	struct chainhash *table;
	struct chain chain;
	int error = 0;

	memset(bytes, 0xff, sizeof(bytes));
	CHECK(!chainhash_open(&table, NULL, 0, 0, &options));
	key.bytes = &number;
	for (u32 records = 0; records < 8; records++) {
		number = next_staying(number + 1);
		/* Six fill the page; the last one has a chunk of five slots with the seventh. */
		data.size = records == 7 ? 1500 : 590;
		CHECK(!chainhash_put(table, key, data, 0));
	}
	CHECK(chain_first(table, 0, &chain) == 1 && chain_next(table, &chain) == 1);
	CHECK(view_count(chain.view.base) == 2 && view_slots(chain.view.base) == 5);
	CHECK(overflow_count(table) == 2 && !chain.next);
	/* Slots 3 to 7 it is to have, of which the account knows the last four. */
	memmove(chain.view.base + (3 - (chain.view.address & 7)) * 512, chain.view.base, 5 * 512);
	store32(chain.before.base + 4, (chain.view.address & ~7u) | 3);
	table->slots_used[1] = 0xf3;
	error = split(table);
	CHECK(!error || error == -EBADMSG);
	chainhash_abandon(table);
}

/* A file in memory with one record, its writer, and a reader by mmap. */
static int open_pair(struct chainhash_item key, struct chainhash **writer,
		     struct chainhash **reader)
{
	int descriptor = memfd_create("table", 0);
	char path[64];

	CHECK(descriptor >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	CHECK(!chainhash_open(writer, path, CHAINHASH_CREATE, 0, NULL));
	CHECK(!chainhash_put(*writer, key, key, 0) && !chainhash_sync(*writer));
	CHECK(!chainhash_open(reader, path, CHAINHASH_READ_ONLY, 0, NULL));
	return descriptor;
}

/* Records 0 to @count - 1, each its own key and data. */
static void put_numbers(struct chainhash *table, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_put(table, key, key, 0));
	}
	CHECK(!chainhash_sync(table));
}

/* Change a number of the newest header, that of state @sequence, and make its checksum right. */
static void change_header(int descriptor, u64 sequence, u32 place, u32 count, u32 value)
{
	off_t at = (off_t)(sequence % 2 * HEADER_PLACE);
	u8 header[HEADER_SIZE];

	CHECK(pread(descriptor, header, HEADER_SIZE, at) == HEADER_SIZE);
	for (u32 i = 0; i < count; i++)
		store32(header + place + 4 * i, value);
	store32(header + HEADER_SIZE - 4, checksum(header, HEADER_SIZE - 4));
	CHECK(pwrite(descriptor, header, HEADER_SIZE, at) == HEADER_SIZE);
}

/* A reader whose file was cut off under it hears of it, and finds nothing rather than less. */
static void check_failed_refresh(void)
{
	struct chainhash_item key = {"key", 3}, data;
	struct chainhash *writer, *reader, *new;
	int descriptor = open_pair(key, &writer, &reader);

	CHECK(!chainhash_delete(writer, key) && !chainhash_sync(writer));
	CHECK(!chainhash_put(writer, key, key, 0) && !chainhash_sync(writer));
	CHECK(!chainhash_get(reader, key, &data) && data.size == 3);
	put_numbers(writer, 30000);
	CHECK(!ftruncate(descriptor, PAGES_PLACE + 1));
	CHECK(chainhash_refresh(reader) == -EBADMSG);
	CHECK(chainhash_get(reader, key, &data) == -EIO);
	CHECK(chainhash_verify(reader, NULL, NULL, NULL) == -EIO);
	CHECK(!chainhash_open(&new, NULL, 0, 0, NULL));
	CHECK(chainhash_salvage(reader, new, NULL, NULL) == -EIO);
	chainhash_abandon(new);
	chainhash_abandon(reader);
	chainhash_abandon(writer);
	close(descriptor);
}

/* A reader that cannot go over to a state whose header contradicts itself stays where it is. */
static void check_refused_refresh(void)
{
	struct chainhash_item key = {"key", 3}, data;
	struct chainhash *writer, *reader;
	int descriptor = open_pair(key, &writer, &reader);
	u8 header[HEADER_SIZE];

	/* State 1 is in the second header; state 2 is to have a map of no level. */
	CHECK(pread(descriptor, header, HEADER_SIZE, HEADER_PLACE) == HEADER_SIZE);
	store64(header + 16, 2);
	store32(header + 64, 0);
	store32(header + HEADER_SIZE - 4, checksum(header, HEADER_SIZE - 4));
	CHECK(pwrite(descriptor, header, HEADER_SIZE, 0) == HEADER_SIZE);
	CHECK(chainhash_refresh(reader) == -EBADMSG);
	CHECK(!chainhash_get(reader, key, &data) && data.size == 3);
	chainhash_abandon(reader);
	chainhash_abandon(writer);
	close(descriptor);
}

/* What a maker left who came to his end before his first sync is anybody's to make a table of. */
static void check_adopted(void)
{
	struct chainhash_options options = {.bucket_size = 64, .cache_size = 1};
	int descriptor = memfd_create("table", 0);
	struct chainhash_status status;
	struct chainhash *table;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE, 0, &options));
	for (uint32_t i = 0; i < 1000; i++) {
		struct chainhash_item key = {&i, sizeof(i)};

		CHECK(!chainhash_put(table, key, key, 0));
	}
	chainhash_status(table, &status);
	CHECK(status.page_writes);
	chainhash_abandon(table);
	CHECK(chainhash_open(&table, path, CHAINHASH_READ_ONLY, 0, NULL) == -ENODATA);
	CHECK(chainhash_open(&table, path, 0, 0, NULL) == -ENODATA);
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE, 0, NULL));
	chainhash_status(table, &status);
	CHECK(!status.records && status.bucket_size == 4096);
	CHECK(!chainhash_close(table));
	close(descriptor);
}

/*
 * What is verified by mmap is the state at hand, and not one that was verified before; of a page
 * that was right then, what has become of it since.
 */
static void check_verified_anew(void)
{
	struct chainhash_item key = {"key", 3};
	struct chainhash *writer, *reader;
	int descriptor = open_pair(key, &writer, &reader);
	const u8 *data; /* of the first record */

	CHECK(!chainhash_verify(reader, NULL, NULL, NULL));
	put_numbers(writer, 30000);
	CHECK(!chainhash_refresh(reader) && overflow_count(reader) > 8);
	CHECK(!chainhash_verify(reader, NULL, NULL, NULL));
	CHECK(reader->pages[0]);
	data = reader->pages[0] + reader->page_size - 1;
	CHECK(*data != 0xff);
	CHECK(pwrite(descriptor, "\xff", 1, data - reader->map.bytes) == 1);
	CHECK(chainhash_verify(reader, NULL, NULL, NULL) > 0);
	chainhash_abandon(reader);
	chainhash_abandon(writer);
	close(descriptor);
}

/*
 * A large record whose stub leads, in a damaged file without checksums, to an overflow page that
 * was taken and given back before any sync, or to the last of @claimed ones that its header speaks
 * of: it is deleted, and nothing beyond the table's pages is touched.
 */
static void check_stub_beyond_pages(u32 claimed)
{
	struct chainhash_options options = {.bucket_size = 4096};
	static char bytes[3000000];
	struct chainhash_item key = {"\0\0\0", 3}, data = {bytes, sizeof(bytes)};
	int descriptor = memfd_create("table", 0);
	struct chainhash *table;
	off_t stub;
	char path[64];
	u8 words[17];
	u32 pages;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE | CHAINHASH_NO_CHECKSUM, 0, &options));
	CHECK(!chainhash_put(table, key, data, 0) && !chainhash_delete(table, key));
	data.size = 5000;
	CHECK(!chainhash_put(table, key, data, 0) && !chainhash_sync(table));
	/* The only item ends the page of bucket 0. */
	stub = (off_t)(table->store.level[0].entries[0].physical + 1) * 4096 - STUB_SIZE;
	CHECK(pread(descriptor, words, STUB_SIZE, stub) == STUB_SIZE && words[0] == STUB);
	store32(words + 5, 10);
	pages = claimed ? claimed : overflow_count(table);
	store32(words + 13, (pages - 1) << 3);
	CHECK(pages > 700);
	chainhash_abandon(table);
	if (claimed)
		change_header(descriptor, 1, 120, 1, claimed);
	CHECK(pwrite(descriptor, words, STUB_SIZE, stub) == STUB_SIZE);
	CHECK(!chainhash_open(&table, path, 0, 0, NULL));
	CHECK(table->page_count < 700);
	CHECK(!chainhash_delete(table, key) && !chainhash_sync(table));
	chainhash_abandon(table);
	close(descriptor);
}

/* A reader that could not go over goes on when it can, and by mmap as before. */
static void check_repeated_refresh(void)
{
	struct chainhash_item key = {"key", 3}, data;
	struct chainhash *writer, *reader;
	int descriptor = open_pair(key, &writer, &reader);
	u64 size;

	put_numbers(writer, 1000);
	size = (u64)writer->store.end << writer->page_shift;
	CHECK(!ftruncate(descriptor, (off_t)size - 1));
	for (int i = 0; i < 2; i++) {
		CHECK(chainhash_refresh(reader) == -EBADMSG);
		CHECK(chainhash_get(reader, key, &data) == -EIO);
	}
	CHECK(!ftruncate(descriptor, (off_t)size));
	CHECK(!chainhash_refresh(reader));
	CHECK(!chainhash_get(reader, key, &data));
	CHECK(reader->map.bytes && reader->store.sequence == 2);
	/* It holds the state that it is at. */
	CHECK(!lock_oldest_reader(writer->store.descriptor, 10, &size) && size == 2);
	chainhash_abandon(reader);
	chainhash_abandon(writer);
	close(descriptor);
}

/* A header that asks for more than its file can have is refused, whoever reads it and how. */
static void check_header_bounds(void)
{
	static const struct change {
		u32 place, count, value;
	} changes[] = {
		{64, 1, 11},	     /* levels of the map */
		{120, 32, 1u << 31}, /* overflow pages up to each split point */
		{120, 32, 1u << 20},
	};
	static const int ways[] = {0, CHAINHASH_READ_ONLY, CHAINHASH_READ_ONLY | CHAINHASH_POOL};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct chainhash_item key = {"key", 3};
		struct chainhash *writer, *reader;
		int descriptor = open_pair(key, &writer, &reader);
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
		chainhash_abandon(reader);
		chainhash_abandon(writer);
		change_header(descriptor, 1, changes[i].place, changes[i].count, changes[i].value);
		for (size_t how = 0; how < 3; how++)
			CHECK(chainhash_open(&reader, path, ways[how], 0, NULL) == -EBADMSG);
		close(descriptor);
	}
}

/* Does the report say that deleted records may come back? */
static void note_deleted(void *told, const char *problem)
{
	*(bool *)told |= strstr(problem, "deleted records may come back") != NULL;
}

/* Without the account of chunks in use those of deleted records are salvaged, too: it is told. */
static void check_deleted_come_back(void)
{
	struct chainhash_options options = {.bucket_size = 1024, .fill_factor = 64};
	int descriptor = memfd_create("table", 0);
	struct chainhash *table, *new;
	bool told = false;
	char path[64];
	off_t bitmap;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	CHECK(!chainhash_open(&table, path, CHAINHASH_CREATE, 0, &options));
	put_numbers(table, 1000);
	bitmap = (off_t)table->store.level[0].entries[overflow_page(table, 0)].physical * 1024;
	chainhash_abandon(table);
	for (int damaged = 0; damaged < 2; damaged++) {
		CHECK(!damaged || pwrite(descriptor, "x", 1, bitmap + 1000) == 1);
		CHECK(!chainhash_open(&table, path, CHAINHASH_READ_ONLY | CHAINHASH_DAMAGED, 0,
				      NULL));
		CHECK(!chainhash_open(&new, NULL, 0, 0, NULL));
		CHECK(chainhash_salvage(table, new, note_deleted, &told) == 1000);
		CHECK(told == damaged);
		chainhash_abandon(new);
		chainhash_abandon(table);
	}
	close(descriptor);
}

/* All files have one byte order: another one is refused, not taken and not heeded. */
static void check_byte_order(void)
{
	struct chainhash_options options = {.byte_order = 1234};
	struct chainhash *table;

	CHECK(!chainhash_open(&table, NULL, 0, 0, &options));
	chainhash_abandon(table);
	options.byte_order = 4321;
	CHECK(chainhash_open(&table, NULL, 0, 0, &options) == -EINVAL);
	CHECK(strstr(chainhash_message(), "4321") && strstr(chainhash_message(), "1234"));
}

/* The values of all functions, for a test that compares builds. */
static void print_values(void)
{
	static const char text[] = "The quick brown fox jumps over the lazy dog. ";
	char bytes[600];
	const char *name;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = text[i % (sizeof(text) - 1)];
	for (unsigned i = 0; (name = chainhash_hash_name(i)); i++) {
		struct chainhash_options options = {.hash = name, .seed = 7};
		struct chainhash *table;

		CHECK(!chainhash_open(&table, NULL, 0, 0, &options));
		for (size_t size = 0; size < sizeof(bytes); size = size * 2 + 1)
			printf("%s %zu %08x\n", name, size, (unsigned)hash_key(table, bytes, size));
		chainhash_abandon(table);
	}
}

int main(void)
{
	check_default_hash();
	check_checksum();
	check_levels();
	check_endless_chain();
	check_split_over_itself();
	check_byte_order();
	check_adopted();
	check_failed_refresh();
	check_refused_refresh();
	check_verified_anew();
	check_stub_beyond_pages(0);
	check_stub_beyond_pages(16000);
	check_repeated_refresh();
	check_header_bounds();
	check_deleted_come_back();
	print_values();
	return 0;
}
