/*
 * driver.c - any system of system.h by commands on standard input, a line each; an answer a line.
 *
 *	open SYSTEM PATH|- create|write|read OPTIONS|-	become the current table
 *	second SYSTEM PATH|- OPTIONS|-	open another table beside it, and close that again
 *	put KEY DATA 0|1	the last: replace
 *	get KEY | remove KEY | sync | close
 *	scan 0|1		all pairs (1) or keys: a line each, then the answer
 *
 * Keys and data are hexadecimal, `-` is no byte at all. An answer is 0, or a negative errno, behind
 * which get has the data; without an open table it is -EBADF. What a system borrows is kept until
 * the close.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/chainhash/others/system.h"

enum { WORDS = 5 };

static struct table *table;
static void **kept; /* what the table borrows */
static size_t kept_count;

static void fail(const char *what)
{
	fprintf(stderr, "driver: %s\n", what);
	exit(2);
}

static unsigned nibble(char digit)
{
	return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

/* The bytes in an allocation of just their size, so that a sanitizer sees who reads beyond. */
static struct item item_of(const char *hex)
{
	struct item item = {.size = strcmp(hex, "-") ? strlen(hex) / 2 : 0};
	uint8_t *bytes = malloc(item.size);

	if (!bytes)
		fail("no memory");
	for (size_t i = 0; i < item.size; i++)
		bytes[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
	item.bytes = bytes;
	return item;
}

static void keep(struct item item)
{
	kept = realloc(kept, (kept_count + 1) * sizeof(*kept));
	if (!kept)
		fail("no memory");
	kept[kept_count++] = (void *)item.bytes;
}

static void print_item(struct item item)
{
	if (!item.size)
		printf(" -");
	else
		printf(" ");
	for (size_t i = 0; i < item.size; i++)
		printf("%02x", ((const uint8_t *)item.bytes)[i]);
}

static int open_table(char **words, const char *options, unsigned flags, struct table **made)
{
	const struct system *system = system_named(words[1]);
	uint64_t values[SYSTEM_OPTIONS];
	char message[256];
	int error;

	if (!system)
		fail("no such system");
	if (!strcmp(options, "-"))
		options = "";
	error = system_options(system, options, values, message, sizeof(message));
	if (error) {
		printf("%d %s\n", error, message);
		return error;
	}
	error = table_open(system, made, strcmp(words[2], "-") ? words[2] : NULL, flags, values);
	printf("%d\n", error);
	return error;
}

static void second(char **words)
{
	struct table *other;

	if (!open_table(words, words[3], TABLE_CREATE, &other))
		table_close(other);
}

static void open_current(char **words)
{
	unsigned flags = 0;

	if (!strcmp(words[3], "create"))
		flags = TABLE_CREATE;
	else if (!strcmp(words[3], "read"))
		flags = TABLE_READ_ONLY;
	if (table)
		fail("a table is open");
	open_table(words, words[4], flags, &table);
}

static void put(char **words)
{
	const struct item key = item_of(words[1]), data = item_of(words[2]);

	printf("%d\n", table_put(table, key, data, words[3][0] == '1'));
	if (table->system->traits & SYSTEM_BORROWS) {
		keep(key);
		keep(data);
	} else {
		free((void *)key.bytes);
		free((void *)data.bytes);
	}
}

static void get(char **words)
{
	const struct item key = item_of(words[1]);
	struct item data;
	const int error = table_get(table, key, &data);

	printf("%d", error);
	if (!error)
		print_item(data);
	printf("\n");
	free((void *)key.bytes);
}

static void scan(bool with_data)
{
	struct cursor cursor = {{0, 0}};
	struct item key, data;
	int error;

	while (!(error = table_scan(table, &cursor, &key, with_data ? &data : NULL))) {
		printf("pair");
		print_item(key);
		if (with_data)
			print_item(data);
		printf("\n");
	}
	printf("%d\n", error);
}

static void close_current(void)
{
	printf("%d\n", table_close(table));
	table = NULL;
	while (kept_count)
		free(kept[--kept_count]);
	free(kept);
	kept = NULL;
}

static void obey(char **words)
{
	if (!strcmp(words[0], "open")) {
		open_current(words);
	} else if (!strcmp(words[0], "second")) {
		second(words);
	} else if (!table) {
		printf("%d\n", -EBADF);
	} else if (!strcmp(words[0], "put")) {
		put(words);
	} else if (!strcmp(words[0], "get")) {
		get(words);
	} else if (!strcmp(words[0], "remove")) {
		const struct item key = item_of(words[1]);

		printf("%d\n", table_remove(table, key));
		free((void *)key.bytes);
	} else if (!strcmp(words[0], "scan")) {
		scan(words[1][0] == '1');
	} else if (!strcmp(words[0], "sync")) {
		printf("%d\n", table_sync(table));
	} else if (!strcmp(words[0], "close")) {
		close_current();
	} else {
		fail("no such command");
	}
}

int main(void)
{
	char *line = NULL, *words[WORDS + 1];
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		char *rest = line;
		int count = 0;

		line[strcspn(line, "\n")] = '\0';
		memset(words, 0, sizeof(words));
		while (count < WORDS && (words[count] = strsep(&rest, " ")))
			count++;
		obey(words);
		fflush(stdout);
	}
	free(line);
	if (table)
		fail("a table was left open");
	return 0;
}
