/* signature.c - see signature.h. */
#ifdef CONFIG_DCACHE_FASTPATH

#include <arch/math/wide.h>

#include "fs/path/direct/signature.h"

#include "core/random.h"

u64 signature_keys[SIGNATURE_WORDS][SIGNATURE_LIMBS];
struct signature signature_of_root;
static bool has_mulx;
static struct component_bytes bytes; /* as component_bytes, whose file stands above this one */

typedef void multiply_add(u64 sum[SIGNATURE_LIMBS], const u64 factor[SIGNATURE_LIMBS], u64 word);

/* As text_ends(). */
static __always_inline u64 ends_of(u64 word)
{
	return (word - bytes.ones) & ~word & bytes.tops;
}

/* From *@sum on to the signature of @text below, the products summed up by @add. */
static __always_inline void go_on(struct signature *sum, const struct signature *directory,
				  const char *text, multiply_add *add)
{
	struct signature so_far = *directory; /* in registers, as far as they go */
	const u64 *key = signature_keys[so_far.length / 8];
	unsigned shift = so_far.length % 8 * 8;
	u64 carried = 0, word, ends;
	const char *at = text;

	for (;; at += 8, key += SIGNATURE_LIMBS) {
		word = load_word(at);
		ends = ends_of(word);
		if (ends)
			break;
		add(so_far.limb, key, word << shift | carried);
		carried = word >> 1 >> (63 - shift);
	}
	/* what is left before the NUL, and the slash in its place */
	u64 end = ends & -ends;
	word = (word & ((end >> 7) - 1)) | (end >> 7) * '/';
	add(so_far.limb, key, word << shift | carried);
	word = word >> 1 >> (63 - shift);
	if (word)
		add(so_far.limb, key + SIGNATURE_LIMBS, word);
	so_far.length += (size_t)(at - text) + ((u32)__builtin_ctzll(end) >> 3) + 1;
	*sum = so_far;
}

static noinline void go_on_anywhere(struct signature *sum, const struct signature *directory,
				    const char *text)
{
	go_on(sum, directory, text, arch_multiply_add_320);
}

ARCH_MULX void signature_below(struct signature *sum, const struct signature *directory,
			       const char *text)
{
	if (likely(has_mulx))
		go_on(sum, directory, text, arch_multiply_add_320_mulx);
	else
		go_on_anywhere(sum, directory, text);
}

void signature_init(void)
{
	u64 state = random_u64();

	has_mulx = arch_has_mulx();
	bytes.ones = ~0ULL / 255;
	bytes.tops = bytes.ones * 0x80;
	for (unsigned i = 0; i < SIGNATURE_WORDS * SIGNATURE_LIMBS; i++)
		signature_keys[i / SIGNATURE_LIMBS][i % SIGNATURE_LIMBS] = splitmix64(&state);
	for (unsigned i = 0; i < SIGNATURE_LIMBS; i++)
		signature_of_root.limb[i] = splitmix64(&state);
}

#endif
