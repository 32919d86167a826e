/* data.c - the records: out of a file of words or accounts, or made by their numbers. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { KEY_SIZE = 16, KEY_STRIDE = 17, DATA_SIZE = 100, POOL_SIZE = 1 << 20 };

static void fail(const char *path, const char *what)
{
	fprintf(stderr, "hashbench: %s: %s\n", path, what);
	exit(2);
}

static void *must(void *memory)
{
	if (!memory)
		fail("records", "no memory");
	return memory;
}

/* The whole file with a zero byte behind it. */
static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	size_t room = 1 << 16;
	char *text = must(malloc(room));

	if (!file)
		fail(path, strerror(errno));
	for (*size = 0;;) {
		*size += fread(text + *size, 1, room - *size - 1, file);
		if (*size < room - 1)
			break;
		room *= 2;
		text = must(realloc(text, room));
	}
	if (ferror(file))
		fail(path, strerror(errno));
	fclose(file);
	text[*size] = '\0';
	return text;
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static struct item string_item(const char *text)
{
	return (struct item){text, strlen(text)};
}

static void add_record(struct dataset *set, const char *key, const char *data)
{
	set->items[2 * set->count] = string_item(key);
	set->items[2 * set->count + 1] = string_item(data);
	set->count++;
}

static void name_set(struct dataset *set, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(set->name, sizeof(set->name), "%s", slash ? slash + 1 : path);
}

void data_read_words(struct dataset *set, const char *path)
{
	size_t size, lines;
	char *numbers, *rest, *line;

	memset(set, 0, sizeof(*set));
	name_set(set, path);
	rest = set->text = read_file(path, &size);
	lines = lines_of(rest);
	set->items = must(calloc(lines + 1, 2 * sizeof(*set->items)));
	numbers = must(malloc((lines + 1) * 12));
	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		sprintf(numbers, "%zu", set->count + 1);
		add_record(set, line, numbers);
		numbers += strlen(numbers) + 1;
	}
	set->room = set->count;
	if (!set->count)
		fail(path, "no word in it");
}

void data_read_passwd(struct dataset *set, const char *path)
{
	size_t size, lines;
	char *rest, *line, *uid;

	memset(set, 0, sizeof(*set));
	name_set(set, path);
	rest = set->text = read_file(path, &size);
	lines = lines_of(rest);
	set->items = must(calloc(lines + 1, 4 * sizeof(*set->items)));
	while ((line = strsep(&rest, "\n"))) {
		char *copy = must(strdup(line)), *colon = strchr(copy, ':');

		if (!colon) {
			free(copy);
			continue;
		}
		*colon = '\0';
		add_record(set, copy, line + (colon - copy) + 1);
		uid = strchr(colon + 1, ':');
		if (!uid)
			fail(path, "a line without a user id");
		uid = must(strndup(uid + 1, strcspn(uid + 1, ":")));
		add_record(set, uid, line);
	}
	set->room = set->count;
	if (!set->count)
		fail(path, "no account in it");
}

uint64_t random_next(uint64_t *state)
{
	uint64_t number = *state += 0x9e3779b97f4a7c15;

	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return number ^ number >> 31;
}

void data_make(struct dataset *set, size_t count, size_t more, uint64_t seed)
{
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	uint64_t state = seed;

	memset(set, 0, sizeof(*set));
	snprintf(set->name, sizeof(set->name), "%zu records", count);
	set->count = count;
	set->room = count + more;
	set->pool = must(malloc(POOL_SIZE));
	set->keys = must(malloc(set->room * KEY_STRIDE));
	for (size_t i = 0; i < POOL_SIZE; i++)
		set->pool[i] = (char)random_next(&state);
	/* 96 random bits: of 10 million keys two are the same once in 10^15 seeds. */
	for (size_t i = 0; i < set->room; i++) {
		char *key = set->keys + i * KEY_STRIDE;

		for (int half = 0; half < KEY_SIZE; half += KEY_SIZE / 2) {
			const uint64_t number = random_next(&state);

			for (int j = 0; j < KEY_SIZE / 2; j++)
				key[half + j] = letters[number >> 6 * j & 63];
		}
		key[KEY_SIZE] = '\0';
	}
}

struct item data_key(const struct dataset *set, size_t record)
{
	if (set->items)
		return set->items[2 * record];
	return (struct item){set->keys + record * KEY_STRIDE, KEY_SIZE};
}

struct item data_value(const struct dataset *set, size_t record)
{
	if (set->items)
		return set->items[2 * record + 1];
	return (struct item){set->pool + record * 7919 % (POOL_SIZE - DATA_SIZE), DATA_SIZE};
}

static size_t common_divisor(size_t a, size_t b)
{
	while (b) {
		const size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

size_t data_scattering(size_t count)
{
	size_t factor = (size_t)((double)count * 0.6180339887) | 1;

	while (common_divisor(factor, count) != 1)
		factor += 2;
	return factor;
}
