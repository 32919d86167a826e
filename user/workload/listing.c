/*
 * listing - a server of listings of folders, after Tsai 2015, table 3: for each request it reads a
 * folder, asks for each entry by its path, sorts them and writes a page, as Apache's mod_autoindex
 * does, which keeps none of it.
 *
 * Client and server are two processes with a pipe each way, where the paper has a network of one
 * host: what a request costs beside the file system is a write and a read each way and two
 * switches. The client asks for the next page when it has the last.
 */
#define _GNU_SOURCE
#include "files.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ENTRIES = 100000 };

static struct list sizes = {4, {10, 100, 1000, 10000}};
static uint64_t requests;
static int style = NAMES_NUMBERED;

/* What a page has of an entry. */
struct entry {
	char *name;
	struct stat status;
};

/* A page, which grows. */
struct page {
	char *text;
	size_t length, room;
};

static int request_pipe[2], page_pipe[2];

static void write_all(int fd, const void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t part = write(fd, (const char *)bytes + done, length - done);

		if (part <= 0)
			fail_errno("write");
		done += (size_t)part;
	}
}

/* False at the end of the pipe. */
static int read_all(int fd, void *bytes, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t part = read(fd, (char *)bytes + done, length - done);

		if (part < 0)
			fail_errno("read");
		if (part == 0)
			return 0;
		done += (size_t)part;
	}
	return 1;
}

/* ---- the server ---- */

static void add(struct page *page, const char *text, size_t length)
{
	if (page->length + length > page->room) {
		page->room = 2 * (page->room + length);
		page->text = realloc(page->text, page->room);
		if (!page->text)
			fail("no memory for a page of %zu bytes", page->room);
	}
	memcpy(page->text + page->length, text, length);
	page->length += length;
}

static void add_text(struct page *page, const char *text)
{
	add(page, text, strlen(text));
}

static void add_number(struct page *page, uint64_t number)
{
	char digits[24], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	add(page, first, (size_t)(digits + sizeof(digits) - first));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* All entries of @path but `.`, each asked for by its whole path; @count of them. */
static struct entry *read_entries(const char *path, size_t *count)
{
	struct entry *entries = NULL;
	char whole[2 * PATH_LENGTH];
	size_t length = strlen(path);
	DIR *folder = opendir(path);
	struct dirent *found;

	if (!folder)
		fail_errno("%s", path);
	memcpy(whole, path, length);
	whole[length] = '/';
	*count = 0;
	while (errno = 0, (found = readdir(folder))) {
		if (!strcmp(found->d_name, "."))
			continue;
		if (!(*count & (*count - 1)))
			entries = realloc(entries, (2 * *count + 1) * sizeof(*entries));
		if (!entries)
			fail("no memory for %zu entries", *count);
		strcpy(whole + length + 1, found->d_name);
		entries[*count].name = strdup(found->d_name);
		if (!entries[*count].name || stat(whole, &entries[*count].status))
			fail_errno("stat %s", whole);
		++*count;
	}
	if (errno)
		fail_errno("readdir %s", path);
	closedir(folder);
	return entries;
}

/* A date as text; of the same minute as the last one it is made once. */
static const char *date_of(time_t seconds)
{
	static char text[32];
	static time_t minute = -1;
	struct tm time;

	if (seconds / 60 != minute) {
		minute = seconds / 60;
		gmtime_r(&seconds, &time);
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &time);
	}
	return text;
}

static void add_entry(struct page *page, const struct entry *entry)
{
	add_text(page, "<tr><td><a href=\"");
	add_text(page, entry->name);
	add_text(page, "\">");
	add_text(page, entry->name);
	add_text(page, "</a></td><td>");
	add_text(page, date_of(entry->status.st_mtime));
	add_text(page, "</td><td>");
	add_number(page, S_ISDIR(entry->status.st_mode) ? 0 : (uint64_t)entry->status.st_size);
	add_text(page, "</td></tr>\n");
}

