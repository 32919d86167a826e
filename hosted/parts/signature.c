/*
 * signature.c - signatures of paths (fs/path/direct/signature.h), as test_signature.py asks for
 * them: by the function that is chosen, with the kernel's own arithmetic.
 */
#if defined(CONFIG_PATH_SIGNATURE_AES)
#include "fs/path/signature/aes.c"
#define WORDS_OF(signature) (signature).value
#elif defined(CONFIG_PATH_SIGNATURE_SIPHASH)
#include "fs/path/signature/siphash.c"
#define WORDS_OF(signature) (signature).value
#elif defined(CONFIG_PATH_SIGNATURE_TEXT)
#include "fs/path/signature/text.c"
#define WORDS_OF(signature) (signature).limb
#else
#include "fs/path/signature/multilinear.c"
#define WORDS_OF(signature) (signature).limb
#endif

#include "fs/path/alias/place.h"
#include "fs/path/lockless/component.c"

#include <stdlib.h>

static u64 drawn, drawn_later;
bool random_fixed;
seqcount_t mount_sequence;

u64 random_u64(void)
{
	u64 first = drawn;

	drawn = splitmix64(&drawn_later);
	return first;
}

void panic(const char *format, ...)
{
	abort();
}

#if defined(CONFIG_PATH_SIGNATURE_MULTILINEAR) && !defined(arch_has_mulx)
bool arch_has_mulx(void)
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

#ifdef ARCH_VECTORS_CHANGED /* the kernel's header, which leaves it open */
bool arch_has_aes(void)
{
	return __builtin_cpu_supports("aes");
}
#endif

/*
 * Draw keys: if @fixed, as with `seed=`, from @seed alone, else numbers that begin with @seed and go
 * on by @later. With @newest false as on a CPU without mulx: is that what it is?
 */
bool begin(u64 seed, u64 later, bool fixed, bool newest)
{
	drawn = seed;
	drawn_later = later;
	random_fixed = fixed;
	signature_of_root = (struct signature){0}; /* as a kernel begins */
#ifdef CONFIG_PATH_SIGNATURE_AES
	if (!arch_has_aes())
		return false;
#endif
	signature_init();
#ifdef CONFIG_PATH_SIGNATURE_MULTILINEAR
	has_mulx = has_mulx && newest;
	return has_mulx == newest;
#endif
	return true;
}

static struct signature last;

/* Of the @count texts one below the other, from the root: @words of it, and the length is
 * returned. */
u64 sign(const char *const *texts, unsigned count, u64 *words)
{
	struct signature sum = signature_of_root;

	for (unsigned i = 0; i < count; i++)
		signature_below(&sum, &sum, texts[i]);
	memcpy(words, WORDS_OF(sum), sizeof(WORDS_OF(sum)));
	last = sum;
	return sum.length;
}

/* The index of what was signed last. */
u64 index_of_last(void)
{
	return signature_index(&last);
}

/* The place of its alias. */
unsigned place_of_last(void)
{
	return alias_place(&last);
}

/* Does what was signed last differ from itself but for @bit of its words? */
bool bit_counts(unsigned bit)
{
	struct signature other = last;

	WORDS_OF(other)[bit / 64] ^= 1ULL << bit % 64;
	return signatures_differ(&last, &other);
}
