/*
 * format.c - numbers to text and back: snprintf, strlcpy, parsing of integers. Also compiled
 * hosted.
 */
#include "kernel/core/errno.h"
#include "kernel/core/string.h"

#define FLAG_LEFT (1u << 0)
#define FLAG_ZERO (1u << 1)
#define FLAG_PLUS (1u << 2)
#define FLAG_SPACE (1u << 3)
#define FLAG_ALTERNATE (1u << 4)
#define FLAG_UPPER (1u << 5)
#define FLAG_SIGNED (1u << 6)

struct output {
	char *buffer;
	size_t size;
	size_t length; /* what the text has, whether or not it fits */
};

struct conversion {
	unsigned flags;
	int width;
	int precision; /* -1: none */
	int size;      /* bytes of an integer argument */
	unsigned base;
};

static inline void put(struct output *out, char c)
{
	if (out->length + 1 < out->size)
		out->buffer[out->length] = c;
	out->length++;
}

static void put_padding(struct output *out, char c, int count)
{
	while (count-- > 0)
		put(out, c);
}

static void put_string(struct output *out, const char *s, const struct conversion *conversion)
{
	size_t length, i;
	int padding;

	if (!s)
		s = "(null)";
	length = conversion->precision >= 0 ? strnlen(s, (size_t)conversion->precision) : strlen(s);
	padding = conversion->width - (int)length;
	if (!(conversion->flags & FLAG_LEFT))
		put_padding(out, ' ', padding);
	for (i = 0; i < length; i++)
		put(out, s[i]);
	if (conversion->flags & FLAG_LEFT)
		put_padding(out, ' ', padding);
}

/* Digits of @value, last first; their number. */
static int make_digits(char *digits, u64 value, const struct conversion *conversion)
{
	const char *alphabet =
		conversion->flags & FLAG_UPPER ? "0123456789ABCDEF" : "0123456789abcdef";
	int count = 0;

	if (conversion->base == 10) { /* apart, since a constant divisor needs no division */
		for (; value; value /= 10)
			digits[count++] = (char)('0' + value % 10);
		return count;
	}
	for (; value; value /= conversion->base)
		digits[count++] = alphabet[value % conversion->base];
	return count;
}

/* What stands before the digits: sign or 0x. */
static int make_prefix(char *prefix, bool negative, bool zero, const struct conversion *conversion)
{
	int count = 0;

	if (negative)
		prefix[count++] = '-';
	else if (conversion->flags & FLAG_SIGNED && conversion->flags & FLAG_PLUS)
		prefix[count++] = '+';
	else if (conversion->flags & FLAG_SIGNED && conversion->flags & FLAG_SPACE)
		prefix[count++] = ' ';
	if (conversion->flags & FLAG_ALTERNATE && conversion->base == 16 && !zero) {
		prefix[count++] = '0';
		prefix[count++] = conversion->flags & FLAG_UPPER ? 'X' : 'x';
	}
	return count;
}

static void put_number(struct output *out, u64 value, const struct conversion *conversion)
{
	char digits[24], prefix[4];
	bool negative = conversion->flags & FLAG_SIGNED && (s64)value < 0;
	int prefixes = make_prefix(prefix, negative, value == 0, conversion);
	int count = make_digits(digits, negative ? -value : value, conversion);
	int zeros = conversion->precision - count, padding, i;

	if (conversion->precision < 0)
		zeros = count ? 0 : 1;
	if (conversion->flags & FLAG_ALTERNATE && conversion->base == 8 && zeros <= 0)
		zeros = 1;
	if (zeros < 0)
		zeros = 0;
	padding = conversion->width - prefixes - zeros - count;
	if (padding > 0 && (conversion->flags & (FLAG_LEFT | FLAG_ZERO)) == FLAG_ZERO &&
	    conversion->precision < 0) {
		zeros += padding;
		padding = 0;
	}
	if (!(conversion->flags & FLAG_LEFT))
		put_padding(out, ' ', padding);
	for (i = 0; i < prefixes; i++)
		put(out, prefix[i]);
	put_padding(out, '0', zeros);
	while (count)
		put(out, digits[--count]);
	if (conversion->flags & FLAG_LEFT)
		put_padding(out, ' ', padding);
}

static const char *parse_flags(const char *format, struct conversion *conversion)
{
	for (;; format++) {
		switch (*format) {
		case '-':
			conversion->flags |= FLAG_LEFT;
			break;
		case '0':
			conversion->flags |= FLAG_ZERO;
			break;
		case '+':
			conversion->flags |= FLAG_PLUS;
			break;
		case ' ':
			conversion->flags |= FLAG_SPACE;
			break;
		case '#':
			conversion->flags |= FLAG_ALTERNATE;
			break;
		default:
			return format;
		}
	}
}

static const char *parse_length(const char *format, struct conversion *conversion)
{
	conversion->size = sizeof(int);
	switch (*format) {
	case 'h':
		conversion->size = format[1] == 'h' ? 1 : 2;
		return format + (format[1] == 'h' ? 2 : 1);
	case 'l':
		conversion->size = format[1] == 'l' ? (int)sizeof(long long) : (int)sizeof(long);
		return format + (format[1] == 'l' ? 2 : 1);
	case 'z':
	case 't':
		conversion->size = sizeof(size_t);
		return format + 1;
	case 'j':
		conversion->size = sizeof(s64);
		return format + 1;
	}
	return format;
}

