/*
 * aes.h - AES with keys of 128 bits, two blocks at a time under two keys, by the processor's own
 * instructions.
 *
 * They work on vector registers, which hold what the program has left there (arch/x86/entry/fpu.h):
 * so whoever encrypts does it between arch_vectors_begin() and arch_vectors_end(), which save three
 * of them and load them again. No more is needed, since the kernel is not preempted, no interrupt
 * handler uses vector registers, and instructions of this form leave the upper halves of AVX's as
 * they are. Nothing between the two may sleep.
 */
#pragma once

#ifdef CONFIG_PATH_SIGNATURE_AES

#include "core/base/types.h"

#define AES_ROUNDS 10

/* The keys of all rounds, those of the two keys side by side. */
struct arch_aes_keys {
	u64 round[AES_ROUNDS + 1][2][2];
} __aligned(16);

struct arch_vectors {
	u64 xmm[3][2];
};

/* What the assembly below changes, where the compiler could have something there: hosted. */
#ifdef __SSE2__
#define ARCH_VECTORS_CHANGED "xmm0", "xmm1", "xmm2"
#else
#define ARCH_VECTORS_CHANGED
#endif

bool arch_has_aes(void);

static __always_inline void arch_vectors_begin(struct arch_vectors *saved)
{
	__asm__ __volatile__("movups %%xmm0, (%[saved])\n\t"
			     "movups %%xmm1, 16(%[saved])\n\t"
			     "movups %%xmm2, 32(%[saved])"
			     : "=m"(*saved)
			     : [saved] "r"(saved));
}

static __always_inline void arch_vectors_end(const struct arch_vectors *saved)
{
	__asm__ __volatile__("movups (%[saved]), %%xmm0\n\t"
			     "movups 16(%[saved]), %%xmm1\n\t"
			     "movups 32(%[saved]), %%xmm2" ::[saved] "r"(saved),
			     "m"(*saved)
			     : ARCH_VECTORS_CHANGED);
}

#define ARCH_AES_ROUND(n, last)                                                                    \
	"aesenc" last " " #n "*32(%[keys]), %%xmm0\n\t"                                            \
	"aesenc" last " " #n "*32+16(%[keys]), %%xmm1\n\t"
#define ARCH_AES_ROUNDS                                                                            \
	ARCH_AES_ROUND(1, "")                                                                      \
	ARCH_AES_ROUND(2, "")                                                                      \
	ARCH_AES_ROUND(3, "")                                                                      \
	ARCH_AES_ROUND(4, "")                                                                      \
	ARCH_AES_ROUND(5, "")                                                                      \
	ARCH_AES_ROUND(6, "")                                                                      \
	ARCH_AES_ROUND(7, "")                                                                      \
	ARCH_AES_ROUND(8, "")                                                                      \
	ARCH_AES_ROUND(9, "")                                                                      \
	ARCH_AES_ROUND(10, "last")

/* Each of @blocks becomes itself xor @block, encrypted under its key. */
static __always_inline void arch_aes_chain(u64 blocks[2][2], const struct arch_aes_keys *keys,
					   const u64 block[2])
{
	__asm__ __volatile__("movdqu (%[block]), %%xmm2\n\t"
			     "movdqu (%[blocks]), %%xmm0\n\t"
			     "movdqu 16(%[blocks]), %%xmm1\n\t"
			     "pxor %%xmm2, %%xmm0\n\t"
			     "pxor %%xmm2, %%xmm1\n\t"
			     "pxor (%[keys]), %%xmm0\n\t"
			     "pxor 16(%[keys]), %%xmm1\n\t" ARCH_AES_ROUNDS
			     "movdqu %%xmm0, (%[blocks])\n\t"
			     "movdqu %%xmm1, 16(%[blocks])"
			     : "+m"(*(u64(*)[2][2])blocks)
			     : [blocks] "r"(blocks), [keys] "r"(keys), [block] "r"(block),
			       "m"(*keys), "m"(*(const u64(*)[2])block)
			     : ARCH_VECTORS_CHANGED);
}

/* The four bytes of @word, each as AES's S-box has it: for the expansion of a key. */
static inline u32 arch_aes_substitute(u32 word)
{
	/* four equal columns, so that the round's shifting of rows changes nothing */
	__asm__ __volatile__("movd %0, %%xmm0\n\t"
			     "pshufd $0, %%xmm0, %%xmm0\n\t"
			     "pxor %%xmm1, %%xmm1\n\t"
			     "aesenclast %%xmm1, %%xmm0\n\t"
			     "movd %%xmm0, %0"
			     : "+r"(word)::ARCH_VECTORS_CHANGED);
	return word;
}

#endif
