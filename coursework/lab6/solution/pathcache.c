/*
 * pathcache.c - a path cache: 4,096 places for whole paths, each as one credential asks for it from
 * one start. The solution of lab 6.
 *
 * A text is hashed, which gives it a set of four places; it can be in no other. An entry has all
 * that the question has, the text included, so that nothing is taken for another. When a set is
 * full a new entry takes the place of the one that has been there longest.
 *
 * Texts of one component are not looked for: to walk them takes less.
 *
 * An entry leads to a dentry, and stands in the list of those that do, which begins in the dentry's
 * word: so whoever is to be forgotten is found at once, by any number of texts and credentials.
 *
 * `changes` counts all that may have made a walk's answer old: changes of directories as they
 * begin, and dentries that are forgotten. A walk during which it has grown, or that began while a
 * directory was changing, is not kept.
 *
 * Locks: one, innermost, for everything.
 */
#ifdef CONFIG_DCACHE_FASTPATH

#include "core/lock/spinlock.h"
#include "fs/path/direct/pathcache.h"
#include "fs/path/lockless/component.h"

#define SETS 1024u
#define WAYS 4u
#define TEXT_MAX 104 /* bytes, a multiple of eight: longer ones are walked */
#define CHANGING 0   /* a stamp with which nothing is kept */

struct path_entry {
	struct path_entry *next; /* that leads to the same dentry */
	struct path place;	 /* dentry NULL: this one is free */
	struct path start;
	u64 credential;
	u32 mounts;
	u64 text[TEXT_MAX / 8]; /* zeros behind it */
};

static struct set {
	struct path_entry entries[WAYS];
	unsigned oldest;
} sets[SETS];

static spinlock_t lock;
static u64 changes = CHANGING + 1;
static unsigned changing; /* directories, now */

/* Word @i of @text, with zeros behind its end; *@last: it ends there. */
static __always_inline u64 word_of(const char *text, unsigned i, bool *last)
{
	u64 word = load_word(text + 8 * i), ends = text_ends(word);

	*last = ends != 0;
	return ends ? word & (ends ^ (ends - 1)) >> 8 : word;
}

/* One component of up to 15 bytes is walked in fewer steps than it is looked for. */
static __always_inline bool has_several(const char *text)
{
	u64 first = component_ends(load_word(text));

	if (!first && !(first = component_ends(load_word(text += 8))))
		return true;
	return text[(u32)__builtin_ctzll(first) >> 3] == '/';
}

/* The set in which @question belongs; NULL: its text is too long. */
static struct set *set_of(const struct path_question *question)
{
	u64 hash = (uintptr_t)question->start.dentry + question->credential;
	bool last = false;

	for (unsigned i = 0; !last; i++) {
		if (i == TEXT_MAX / 8)
			return NULL;
		hash = (hash ^ word_of(question->text, i, &last)) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return &sets[hash % SETS];
}

static bool answers(const struct path_entry *entry, const struct path_question *question)
{
	bool last = false;

	if (!entry->place.dentry || entry->start.dentry != question->start.dentry ||
	    entry->start.mount != question->start.mount ||
	    entry->credential != question->credential || entry->mounts != question->mounts)
		return false;
	for (unsigned i = 0; !last; i++)
		if (entry->text[i] != word_of(question->text, i, &last))
			return false;
	return true;
}

static struct path_entry *find(struct set *set, const struct path_question *question)
{
	for (unsigned way = 0; way < WAYS; way++)
		if (answers(&set->entries[way], question))
			return &set->entries[way];
	return NULL;
}

bool pathcache_find(struct path_question *question, struct path *place)
{
	struct set *set = has_several(question->text) ? set_of(question) : NULL;

	question->keep = set != NULL;
	if (!set)
		return false;
	guard(spinlock, &lock);
	question->stamp = changing ? CHANGING : changes;
	struct path_entry *entry = find(set, question);
	if (!entry)
		return false;
	*place = entry->place;
	return true;
}

/* @entry is free: out of its dentry's list. */
static void take_out(struct path_entry *entry)
{
	struct path_entry **at = pathcache_word(entry->place.dentry);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	entry->place.dentry = NULL;
}

void pathcache_fill(const struct path_question *question, const struct path *place)
{
	struct set *set = set_of(question);
	bool last = false;

	guard(spinlock, &lock);
	if (question->stamp != changes || find(set, question))
		return;
	struct path_entry *entry = &set->entries[set->oldest++ % WAYS];
	if (entry->place.dentry)
		take_out(entry);
	*entry = (struct path_entry){
		.next = *pathcache_word(place->dentry),
		.place = *place,
		.start = question->start,
		.credential = question->credential,
		.mounts = question->mounts,
	};
	for (unsigned i = 0; !last; i++)
		entry->text[i] = word_of(question->text, i, &last);
	*pathcache_word(place->dentry) = entry;
}

void pathcache_forget(struct dentry *dentry)
{
	guard(spinlock, &lock);
	changes++;
	while (*pathcache_word(dentry))
		take_out(*pathcache_word(dentry));
}

void pathcache_change_begin(void)
{
	guard(spinlock, &lock);
	changes++;
	changing++;
}

void pathcache_change_end(void)
{
	guard(spinlock, &lock);
	changing--;
}

void pathcache_init(void)
{
	spin_lock_init(&lock, "path cache");
}

#endif