/* The number of bytes an integer argument has decides how it is fetched and extended. */
static u64 narrow(u64 value, const struct conversion *conversion)
{
	unsigned shift = 64 - 8 * (unsigned)conversion->size;

	if (conversion->flags & FLAG_SIGNED)
		return (u64)((s64)(value << shift) >> shift);
	return value << shift >> shift;
}

#define FETCH_INTEGER(arguments, conversion)                                                       \
	narrow((conversion)->size == 8 ? va_arg(arguments, u64) : va_arg(arguments, u32),          \
	       conversion)

static bool number_kind(char c, struct conversion *conversion)
{
	conversion->base = 10;
	switch (c) {
	case 'd':
	case 'i':
		conversion->flags |= FLAG_SIGNED;
		return true;
	case 'u':
		return true;
	case 'o':
		conversion->base = 8;
		return true;
	case 'X':
		conversion->flags |= FLAG_UPPER; /* and as 'x' */
		conversion->base = 16;
		return true;
	case 'x':
		conversion->base = 16;
		return true;
	case 'p':
		conversion->base = 16;
		conversion->size = sizeof(void *);
		conversion->precision = 2 * (int)sizeof(void *);
		return true;
	}
	return false;
}

int kernel_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	struct output out = {buffer, size, 0};
	char character[2] = {0, 0};

	for (; *format; format++) {
		struct conversion conversion = {.precision = -1};

		if (*format != '%') {
			put(&out, *format);
			continue;
		}
		format = parse_flags(format + 1, &conversion);
		if (*format == '*') {
			conversion.width = va_arg(arguments, int);
			if (conversion.width < 0) {
				conversion.flags |= FLAG_LEFT;
				conversion.width = -conversion.width;
			}
			format++;
		}
		for (; isdigit_ascii(*format); format++)
			conversion.width = conversion.width * 10 + (*format - '0');
		if (*format == '.') {
			conversion.precision = 0;
			if (*++format == '*') {
				conversion.precision = va_arg(arguments, int);
				format++;
			}
			for (; isdigit_ascii(*format); format++)
				conversion.precision = conversion.precision * 10 + (*format - '0');
		}
		format = parse_length(format, &conversion);
		if (*format == 's') {
			put_string(&out, va_arg(arguments, const char *), &conversion);
		} else if (*format == 'c') {
			character[0] = (char)va_arg(arguments, int);
			conversion.precision = 1;
			if (character[0])
				put_string(&out, character, &conversion);
			else
				put(&out, 0);
		} else if (number_kind(*format, &conversion)) {
			put_number(&out, FETCH_INTEGER(arguments, &conversion), &conversion);
		} else if (*format) {
			put(&out, *format); /* %% */
		} else {
			break;
		}
	}
	if (size)
		buffer[out.length < size ? out.length : size - 1] = '\0';
	return (int)out.length;
}

int kernel_snprintf(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = kernel_vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return length;
}

int vscnprintf(char *buffer, size_t size, const char *format, va_list arguments)
{
	int length = kernel_vsnprintf(buffer, size, format, arguments);

	if (!size)
		return 0;
	return length < (int)size ? length : (int)size - 1;
}

int scnprintf(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vscnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return length;
}

size_t kernel_strlcpy(char *to, const char *from, size_t size)
{
	size_t length = strlen(from);

	if (size) {
		size_t n = length < size ? length : size - 1;

		memcpy(to, from, n);
		to[n] = '\0';
	}
	return length;
}

size_t kernel_strlcat(char *to, const char *from, size_t size)
{
	size_t used = strnlen(to, size);

	return used + kernel_strlcpy(to + used, from, size - used);
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return (c | 0x20) - 'a' + 10;
	return 255;
}

/* Digits from @s on in @base (0: by prefix); *end after the last; -ERANGE when they exceed 64 bits.
 */
static int parse_digits(const char *s, unsigned base, u64 *value, const char **end)
{
	int error = 0;
	u64 sum = 0;

	if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 0x20) == 'x' &&
	    digit_value(s[2]) < 16) {
		base = 16;
		s += 2;
	} else if (base == 0) {
		base = s[0] == '0' ? 8 : 10;
	}
	for (; digit_value(*s) < (int)base; s++) {
		unsigned digit = (unsigned)digit_value(*s);

		if (sum > (~0ULL - digit) / base)
			error = -ERANGE;
		sum = sum * base + digit;
	}
	*value = sum;
	*end = s;
	return error;
}

int kstrtou64(const char *s, unsigned base, u64 *value)
{
	const char *end;
	u64 parsed;
	int error;

	if (*s == '+')
		s++;
	error = parse_digits(s, base, &parsed, &end);
	if (end == s || (*end && (*end != '\n' || end[1])))
		return -EINVAL;
	if (!error)
		*value = parsed;
	return error;
}

int kstrtos64(const char *s, unsigned base, s64 *value)
{
	bool negative = *s == '-';
	u64 parsed;
	int error = kstrtou64(s + negative, base, &parsed);

	if (error)
		return error;
	if (parsed > (u64)INT64_MAX + negative)
		return -ERANGE;
	*value = negative ? (s64)-parsed : (s64)parsed;
	return 0;
}

u64 memparse(const char *s, const char **end)
{
	u64 value;

	parse_digits(s, 0, &value, end);
	if (*end == s)
		return 0;
	switch (**end | 0x20) {
	case 'g':
		value <<= 10;
		/* fall through */
	case 'm':
		value <<= 10;
		/* fall through */
	case 'k':
		value <<= 10;
		(*end)++;
	}
	return value;
}
