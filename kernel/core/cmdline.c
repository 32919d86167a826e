/*
 * cmdline.c - splitting the kernel's command line into words, once, at boot. Also compiled hosted.
 */
#include "kernel/core/cmdline.h"
#include "kernel/core/errno.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"

#define LINE_SIZE 2048

static char original[LINE_SIZE];
static char storage[LINE_SIZE]; /* the words, unquoted, each with its NUL */
static char *words[CMDLINE_WORDS + 1];
static int option_count; /* words before `--` */
static int argument_count;

/* Copy the word at *@in to *@out without its quotes; both move on. */
static void take_word(const char **in, char **out)
{
	char quote = '\0', *o = *out;
	const char *s = *in;

	for (; *s && (quote || !isspace_ascii(*s)); s++) {
		if (*s == '\\' && quote != '\'' && s[1])
			*o++ = *++s;
		else if (quote ? *s == quote : *s == '"' || *s == '\'')
			quote = quote ? '\0' : *s;
		else
			*o++ = *s;
	}
	*o++ = '\0';
	*in = s;
	*out = o;
}

int cmdline_init(const char *line)
{
	int error = kernel_strlcpy(original, line, LINE_SIZE) >= LINE_SIZE ? -E2BIG : 0;
	const char *in = original;
	char *out = storage;
	bool arguments = false;

	option_count = argument_count = 0;
	for (;;) {
		char *word = out;
		bool quoted;

		while (isspace_ascii(*in))
			in++;
		if (!*in)
			break;
		if (option_count + argument_count == CMDLINE_WORDS) {
			error = -E2BIG;
			break;
		}
		quoted = *in == '"' || *in == '\'';
		take_word(&in, &out);
		if (!arguments && !quoted && !strcmp(word, "--")) {
			arguments = true;
			continue;
		}
		words[option_count + argument_count] = word;
		if (arguments)
			argument_count++;
		else
			option_count++;
	}
	words[option_count + argument_count] = NULL;
	return error;
}

const char *cmdline_text(void)
{
	return original;
}

static bool same_letter(char a, char b)
{
	return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

const char *cmdline_value(const char *name)
{
	int i;

	for (i = option_count; i-- > 0;) {
		const char *word = words[i], *n = name;

		while (*n && same_letter(*word, *n))
			word++, n++;
		if (*n)
			continue;
		if (*word == '=')
			return word + 1;
		if (!*word)
			return word;
	}
	return NULL;
}

bool cmdline_option(const char *name, char *buffer, size_t size)
{
	const char *value = cmdline_value(name);

	if (!value)
		return false;
	kernel_strlcpy(buffer, value, size);
	return true;
}

bool cmdline_flag(const char *name)
{
	const char *value = cmdline_value(name);

	return value && (!*value || !strcmp(value, "1") || !strcmp(value, "y") ||
			 !strcmp(value, "on"));
}

bool cmdline_u64(const char *name, u64 *value)
{
	const char *text = cmdline_value(name), *end;
	u64 parsed;

	if (!text)
		return false;
	parsed = memparse(text, &end);
	if (end == text || *end) {
		pr_warn("command line: %s=%s is not a number\n", name, text);
		return false;
	}
	*value = parsed;
	return true;
}

char **cmdline_init_args(int *count)
{
	*count = argument_count;
	return words + option_count;
}
