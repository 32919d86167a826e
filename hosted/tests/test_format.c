/* test_format.c - the kernel's formatting and its command line, compared with the C library's and
 * with what cmdline.h says. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hosted/harness/harness.h"

static void compare(const char *format, size_t size, ...)
{
	char ours[200], theirs[200];
	va_list one, two;

	va_start(one, size);
	va_copy(two, one);
	memset(ours, 1, sizeof(ours));
	memset(theirs, 1, sizeof(theirs));
	test_where("%s of %zu bytes", format, size);
	CHECK_EQUAL(kernel_vsnprintf(ours, size, format, one),
		    vsnprintf(theirs, size, format, two));
	CHECK(memcmp(ours, theirs, sizeof(ours)) == 0);
	va_end(one);
	va_end(two);
}

TEST(format_numbers_as_libc)
{
	static const char *const flags[] = {"", "-", "0", "-0"}, *const widths[] = {"", "1", "5",
										    "24"};
	static const char *const precisions[] = {"", ".0", ".1", ".4", ".20"};
	static const char *const kinds[] = {"d",  "u",	"x",   "o",   "ld",
					    "lu", "lx", "llu", "lld", "zu"};
	static const long values[] = {
		0, 1, -1, 10, -4096, 2147483647, -2147483648L, 1L << 40, -9223372036854775807L - 1};

	for (unsigned i = 0; i < 4 * 4 * 5 * 10 * ARRAY_SIZE(values); i++) {
		const char *flag = flags[i % 4], *precision = precisions[i / 16 % 5];
		const char *kind = kinds[i / 80 % 10];
		long value = values[i / 800];
		char format[40];

		if (*precision && strchr(flag, '0'))
			continue; /* no use of ours */
		snprintf(format, sizeof(format), "a%%%s%s%s%sb", flag, widths[i / 4 % 4], precision,
			 kind);
		for (size_t size = 0; size <= 200; size += size < 8 ? 4 : 192) {
			if (kind[1])
				compare(format, size, value);
			else
				compare(format, size, (int)value);
		}
	}
}

TEST(format_texts_as_libc)
{
	compare("%s|%8s|%-8s|%.2s|%8.2s|%-8.9s|", 200, "abc", "abc", "abc", "abc", "abc", "abc");
	compare("%*.*s|%-*d|%c|%5c|%-5c|%%|%*llu", 200, 8, 3, "abcdef", 6, 42, 'x', 'y', 'z', 10,
		5ull);
	compare("%s", 4, "longer than the room");
}

TEST(command_line_is_split)
{
	char line[2 * CMDLINE_WORDS + 2] = "";
	int count;
	u64 seed = 0;

	CHECK_EQUAL(cmdline_init("  quiet root=/dev/vda\tseed=0x10 seed=7k -- x -- y  "), 0);
	CHECK(cmdline_flag("quiet") && !cmdline_flag("x") && !cmdline_value("roo"));
	CHECK(strcmp(cmdline_value("root"), "/dev/vda") == 0);
	CHECK(cmdline_u64("seed", &seed) && seed == 7168);
	char **words = cmdline_init_args(&count);

	CHECK(count == 3 && !strcmp(words[0], "x") && !strcmp(words[1], "--") && !words[3]);
	for (const char *const *at = (const char *const[]){"", "a b", "a --", NULL}; *at; at++) {
		CHECK_EQUAL(cmdline_init(*at), 0);
		CHECK(!*cmdline_init_args(&count) && count == 0);
	}
	for (unsigned i = 0; i < CMDLINE_WORDS; i++)
		strcat(line, "w ");
	CHECK_EQUAL(cmdline_init(line), 0);
	strcat(line, "w");
	CHECK_EQUAL(cmdline_init(line), -E2BIG);
}
