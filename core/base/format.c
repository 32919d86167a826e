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

/* The arguments that are left: va_list is an array, which a function cannot take by reference. */
struct arguments {
	va_list list;
};

/* What stands between a % and its letter. */
struct directive {
	bool left, zero; /* '-', '0' */
	bool is_long;	 /* 'l', 'z': an integer of 64 bits */
	int width;
	int precision; /* -1: none: all of a string */
};

/* What is to be put: so many bytes, with a '-' in front of them. */
struct body {
	const char *text;
	int length;
	bool negative;
};

/* A width or a precision at *@format, which moves on; a star is an argument. */
static int number_at(const char **format, struct arguments *arguments)
{
	int number = 0;

	if (**format == '*') {
		(*format)++;
		return va_arg(arguments->list, int);
	}
	for (; isdigit_ascii(**format); (*format)++)
		number = number * 10 + (**format - '0');
	return number;
}

/* The directive behind the % at @format, whose letter is returned. */
static const char *read_directive(struct directive *directive, const char *format,
				  struct arguments *arguments)
{
	*directive = (struct directive){.precision = -1};
	for (format++; *format == '-' || *format == '0'; format++) {
		directive->left |= *format == '-';
		directive->zero |= *format == '0';
	}
	directive->width = number_at(&format, arguments);
	if (*format == '.') {
		format++;
		directive->precision = number_at(&format, arguments);
	}
	for (; *format == 'l' || *format == 'z'; format++)
		directive->is_long = true;
	return format;
}

/* The digits of @value, at least @least of them but no more than MAX_DIGITS, before @end. */
#define MAX_DIGITS 64
static char *digits(char *end, u64 value, unsigned base, int least)
{
	for (least = min(least, MAX_DIGITS); value || least > 0; value /= base, least--)
		*--end = "0123456789abcdef"[value % base];
	return end;
}

static unsigned base_of(char letter)
{
	if (letter == 'x')
		return 16;
	if (letter == 'o')
		return 8;
	return 10;
}

static u64 integer_of(const struct directive *directive, char letter, struct arguments *arguments)
{
	if (directive->is_long)
		return va_arg(arguments->list, u64);
	if (letter == 'd')
		return (u64)va_arg(arguments->list, int);
	return va_arg(arguments->list, u32);
}

/* %d, %u, %x, %o; the digits end at @end. */
static struct body integer_body(const struct directive *directive, char letter, char *end,
				struct arguments *arguments)
{
	u64 value = integer_of(directive, letter, arguments);
	bool negative = letter == 'd' && (s64)value < 0;
	int least = directive->precision;

	if (least < 0 && directive->zero && !directive->left)
		least = directive->width - negative;
	else if (least < 0)
		least = 1;
	if (directive->precision < 0)
		least = max(least, 1);
	const char *text = digits(end, negative ? -value : value, base_of(letter), least);

	return (struct body){text, (int)(end - text), negative};
}

/* %p; %pS, to whose S *@format moves: the function that holds it, and the offset. */
static struct body pointer_body(const char **format, char *text, size_t size,
				struct arguments *arguments)
{
	u64 value = (uintptr_t)va_arg(arguments->list, void *);

	if ((*format)[1] == 'S') {
		const char *name = symbol_lookup(value, &value);
		int length = scnprintf(text, size, "%s+0x%llx", name ?: "?", value);

		++*format;
		return (struct body){text, length, false};
	}
	char *end = text + size;
	const char *start = digits(end, value, 16, 2 * (int)sizeof(void *));

	return (struct body){start, (int)(end - start), false};
}

static struct body string_body(const char *text, int precision)
{
	return (struct body){text, (int)strnlen(text, (size_t)precision), false};
}

static void put_body(struct output *out, const struct directive *directive, struct body body)
{
	int blanks = directive->width - body.length - body.negative;

	if (!directive->left)
		put(out, ' ', blanks);
	put(out, '-', body.negative);
	for (int i = 0; i < body.length; i++)
		put(out, body.text[i], 1);
	if (directive->left)
		put(out, ' ', blanks);
}

int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list list)
{
	struct output out = {buffer, size, 0};
	struct arguments arguments;

	va_copy(arguments.list, list);
	for (; *format; format++) {
		struct directive directive;
		char text[100];
		struct body body;

		if (*format != '%') {
			put(&out, *format, 1);
			continue;
		}
		format = read_directive(&directive, format, &arguments);
		switch (*format) {
		case 's':
			body = string_body(va_arg(arguments.list, const char *) ?: "(null)",
					   directive.precision);
			break;
		case 'c':
			text[0] = (char)va_arg(arguments.list, int);
			body = (struct body){text, text[0] != 0, false};
			break;
		case 'p':
			body = pointer_body(&format, text, sizeof(text), &arguments);
			break;
		case 'd':
		case 'u':
		case 'x':
		case 'o':
			body = integer_body(&directive, *format, text + sizeof(text), &arguments);
			break;
		default: /* %% */
			body = string_body("%", directive.precision);
		}
		put_body(&out, &directive, body);
	}
	va_end(arguments.list);
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
	const char *at = s, *digit, *suffix = NULL;
	unsigned base = 10;
	u64 value = 0;

	if (s[0] == '0' && (s[1] | 0x20) == 'x') {
		base = 16;
		at += 2;
	} else if (s[0] == '0') {
		base = 8;
	}
	*end = s;
	while ((digit = strchr(digits, *at | 0x20)) && digit < digits + base) {
		value = value * base + (u64)(digit - digits);
		*end = ++at;
	}
	if (*end > s)
		suffix = strchr(suffixes, **end | 0x20);
	if (!suffix)
		return value;
	++*end;
	return value << 10 * (suffix - suffixes + 1);
}