/* The page of the folder @path into @page, whose memory stays with it. */
static void make_page(struct page *page, const char *path)
{
	size_t count;
	struct entry *entries = read_entries(path, &count);

	qsort(entries, count, sizeof(*entries), by_name);
	page->length = 0;
	add_text(page, "<html><body><table>\n");
	for (size_t i = 0; i < count; i++) {
		add_entry(page, &entries[i]);
		free(entries[i].name);
	}
	add_text(page, "</table></body></html>\n");
	free(entries);
}

/* Until the client closes its end: a path's length and the path, for which it gets a page's length
 * and the page. */
static void serve(void)
{
	struct page page = {0};
	uint32_t length;

	close(request_pipe[1]);
	close(page_pipe[0]);
	while (read_all(request_pipe[0], &length, sizeof(length))) {
		char path[PATH_LENGTH] = "";
		uint64_t bytes;

		if (length >= sizeof(path) || !read_all(request_pipe[0], path, length))
			fail("a request is not whole");
		make_page(&page, path);
		bytes = page.length;
		write_all(page_pipe[1], &bytes, sizeof(bytes));
		write_all(page_pipe[1], page.text, page.length);
	}
	_exit(0);
}

/* ---- the client ---- */

/* Ask for the page of @path; its lines. */
static uint64_t fetch(const char *path)
{
	static char part[65536];
	uint32_t length = (uint32_t)strlen(path);
	uint64_t bytes, lines = 0;

	write_all(request_pipe[1], &length, sizeof(length));
	write_all(request_pipe[1], path, length);
	if (!read_all(page_pipe[0], &bytes, sizeof(bytes)))
		fail("the server has gone");
	while (bytes) {
		size_t wanted = bytes < sizeof(part) ? bytes : sizeof(part);

		if (!read_all(page_pipe[0], part, wanted))
			fail("the server has gone");
		for (const char *at = part; (at = memchr(at, '\n', wanted - (size_t)(at - part)));
		     at++)
			lines++;
		bytes -= wanted;
	}
	return lines;
}

static void measure(uint64_t size)
{
	char *name = join("%llu files", (unsigned long long)size), *top = getcwd(NULL, 0);
	char *path = join("%s/%s", top, name);
	uint64_t times = requests, start, digest = DIGEST_START;

	if (!times)
		times = size < 20000 ? 20000 / size : 1;
	make_entries(name, size, (enum name_style)style);
	fetch(path); /* the caches are warm */
	progress_start(name, times);
	measured_start();
	start = now_ns();
	for (uint64_t i = 0; i < times; i++) {
		uint64_t lines = fetch(path);

		if (lines != size + 3) /* begin, end, and the way up */
			fail("a page of %llu files has %llu lines", (unsigned long long)size,
			     (unsigned long long)lines);
		progress_add(1);
	}
	start = now_ns() - start;
	measured_stop();
	digest_add(&digest, name);
	digest_add_number(&digest, times);
	result_begin(name, start);
	result_number("entries", size);
	result_number("calls", times);
	result_real("requests_per_second", per_second(times, start));
	result_real("ns_per_call", (double)start / (double)times);
	result_end(digest);
	remove_folder(name);
	free(path);
	free(top);
	free(name);
}

static void run(void)
{
	pid_t server;
	int status;

	if (pipe(request_pipe) || pipe(page_pipe))
		fail_errno("pipe");
	server = fork_child();
	if (server == 0)
		serve();
	close(request_pipe[0]);
	close(page_pipe[1]);
	for (unsigned i = 0; i < sizes.count; i++)
		measure(sizes.values[i]);
	close(request_pipe[1]);
	if (waitpid(server, &status, 0) < 0 || status)
		fail("the server ended with status %#x", status);
}

/* clang-format off */
static const struct option_row options[] = {
	{"entries", OPTION_LIST, "N,...", "files in a folder; 10,100,1000,10000 without it", &sizes, 1, MOST_ENTRIES},
	{"requests", OPTION_NUMBER, "N", "of each; without it as many as list 20000 files", &requests, 1, 1000000},
	{"name-style", OPTION_CHOICE, NAME_STYLES, "how they are called; numbered without it", &style, 0, 0},
	{.name = NULL},
};
/* clang-format on */

const struct load listing_load = {
	"listing",
	"pages of folders' entries that a server makes for each request, after Tsai 2015, table 3",
	options,
	NULL,
	run,
};
