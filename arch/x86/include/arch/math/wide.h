/* wide.h - arithmetic on numbers of several words, whose carries C cannot hand on. */
#pragma once

#ifdef CONFIG_DCACHE_FASTPATH

#include "core/base/types.h"

/* sum += factor * word, modulo 2^320; the lowest word first. */
static __always_inline void arch_multiply_add_320(u64 sum[5], const u64 factor[5], u64 word)
{
	u64 low, high, top;

	/* the products of the even words do not overlap, nor do those of the odd ones */
	__asm__("mov %[word], %%rax\n\t"
		"mulq (%[factor])\n\t"
		"mov %%rax, %[low]\n\t"
		"mov %%rdx, %[high]\n\t"
		"mov %[word], %[top]\n\t"
		"imulq 32(%[factor]), %[top]\n\t"
		"mov %[word], %%rax\n\t"
		"mulq 16(%[factor])\n\t"
		"add %[low], %[sum0]\n\t"
		"adc %[high], %[sum1]\n\t"
		"adc %%rax, %[sum2]\n\t"
		"adc %%rdx, %[sum3]\n\t"
		"adc %[top], %[sum4]\n\t"
		"mov %[word], %%rax\n\t"
		"mulq 8(%[factor])\n\t"
		"mov %%rax, %[low]\n\t"
		"mov %%rdx, %[high]\n\t"
		"mov %[word], %%rax\n\t"
		"mulq 24(%[factor])\n\t"
		"add %[low], %[sum1]\n\t"
		"adc %[high], %[sum2]\n\t"
		"adc %%rax, %[sum3]\n\t"
		"adc %%rdx, %[sum4]"
		: [sum0] "+rm"(sum[0]), [sum1] "+rm"(sum[1]), [sum2] "+rm"(sum[2]),
		  [sum3] "+rm"(sum[3]), [sum4] "+rm"(sum[4]), [low] "=&r"(low), [high] "=&r"(high),
		  [top] "=&r"(top)
		: [factor] "r"(factor), [word] "r"(word), "m"(*(const u64(*)[5])factor)
		: "rax", "rdx", "cc");
}

/*
 * The same in fewer instructions, on CPUs that multiply without touching the flags (BMI2, since
 * 2013): wherever arch_has_mulx(), in functions marked ARCH_MULX.
 */
#define ARCH_MULX __attribute__((target("bmi,bmi2")))

bool arch_has_mulx(void);

static __always_inline void arch_multiply_add_320_mulx(u64 sum[5], const u64 factor[5], u64 word)
{
	u64 low, high, low2, high2;

	/* the top product first, whose upper half is beyond the number, as are its carries */
	__asm__("mulx 32(%[factor]), %[low], %[high]\n\t"
		"add %[low], %[sum4]\n\t"
		"mulx (%[factor]), %[low], %[high]\n\t"
		"mulx 16(%[factor]), %[low2], %[high2]\n\t"
		"add %[low], %[sum0]\n\t"
		"adc %[high], %[sum1]\n\t"
		"adc %[low2], %[sum2]\n\t"
		"adc %[high2], %[sum3]\n\t"
		"adc $0, %[sum4]\n\t"
		"mulx 8(%[factor]), %[low], %[high]\n\t"
		"mulx 24(%[factor]), %[low2], %[high2]\n\t"
		"add %[low], %[sum1]\n\t"
		"adc %[high], %[sum2]\n\t"
		"adc %[low2], %[sum3]\n\t"
		"adc %[high2], %[sum4]"
		: [sum0] "+r"(sum[0]), [sum1] "+r"(sum[1]), [sum2] "+r"(sum[2]),
		  [sum3] "+r"(sum[3]), [sum4] "+r"(sum[4]), [low] "=&r"(low), [high] "=&r"(high),
		  [low2] "=&r"(low2), [high2] "=&r"(high2)
		: [factor] "r"(factor), "d"(word), "m"(*(const u64(*)[5])factor)
		: "cc");
}

#endif
