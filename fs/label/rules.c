/* rules.c - which label may do what to which. See label.h. */
#include "fs/direct_hooks.h"
#include "fs/inode/permission.h"
#include "fs/label/label.h"
#include "core/log/text.h"
#include "core/memory/slab.h"

/* ---- changing -------------------------------------------------------------------------------- */

static int add(struct label *subject, const struct label *object, u8 access)
{
	struct label_rule *rule = TRY_PTR(kmalloc(sizeof(*rule), GFP_KERNEL));

	lockdep_assert_held(&labels_lock);
	*rule = (struct label_rule){.next = subject->rules, .object = object, .access = access};
	smp_store_release(&subject->rules, rule);
	return 0;
}

/* Only what is allowed is remembered, so it stays true when more is. */
static int set_rule(struct label *subject, const struct label *object, u8 access)
{
	guard(mutex, &labels_lock);
	struct label_rule *rule = label_rule(subject, object);

	if (!rule)
		return access ? add(subject, object, access) : 0;
#ifdef CONFIG_DCACHE_FASTPATH
	guard(change_all_rights, rule->access & ~access & MAY_EXEC ? rule : NULL);
#endif
	WRITE_ONCE(rule->access, access);
	return 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char letters[] = "rwx-"; /* of access, and what each means: */
static const u8 meanings[] = {MAY_READ, MAY_WRITE, MAY_EXEC, 0};

/* The next word of *@text's line: its length; 0: there is none. */
static size_t take_word(const char **text, const char **word)
{
	while (**text == ' ' || **text == '\t')
		++*text;
	*word = *text;
	while (**text > ' ')
		++*text;
	return (size_t)(*text - *word);
}

static struct label *take_label(const char **text)
{
	const char *word;
	size_t length = take_word(text, &word);

	return label_get(word, length);
}

/* MAY_*, or -EINVAL. */
static int take_access(const char **text)
{
	const char *word;
	size_t length = take_word(text, &word);
	int access = 0;

	for (size_t i = 0; i < length; i++) {
		const char *letter = strchr(letters, word[i]);

		if (!letter)
			return -EINVAL;
		access |= meanings[letter - letters];
	}
	return length ? access : -EINVAL;
}

/* One line, the end of which *@text is at then. */
static int write_line(const char **text)
{
	struct label *subject = TRY_PTR(take_label(text)), *object = TRY_PTR(take_label(text));
	int access = TRY(take_access(text));
	const char *rest;

	if (take_word(text, &rest) || (**text && **text != '\n'))
		return -EINVAL;
	return set_rule(subject, object, (u8)access);
}

int label_rules_write(const char *text)
{
	while (*text) {
		if (*text != '\n')
			TRY(write_line(&text));
		if (*text)
			text++;
	}
	return 0;
}

static void show_of(struct text *out, const struct label *subject)
{
	const struct label_rule *rule = smp_load_acquire(&subject->rules);

	for (; rule; rule = rule->next) {
		u8 access = READ_ONCE(rule->access);

		text_printf(out, "%s %s ", subject->name, rule->object->name);
		for (unsigned i = 0; meanings[i]; i++)
			if (access & meanings[i])
				text_write(out, &letters[i], 1);
		text_printf(out, access ? "\n" : "-\n");
	}
}

void label_rules_show(struct text *out)
{
	show_of(out, &label_floor);
	show_of(out, &label_hat);
	guard(mutex, &labels_lock);
	for (const struct label *label = labels; label; label = label->next)
		show_of(out, label);
}

/* ---- hosted ---------------------------------------------------------------------------------- */

#ifdef HOSTED
static void forget_rules(struct label *subject)
{
	struct label_rule *rule;

	while ((rule = subject->rules) != NULL) {
		subject->rules = rule->next;
		kfree(rule);
	}
}

void labels_forget(void)
{
	struct label *label;

	forget_rules(&label_floor);
	forget_rules(&label_hat);
	while ((label = labels) != NULL) {
		labels = label->next;
		forget_rules(label);
		kfree(label);
	}
}
#endif
