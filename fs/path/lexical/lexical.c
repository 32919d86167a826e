/* lexical.c - see lexical.h. */
#ifdef CONFIG_DOTDOT_LEXICAL

#include "fs/path/lexical/lexical.h"
#include "fs/path/lockless/component.h"

/* May ".." stand in @text, which has eight readable bytes behind its end? */
static bool may_have_parents(const char *text)
{
	const u64 all_dots = component_bytes.ones * '.';
	u64 before = 0; /* the last byte of the word before was a dot */

	for (;; text += 8) {
		u64 word = load_word(text), others = word ^ all_dots;
		u64 dots = text_ends(others); /* a dot is NUL there */
		u64 ends = text_ends(word);

		if (dots & (dots << 8 | before))
			return true;
		if (ends)
			return false;
		before = dots >> 56;
	}
}

/* Of the component at @name, eight bytes at a time. */
static __always_inline size_t component_length(const char *name)
{
	size_t length = 0;
	u64 ends;

	while (!(ends = component_ends(load_word(name + length))))
		length += 8;
	return length + ((u32)__builtin_ctzll(ends) >> 3);
}

static bool is_parent(const char *name, size_t length)
{
	return length == 2 && name[0] == '.' && name[1] == '.';
}

/* Between @text and @end, behind no slash: where its last component begins, if ".." can take that
 * away; or NULL. */
static char *last_to_take(char *text, char *end)
{
	char *name = end;

	while (name > text && name[-1] != '/')
		name--;
	size_t length = (size_t)(end - name);
	return !length || is_parent(name, length) ? NULL : name;
}

/* Without "." on the way, which is nothing to take away, and what ".." takes. */
static noinline void shorten(char *text)
{
	char *kept = text; /* the end of what is kept, which is behind a slash, or at the start */
	const char *name = text;

	while (*name) {
		size_t length = component_length(name);
		const char *next = skip_slashes(name + length);
		bool is_here = length == 1 && *name == '.';
		char *taken = is_here && *next ? kept : NULL;

		if (is_parent(name, length) && *next && kept > text) {
			char *end = kept;

			while (end > text && end[-1] == '/')
				end--;
			taken = last_to_take(text, end);
		}
		if (taken) {
			kept = taken;
		} else if (kept == name) { /* nothing has been taken: it stays where it is */
			kept += next - name;
		} else {
			while (name < next)
				*kept++ = *name++;
		}
		name = next;
	}
	if (kept != name)
		*kept = 0;
}

void lexical_begin(const char *name)
{
	if (may_have_parents(name))
		shorten((char *)name);
}

#endif
