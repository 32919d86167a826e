/*
 * fuzz.c - any bytes as a file: an error, but never a crash or a hang.
 *
 *	clang -fsanitize=fuzzer,address,undefined ...	libFuzzer: tests/chainhash/README.md has the
 *command fuzz FILE...					with -DALONE: each file once
 *
 * The first byte of an input says what is done to the rest before it is a file: the checksums of
 * headers are made right (1), pages are said to have none (2), so that what lies behind them is
 * reached. Headers that ask for more than 2^16 buckets or pages are left out: such a table may be
 * right, and a scan of it takes its time.
 */
#include "header.h"
#include "model.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RIGHT_HEADERS = 1, NO_CHECKSUMS = 2, LARGEST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* false: the header asks for much. */
static bool prepare(u8 *header, unsigned how)
{
	if (how & NO_CHECKSUMS)
		header[44] &= 0xfe;
	if (how & RIGHT_HEADERS)
		store32(header + HEADER_SIZE - 4, checksum(header, HEADER_SIZE - 4));
	for (unsigned i = 0; i < GENERATIONS; i++)
		if (load32(header + 120 + i * 4) > LARGEST)
			return false;
	return load32(header + 48) <= LARGEST && load64(header + 80) <= LARGEST;
}

static void use(struct chainhash *table, bool writes)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_histogram histogram;
	struct chainhash_item key, data, mine = {"a key", 5}, text = {"some data", 9};
	volatile unsigned sum = 0;
	int limit = 20000;

	while (limit-- && !chainhash_scan(table, &cursor, &key, &data))
		for (size_t i = 0; i < data.size; i++)
			sum += ((const u8 *)data.bytes)[i];
	(void)chainhash_get(table, mine, &data);
	(void)chainhash_histogram(table, &histogram);
	(void)chainhash_verify(table, NULL, NULL, NULL);
	if (!writes)
		return;
	for (int i = 0; i < 40; i++) {
		char name[16];

		mine = (struct chainhash_item){name, (size_t)sprintf(name, "key %d", i)};
		(void)chainhash_put(table, mine, text, 0);
		if (i % 3 == 0)
			(void)chainhash_delete(table, mine);
	}
	memset(&cursor, 0, sizeof(cursor));
	for (int i = 0; i < 40 && !chainhash_scan(table, &cursor, &key, NULL); i++)
		(void)chainhash_delete(table, key);
	(void)chainhash_sync(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const int ways[] = {CHAINHASH_READ_ONLY, CHAINHASH_READ_ONLY | CHAINHASH_POOL, 0};
	int descriptor = memfd_create("table", 0);
	struct chainhash *table;
	char path[64];
	unsigned how;
	u8 *copy;

	CHECK(descriptor >= 0);
	if (!size)
		goto end;
	how = *bytes++;
	size--;
	copy = malloc(size + 1);
	CHECK(copy);
	if (size)
		memcpy(copy, bytes, size);
	for (size_t place = 0; place <= HEADER_PLACE; place += HEADER_PLACE)
		if (size >= place + HEADER_SIZE && !prepare(copy + place, how))
			size = 0;
	CHECK(write(descriptor, copy, size) == (ssize_t)size);
	free(copy);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
	for (unsigned i = 0; i < 3; i++)
		if (!chainhash_open(&table, path, ways[i] | CHAINHASH_NO_FLUSH * (i == 2), 0,
				    NULL)) {
			use(table, i == 2);
			chainhash_abandon(table);
		}
	if (!chainhash_open(&table, path, CHAINHASH_READ_ONLY | CHAINHASH_DAMAGED, 0, NULL)) {
		struct chainhash *to;

		CHECK(!chainhash_open(&to, NULL, 0, 0, NULL));
		(void)chainhash_salvage(table, to, NULL, NULL);
		chainhash_abandon(to);
		chainhash_abandon(table);
	}
end:
	close(descriptor);
	return 0;
}

#ifdef ALONE
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static u8 bytes[1 << 20];
		FILE *file = fopen(argv[i], "rb");
		size_t size;

		CHECK(file);
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		snprintf(check_context, sizeof(check_context), "%s", argv[i]);
		LLVMFuzzerTestOneInput(bytes, size);
	}
	printf("%d files\n", argc - 1);
	return 0;
}
#endif
