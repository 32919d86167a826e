/*
 * format.c - numbers to text and back: snprintf, strlcpy, parsing of integers. Also compiled
 * hosted.
 */

#include "kernel/core/kernel.h"

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

int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	struct output out = {buffer, size, 0};

	for (; *format; format++) {
		bool left = false, zero = false;
		int precision = -1, zeros = 0; /* -1: none */
		size_t bytes = sizeof(int);
		unsigned base = 0; /* of a number */
		u64 value = 0;
		char text[100], *end = text + sizeof(text);
		const char *sign = "", *body = "%"; /* %% */

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
			bytes = format[-1] == 'l' ? sizeof(u64) : sizeof(long);
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
			if (format[1] == 'S') { /* the function that holds it, and the offset */
				u64 offset = 0;
				const char *name = symbol_lookup(value, &offset);

				scnprintf(text, sizeof(text), "%s+0x%llx", name ?: "?", offset);
				body = text;
				format++;
				break;
			}
			base = 16;
			precision = 2 * (int)sizeof(void *);
			break;
		case 'd':
			base = 10;
			value = bytes == 8 ? va_arg(arguments, u64) : (u64)va_arg(arguments, int);
			if ((s64)value < 0) {
				sign = "-";
				value = -value;
			}
			break;
		case 'u':
		case 'x':
		case 'o':
			base = *format == 'u' ? 10 : *format == 'x' ? 16 : 8;
			value = bytes == 8 ? va_arg(arguments, u64) : va_arg(arguments, u32);
		}
		/* -1 as a precision: all of a string, at least one digit. */
		int length = base ? 0 : (int)strnlen(body, (size_t)precision);

		for (; base && (value || (!length && precision < 0)); value /= base) {
			*--end = "0123456789abcdef"[value % base];
			body = end;
			length++;
		}
		if (base)
			zeros = precision >= 0	? precision - length
				: zero && !left ? width - (int)strlen(sign) - length
						: 0;
		zeros = max(zeros, 0);
		width -= (int)strlen(sign) + zeros + length;
		put(&out, ' ', left ? 0 : width);
		put(&out, *sign, *sign != 0);
		put(&out, '0', zeros);
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
