/*
 * string.c - the C library's memory and string functions, as the compiler and the kernel call them.
 *
 * Blocks to 16 bytes are moved by two overlapping words; longer ones by `rep movsq` and one
 * overlapping word for the rest, so no byte loops.
 */
#include "core/kernel.h"

#ifndef HOSTED

/* The compiler would turn the loops below into calls of the functions they are in. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

/* What lies at @pointer as a number of @type, at any address. */
#define AT(type, pointer) (((struct { type value; } __packed *)(pointer))->value)

/* Loads everything before it stores anything: right for overlapping blocks too. */
static __always_inline void copy_short(char *to, const char *from, size_t n)
{
	if (n >= 8) {
		u64 first = AT(u64, from), last = AT(u64, from + n - 8);

		AT(u64, to) = first;
		AT(u64, to + n - 8) = last;
	} else if (n >= 4) {
		u32 first = AT(u32, from), last = AT(u32, from + n - 4);

		AT(u32, to) = first;
		AT(u32, to + n - 4) = last;
	} else if (n) {
		char first = from[0], middle = from[n / 2], last = from[n - 1];

		to[0] = first;
		to[n / 2] = middle;
		to[n - 1] = last;
	}
}

void *memcpy(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;
	size_t words = n >> 3;

	if (n <= 16) {
		copy_short(to, from, n);
		return to;
	}
	u64 last = AT(u64, s + n - 8);

	__asm__ __volatile__("rep movsq" : "+D"(d), "+S"(s), "+c"(words)::"memory");
	AT(u64, (char *)to + n - 8) = last;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	if (n <= 16 || (uintptr_t)to - (uintptr_t)from >= n)
		return memcpy(to, from, n);
	while (n--) /* to lies inside from: go down */
		((char *)to)[n] = ((const char *)from)[n];
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	char *d = to;
	size_t words = n >> 3;

	__asm__ __volatile__("rep stosq"
			     : "+D"(d), "+c"(words)
			     : "a"(0x0101010101010101ULL * (u8)byte)
			     : "memory");
	for (n &= 7; n; n--)
		*d++ = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n >= 8 && AT(u64, x) == AT(u64, y); n -= 8)
		x += 8, y += 8;
	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	for (const u8 *p = s; n; n--, p++)
		if (*p == (u8)c)
			return (void *)p;
	return NULL;
}

size_t strlen(const char *s)
{
	return strnlen(s, SIZE_MAX);
}

size_t strnlen(const char *s, size_t n)
{
	size_t length = 0;

	while (length < n && s[length])
		length++;
	return length;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)s;
}

#endif /* HOSTED */
