/*
 * cmdline.c - splitting the kernel's command line into words, once, at boot. Also compiled hosted.
 */
#include "core/kernel.h"

#define LINE_SIZE 2048

static char storage[LINE_SIZE]; /* the same, a NUL after each word */
static char *words[CMDLINE_WORDS + 1];
static int word_count, option_count; /* options: words before `--` */

int cmdline_init(const char *line)
{
	bool too_long = kernel_strlcpy(storage, line, LINE_SIZE) >= LINE_SIZE;
	char *at = storage;

	for (word_count = 0;; word_count++) {
		while (isspace_ascii(*at))
			*at++ = '\0';
		if (!*at || word_count == CMDLINE_WORDS)
			break;
		words[word_count] = at;
		while (*at && !isspace_ascii(*at))
			at++;
	}
	words[word_count] = NULL;
	for (option_count = 0; words[option_count]; option_count++)
		if (strcmp(words[option_count], "--") == 0)
			break;
	return too_long || *at ? -E2BIG : 0;
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

	return value && strcmp(value, "0");
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
	*count = max(word_count - option_count - 1, 0);
	return words + word_count - *count;
}
