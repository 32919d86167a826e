/*
 * component.h - the components of a path's text, eight bytes at a time: for both walks, with
 * references (namei.c) and without (lockless.c).
 */
#pragma once

#include "fs/path/dentry.h"
#include "fs/path/names.h"
#include "hash/cache.h"

static __always_inline u64 load_word(const char *p)
{
	u64 word;

	__builtin_memcpy(&word, p, sizeof(word));
	return word;
}

/* A hash that does not take words as they come. */
#if !NAME_HASH_STREAMS
struct name_hash {};
#define name_hash_begin(salt) ((struct name_hash){})
#define name_hash_word(hash, word) ((void)0)
#endif

/* In memory, since as immediates each would be one more instruction for each word. */
extern const struct component_bytes {
	u64 ones, tops, slashes;
} component_bytes;

/* The top bit of the first byte of @word that is NUL, and perhaps of others behind it; 0: none. */
static __always_inline u64 text_ends(u64 word)
{
	return (word - component_bytes.ones) & ~word & component_bytes.tops;
}

/* The top bit of the first byte of @word that ends a component, and perhaps of others behind it; 0:
 * there is none. */
static __always_inline u64 component_ends(u64 word)
{
	u64 slash = word ^ component_bytes.slashes;

	/* A byte that is 0 borrows; no byte of a slash has its top bit, so ~word serves both
	 * tests. */
	return ((word - component_bytes.ones) | (slash - component_bytes.ones)) & ~word &
	       component_bytes.tops;
}

/* Its last word is @word, behind @whole bytes, which went into @hash; it ends at the first of
 * @ends. */
static __always_inline struct component end_component(const struct dentry *parent, const char *name,
						      const struct name_hash *hash, size_t whole,
						      u64 word, u64 ends)
{
	u64 mask = ends ^ (ends - 1), rest = word & mask >> 8;
	size_t length = whole + ((u32)__builtin_ctzll(ends) >> 3);
#if NAME_HASH_STREAMS
	u32 value = name_hash_end(hash, rest);
#else
	u32 value = name_hash((uintptr_t)parent, name, min(length, (size_t)NAME_MAX + 1));
#endif

	return (struct component){
		.name = name, .length = length, .hash = value, .rest = rest, .mask = mask};
}

/*
 * The component at @name, up to the next '/' or NUL, as a name in @parent. A hash function that
 * takes words as they come (hash/README.md) hashes it while its end is looked for.
 */
static __always_inline struct component take_component(const struct dentry *parent,
						       const char *name)
{
	struct name_hash hash = name_hash_begin((uintptr_t)parent);
	u64 word = load_word(name), ends = component_ends(word);

	if (likely(ends))
		return end_component(parent, name, &hash, 0, word, ends);

	size_t whole = 0;

	do {
		name_hash_word(&hash, word);
		whole += 8;
		word = load_word(name + whole);
		ends = component_ends(word);
	} while (!ends);
	return end_component(parent, name, &hash, whole, word, ends);
}

/* The two parts of a comparison: the whole words of the component, if it has any, ... */
static __always_inline bool words_equal(const struct component *component, const char *name)
{
	for (size_t i = 0; i < (component->length & ~7ul); i += 8)
		if (load_word(component->name + i) != load_word(name + i))
			return false;
	return true;
}

/* ... and what is left, with the end of both, so that their lengths need not be compared. */
static __always_inline bool rest_equals(const struct component *component, const char *name)
{
	return ((load_word(name) ^ component->rest) & component->mask) == 0;
}

static __always_inline const char *skip_slashes(const char *at)
{
	while (*at == '/')
		at++;
	return at;
}

static __always_inline enum last_type component_type(const struct component *component)
{
	const char *name = component->name;

	if (likely(name[0] != '.' || component->length > 2))
		return LAST_NORM;
	if (component->length == 1)
		return LAST_DOT;
	return name[1] == '.' ? LAST_DOTDOT : LAST_NORM;
}

/* last->name is the last component of a path. */
static inline void note_last(struct last *last)
{
	const struct component *name = &last->name;

	last->type = component_type(name);
	last->trailing_slash = name->name[name->length] == '/';
}
