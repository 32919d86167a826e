/*
 * records.c - the commands that store and print records, and their text.
 *
 * A dump is lines of "key TAB data". Bytes that are not printed, backslashes and those two
 * separators are escaped, so that any bytes pass. A line that begins with "#chainhash" is a
 * comment.
 */
#include "tool.h"

#include <ctype.h>

/* What stands behind a backslash, and for which byte. */
static const char letters[] = "\\tn", values[] = "\\\t\n";

void print_escaped(FILE *file, struct chainhash_item item)
{
	const unsigned char *bytes = item.bytes;

	for (size_t i = 0; i < item.size; i++) {
		unsigned char c = bytes[i];
		const char *value = c ? strchr(values, c) : NULL;

		if (value)
			fprintf(file, "\\%c", letters[value - values]);
		else if (c < 0x20 || c == 0x7f || (c == '#' && !i))
			fprintf(file, "\\x%02x", c);
		else
			putc(c, file);
	}
}

bool unescape(const char *text, size_t size, char *bytes, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < size; i++) {
		char c = text[i];
		const char *letter;

		if (c == '\\') {
			letter = ++i < size && text[i] ? strchr(letters, text[i]) : NULL;
			if (letter) {
				c = values[letter - letters];
			} else if (i + 2 < size && text[i] == 'x' &&
				   isxdigit((unsigned char)text[i + 1]) &&
				   isxdigit((unsigned char)text[i + 2])) {
				char digits[] = {text[i + 1], text[i + 2], 0};

				c = (char)strtoul(digits, NULL, 16);
				i += 2;
			} else {
				return false;
			}
		}
		bytes[(*count)++] = c;
	}
	return true;
}

/* One line into the table: 0, 1 (the key is there and is to stay), or a negative errno. */
static int load_line(const struct settings *settings, char *line, size_t size,
		     struct chainhash *table)
{
	char *tab = memchr(line, '\t', size);
	struct chainhash_item key = {line, 0}, data = {NULL, 0};
	int error;

	if (!tab)
		return -EINVAL;
	data.bytes = tab + 1;
	/* In place: what is unescaped is never longer. */
	if (!unescape(line, (size_t)(tab - line), line, &key.size) ||
	    !unescape(tab + 1, size - (size_t)(tab + 1 - line), tab + 1, &data.size))
		return -EINVAL;
	error = chainhash_put(table, key, data,
			      settings->keep ? CHAINHASH_INSERT : CHAINHASH_REPLACE);
	return error == -EEXIST ? 1 : error;
}

/* Read lines of "key TAB data" (the format of dump) and put them into @table. Gives a status. */
static int load_lines(struct settings *settings, FILE *file, const char *name,
		      struct chainhash *table)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	uint64_t number = 0, whole = 0, expected = 0;
	int error = 0, failure;

	while (error >= 0 && (size = getline(&line, &room, file)) >= 0) {
		bool ends = line[size - 1] == '\n';

		number++;
		size -= ends;
		if (size >= 10 && !memcmp(line, "#chainhash", 10)) {
			const char *records = strstr(line, " records=");

			expected += records ? strtoull(records + 9, NULL, 10) : 0;
			continue;
		}
		whole += ends;
		error = load_line(settings, line, (size_t)size, table);
		if (number % 65536 == 0)
			progress(settings, number, 0);
	}
	failure = errno;
	progress_end(settings);
	free(line);
	if (error == -EINVAL)
		return complain(0, "%s: line %" PRIu64 " is no KEY<TAB>DATA", name, number);
	if (error < 0)
		return complain(error, "%s: line %" PRIu64, name, number);
	/* It ends without an error of the file where there is no memory for a line. */
	if (!feof(file))
		return complain(-failure, "%s", name);
	if (whole >= expected)
		return DONE;
	complain(0, "%s: the dump is cut off: %" PRIu64 " records of %" PRIu64, name, whole,
		 expected);
	return NO;
}

int command_load(struct settings *settings, struct chainhash *table)
{
	const char *path = settings->words[0];
	const char *name = settings->word_count > 1 ? settings->words[1] : "-";
	FILE *file = strcmp(name, "-") ? fopen(name, "r") : stdin;
	int status;

	if (!file)
		return complain(-errno, "%s", name);
	table = open_table(settings, path, CHAINHASH_CREATE);
	status = table ? load_lines(settings, file, name, table) : FAILED;
	if (file != stdin)
		fclose(file);
	if (!table)
		return FAILED;
	if (!status)
		return close_table(table, path, DONE);
	chainhash_abandon(table);
	complain(0, "%s: no line was stored", path);
	return status;
}

int command_dump(struct settings *settings, struct chainhash *table)
{
	struct chainhash_cursor cursor = {{0, 0}};
	struct chainhash_item key, data;
	struct chainhash_status about;
	int error;

	chainhash_status(table, &about);
	printf("#chainhash 1 bucket-size=%u fill-factor=%u hash=%s records=%" PRIu64 "\n",
	       about.bucket_size, about.fill_factor, about.hash, about.records);
	while (!(error = chainhash_scan(table, &cursor, &key, &data))) {
		print_escaped(stdout, key);
		putchar('\t');
		print_escaped(stdout, data);
		putchar('\n');
	}
	return error == -ENOENT ? DONE : complain(error, "%s", settings->words[0]);
}

/* The status of a call, one of whose errors is an answer. */
static int status_of(const struct settings *settings, int error, int answer)
{
	if (error == answer)
		return NO;
	return error ? complain(error, "%s", settings->words[0]) : DONE;
}

int command_get(struct settings *settings, struct chainhash *table)
{
	struct chainhash_item data;
	int error = chainhash_get(table, settings->items[0], &data);

	if (!error) {
		print_escaped(stdout, data);
		putchar('\n');
	}
	return status_of(settings, error, -ENOENT);
}

int command_put(struct settings *settings, struct chainhash *table)
{
	int how = settings->keep ? CHAINHASH_INSERT : CHAINHASH_REPLACE;
	int error = chainhash_put(table, settings->items[0], settings->items[1], how);

	return status_of(settings, error, -EEXIST);
}

int command_delete(struct settings *settings, struct chainhash *table)
{
	return status_of(settings, chainhash_delete(table, settings->items[0]), -ENOENT);
}
