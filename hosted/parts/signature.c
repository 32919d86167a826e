/*
 * signature.c - signatures of paths (fs/path/direct/signature.h), as test_signature.py asks for
 * them: with the kernel's own arithmetic, for new CPUs and for all.
 */
#include "fs/path/direct/signature.c"

#include <stdlib.h>

static u64 drawn;

u64 random_u64(void)
{
	return drawn;
}

bool arch_has_mulx(void)
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

/* Draw keys from @seed; with @newest false as on a CPU without mulx: is that what it is? */
bool begin(u64 seed, bool newest)
{
	drawn = seed;
	signature_init();
	has_mulx = has_mulx && newest;
	return has_mulx == newest;
}

/* What was drawn: of word @word the limb @limb; the root's limb. */
u64 key(unsigned word, unsigned limb)
{
	return signature_keys[word][limb];
}

u64 root(unsigned limb)
{
	return signature_of_root.limb[limb];
}

/* Of the @count texts one below the other, from the root: @limbs, and the length is returned. */
u64 sign(const char *const *texts, unsigned count, u64 *limbs)
{
	struct signature sum = signature_of_root;

	for (unsigned i = 0; i < count; i++)
		signature_below(&sum, &sum, texts[i]);
	memcpy(limbs, sum.limb, sizeof(sum.limb));
	return sum.length;
}
