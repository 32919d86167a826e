/*
 * cmdline.c - splitting the kernel's command line into words, once, at boot. Also compiled hosted.
 */
#include "kernel/core/kernel.h"

#define LINE_SIZE 2048

static char original[LINE_SIZE];
static char storage[LINE_SIZE]; /* the same, a NUL after each word */
static char *words[CMDLINE_WORDS + 1];
static int word_count, option_count; /* options: words before `--` */

int cmdline_init(const char *line)
{
	bool too_long = kernel_strlcpy(original, line, LINE_SIZE) >= LINE_SIZE;
	char *at = storage;

	kernel_strlcpy(storage, line, LINE_SIZE);
	word_count = option_count = 0;
	for (bool options = true;;) {
		while (isspace_ascii(*at))
			*at++ = '\0';
		if (!*at || word_count == CMDLINE_WORDS)
			break;
		char *word = at;

		while (*at && !isspace_ascii(*at))
			at++;
		if (options && at == word + 2 && word[0] == '-' && word[1] == '-') {
			options = false;
			continue;
		}
		words[word_count++] = word;
		option_count += options;
	}
	words[word_count] = NULL;
	return too_long || *at ? -E2BIG : 0;
}

const char *cmdline_text(void)
{
	return original;
}

const char *cmdline_value(const char *name)
{
	size_t length = strlen(name);

	for (int i = option_count; i-- > 0;) {
		const char *end = words[i] + length;

		if (!strncmp(words[i], name, length) && (*end == '=' || !*end))
			return *end ? end + 1 : end;
	}
	return NULL;
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

	if (!text)
		return false;

	u64 parsed = memparse(text, &end);

	if (end == text || *end) {
		pr_warn("command line: %s=%s is not a number\n", name, text);
		return false;
	}
	*value = parsed;
	return true;
}

char **cmdline_init_args(int *count)
{
	*count = word_count - option_count;
	return words + option_count;
}
