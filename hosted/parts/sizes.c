/*
 * sizes.c - hash_cache_create() on a machine whose memory and command line the test gives.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash/size.c"
#include "core/cmdline.c"
#include "core/base/format.c"

static u64 pages, largest;
static char log_text[8192];
static u64 allocated;

/* "%pS" is not for here. */
const char *symbol_lookup(u64 address, u64 *offset)
{
	return NULL;
}

u64 page_alloc_total_pages(void)
{
	return pages;
}

void *hash_alloc_table(u64 bytes)
{
	allocated = bytes;
	return bytes <= largest ? (void *)4096 : NULL;
}

void panic(const char *format, ...)
{
	snprintf(log_text, sizeof(log_text), "panic");
	exit(3);
}

void printk(const char *format, ...)
{
	size_t length = strlen(log_text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(log_text + length, sizeof(log_text) - length, format, arguments);
	va_end(arguments);
}

/* The entries that @name's table gets with blocks of at most @block bytes; what was said is in
 * said(). */
u64 create(const char *name, const char *title, const char *line, u64 frames, u64 entry_bytes,
	   u64 block)
{
	struct hash_cache cache = {.name = name, .title = title};

	log_text[0] = '\0';
	cmdline_init(line);
	pages = frames;
	largest = block;
	if (!hash_cache_create(&cache, entry_bytes) || cache.entries != 1ull << cache.bits ||
	    cache.bytes != cache.entries * entry_bytes || allocated != cache.bytes)
		return 0;
	printk("rule %s\n", cache.rule);
	return cache.entries;
}

const char *said(void)
{
	return log_text;
}
