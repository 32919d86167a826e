/*
 * string.h - memory and strings.
 *
 * The compiler knows these (-fbuiltin): copies and fills of constant size become moves. Others call
 * string.c, which uses few instructions for short blocks and `rep movsq` for long ones (under
 * icount a `rep` costs one for each iteration).
 */
#pragma once

#include <stdarg.h>

#include "core/base/types.h"

#ifdef HOSTED
#include <stdio.h>
#include <string.h>
#else

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);

#define snprintf scnprintf

#endif /* HOSTED */

/*
 * Formatted text into buffer[0..size), always terminated when size > 0; the characters that are in
 * the buffer (at most size - 1). Conversions: %d %u %x %o %c %s %p %% with flags - 0, width and
 * precision (also *), lengths l ll z; and %pS for the function that an address lies in. (format.c.
 * The kernel's snprintf() is the same function, a hosted build's the C library's.)
 */
int scnprintf(char *buffer, size_t size, const char *format, ...) __printf(3, 4);
int vscnprintf(char *buffer, size_t size, const char *format, va_list arguments) __printf(3, 0);

/* The same, but returns the length that the whole text has. */
int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
	__printf(3, 0);

/* Copy with termination; returns strlen(from), so a result >= size says it was cut. (The prefix,
 * since the C library of a hosted build may have its own.) */
size_t kernel_strlcpy(char *to, const char *from, size_t size);
#define strlcpy kernel_strlcpy

/* Parse as far as it is a number, with 0x or 0 before it to base 16 or 8, and a suffix K, M or G;
 * *end is the first character after it: @s when there is none. */
u64 memparse(const char *s, const char **end);

static inline bool isdigit_ascii(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool isspace_ascii(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}
