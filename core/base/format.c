/*
 * format.c - numbers to text and back (string.h): snprintf, strlcpy, parsing of integers. Also
 * compiled hosted.
 */
#include "core/kernel.h"
#include "core/log/symbols.h"

struct output {
	char *buffer;
	size_t size;
	size_t length; /* what the text has, whether or not it fits */
};

static void put(struct output *out, char c, int count)
{
	for (; count > 0; count--, out->length++)
		if (out->length + 1 < out->size)
			out->buffer[out->length] = c;
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

/* The digits of @value, at least @least of them but no more than MAX_DIGITS, before @end. */
#define MAX_DIGITS 64
static char *digits(char *end, u64 value, unsigned base, int least)
{
	for (least = min(least, MAX_DIGITS); value || least > 0; value /= base, least--)
		*--end = "0123456789abcdef"[value % base];
	return end;
}

int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	struct output out = {buffer, size, 0};

	for (; *format; format++) {
		char text[100], *end = text + sizeof(text);
		const char *body = "%"; /* %% */
		bool left = false, zero = false, negative = false;
		int precision = -1; /* none: all of a string */
		size_t bytes = sizeof(int);
		unsigned base;
		u64 value;

		if (*format != '%') {
			put(&out, *format, 1);
			continue;
		}
		for (format++; *format == '-' || *format == '0'; format++) {
			left |= *format == '-';
			zero |= *format == '0';
		}
		int width = number_at(&format, *format == '*' ? va_arg(arguments, int) : 0);

		if (*format == '.') {
			format++;
			precision = number_at(&format, *format == '*' ? va_arg(arguments, int) : 0);
		}
		for (; *format == 'l' || *format == 'z'; format++)
			bytes = sizeof(u64);
		switch (*format) {
		case 's':
			body = va_arg(arguments, const char *) ?: "(null)";
			break;
		case 'c':
			text[0] = (char)va_arg(arguments, int);
			body = text;
			precision = 1;
			break;
		case 'p':
			value = (uintptr_t)va_arg(arguments, void *);
			precision = 2 * (int)sizeof(void *);
			body = digits(end, value, 16, precision);
			if (format[1] == 'S') { /* the function that holds it, and the offset */
				const char *name = symbol_lookup(value, &value);

				precision = scnprintf(text, sizeof(text), "%s+0x%llx", name ?: "?",
						      value);
				body = text;
				format++;
			}
			break;
		case 'd':
		case 'u':
		case 'x':
		case 'o':
			value = bytes == sizeof(u64) ? va_arg(arguments, u64)
				: *format == 'd'     ? (u64)va_arg(arguments, int)
						     : va_arg(arguments, u32);
			negative = *format == 'd' && (s64)value < 0;
			base = *format == 'x' ? 16 : *format == 'o' ? 8 : 10;
			if (precision < 0)
				precision = zero && !left ? max(width - negative, 1) : 1;
			body = digits(end, negative ? -value : value, base, precision);
			precision = (int)(end - body);
		}
		int length = (int)strnlen(body, (size_t)precision);

		width -= length + negative;
		put(&out, ' ', left ? 0 : width);
		put(&out, '-', negative);
		while (length-- > 0)
			put(&out, *body++, 1);
		put(&out, ' ', left ? width : 0);
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
