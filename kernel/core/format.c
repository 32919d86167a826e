/*
 * format.c - numbers to text and back: snprintf, strlcpy, parsing of integers. Also compiled
 * hosted.
 */
#include <arch/power.h>

#include "kernel/core/kernel.h"

struct output {
	char *buffer;
	size_t size;
	size_t length; /* what the text has, whether or not it fits */
};

struct conversion {
	bool left, zero;
	int width;
	int precision; /* -1: none */
};

static void put(struct output *out, char c, int count)
{
	for (; count > 0; count--, out->length++)
		if (out->length + 1 < out->size)
			out->buffer[out->length] = c;
}

/* @prefix, zeros and @body in a field of the conversion's width. */
static void put_field(struct output *out, const struct conversion *c, const char *prefix, int zeros,
		      const char *body, int length)
{
	int padding = c->width - (int)strlen(prefix) - zeros - length;

	put(out, ' ', c->left ? 0 : padding);
	while (*prefix)
		put(out, *prefix++, 1);
	put(out, '0', zeros);
	while (length-- > 0)
		put(out, *body++, 1);
	put(out, ' ', c->left ? padding : 0);
}

static void put_string(struct output *out, const struct conversion *c, const char *s)
{
	s = s ?: "(null)";
	put_field(out, c, "", 0, s, (int)strnlen(s, (size_t)c->precision)); /* -1: all */
}

static void put_number(struct output *out, const struct conversion *c, u64 value, unsigned base,
		       const char *sign)
{
	char digits[24], *first = digits + sizeof(digits);

	for (; value; value /= base)
		*--first = "0123456789abcdef"[value % base];

	int length = (int)(digits + sizeof(digits) - first);
	int zeros = max(c->precision - length, c->precision < 0 && !length);

	if (c->zero && !c->left && c->precision < 0)
		zeros = max(zeros, c->width - (int)strlen(sign) - length);
	put_field(out, c, sign, zeros, first, length);
}

/* %pS: the function that holds an address, and the offset into it. */
static void put_symbol(struct output *out, const struct conversion *c, u64 address)
{
	u64 offset = 0;
	const char *name = symbol_lookup(address, &offset);
	char text[100];

	scnprintf(text, sizeof(text), "%s+0x%llx", name ?: "?", offset);
	put_string(out, c, text);
}

/* A width or a precision at *@format, which moves on; @star: the argument if it is a star. */
static int number_at(const char **format, int star)
{
	int number = 0;

	if (**format == '*') {
		(*format)++;
		return star;
	}
	for (; isdigit_ascii(**format); (*format)++)
		number = number * 10 + (**format - '0');
	return number;
}

int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	struct output out = {buffer, size, 0};

	for (; *format; format++) {
		struct conversion c = {.precision = -1};
		size_t bytes = sizeof(int);
		u64 value;

		if (*format != '%') {
			put(&out, *format, 1);
			continue;
		}
		for (format++; *format == '-' || *format == '0'; format++) {
			c.left |= *format == '-';
			c.zero |= *format == '0';
		}
		c.width = number_at(&format, *format == '*' ? va_arg(arguments, int) : 0);
		if (*format == '.') {
			format++;
			c.precision =
				number_at(&format, *format == '*' ? va_arg(arguments, int) : 0);
		}
		for (; *format == 'l' || *format == 'z'; format++)
			bytes = format[-1] == 'l' ? sizeof(u64) : sizeof(long);
		switch (*format) {
		case 's':
			put_string(&out, &c, va_arg(arguments, const char *));
			break;
		case 'c':
			put_field(&out, &c, "", 0, &(char){(char)va_arg(arguments, int)}, 1);
			break;
		case 'p':
			value = (uintptr_t)va_arg(arguments, void *);
			if (format[1] == 'S') {
				put_symbol(&out, &c, value);
				format++;
				break;
			}
			c.precision = 2 * (int)sizeof(void *);
			put_number(&out, &c, value, 16, "");
			break;
		case 'd':
			value = bytes == 8 ? va_arg(arguments, u64) : (u64)va_arg(arguments, int);
			put_number(&out, &c, (s64)value < 0 ? -value : value, 10,
				   (s64)value < 0 ? "-" : "");
			break;
		case 'u':
		case 'x':
		case 'o':
			value = bytes == 8 ? va_arg(arguments, u64) : va_arg(arguments, u32);
			put_number(&out, &c, value,
				   *format == 'u' ? 10 : *format == 'x' ? 16 : 8, "");
			break;
		default: /* %% */
			put(&out, '%', 1);
		}
	}
	if (size)
		buffer[min(out.length, size - 1)] = '\0';
	return (int)out.length;
}

int vscnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	return min(kernel_vsnprintf(buffer, size, format, arguments), max((int)size - 1, 0));
}

int scnprintf(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vscnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return length;
}

size_t kernel_strlcpy(char *to, const char *from, size_t size)
{
	size_t length = strlen(from), n = min(length, size - 1);

	memcpy(to, from, n);
	to[n] = '\0';
	return length;
}

u64 memparse(const char *s, const char **end)
{
	static const char digits[] = "0123456789abcdef", suffixes[] = "kmg";
	bool hexadecimal = s[0] == '0' && (s[1] | 0x20) == 'x';
	unsigned base = hexadecimal ? 16 : s[0] == '0' ? 8 : 10;
	const char *at = s + 2 * hexadecimal, *digit;
	u64 value = 0;

	for (*end = s; (digit = strchr(digits, *at | 0x20)) && digit < digits + base; *end = ++at)
		value = value * base + (u64)(digit - digits);

	const char *suffix = *end > s ? strchr(suffixes, **end | 0x20) : NULL;

	if (!suffix)
		return value;
	++*end;
	return value << 10 * (suffix - suffixes + 1);
}
