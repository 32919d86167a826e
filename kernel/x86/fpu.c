/*
 * fpu.c - the vector registers of programs: x87, SSE, AVX, by XSAVE, which every 64-bit processor
 * since 2008 has.
 *
 * The kernel itself never uses them. A task's image lies at the top of its kernel stack. The switch
 * saves them when a program's task is left and loads them when one is entered, unless they still
 * hold what they held (cpu->fpu_owner). Only the task itself and the switch touch an image.
 */
#include <arch/process.h>
#include <arch/uaccess.h>

#include "kernel/core/kernel.h"
#include "kernel/x86/x86.h"

#define XSTATE_HEADER 512 /* offset: u64 present, u64 compaction, 48 bytes of zeros */
#define XSTATE_HEADER_SIZE 64
#define MXCSR_OFFSET 24
#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_MASK 0xffffu
#define SOFTWARE_OFFSET 464 /* what Linux tells programs about a signal frame's image */

#define XFEATURES_WANTED 0x7 /* x87, SSE, AVX */
#define XFEATURES_AVX512 0xe0

#define FP_XSTATE_MAGIC1 0x46505853u
#define FP_XSTATE_MAGIC2 0x46505845u

struct software_bytes {
	u32 magic1, extended_size;
	u64 xfeatures;
	u32 xstate_size, padding[7];
};

u32 fpu_area_size;
static u32 image_size; /* of the XSAVE image */
static u64 xfeatures;  /* XCR0: the components in use */
static u8 initial_state[XSTATE_HEADER + XSTATE_HEADER_SIZE + 4096] __aligned(64);

/* On each CPU. The first one learns the image's size, which the CPU tells for the components
 * enabled. */
void fpu_init_cpu(void)
{
	u32 out[4];

	if (!cpu_features.xsave)
		panic("this processor has no XSAVE");
	cpuid(13, 0, out);
	xfeatures = out[0] & XFEATURES_WANTED;
	if ((out[0] & XFEATURES_AVX512) == XFEATURES_AVX512)
		xfeatures |= XFEATURES_AVX512;
	__asm__ __volatile__("fninit; xsetbv" ::"c"(0), "a"((u32)xfeatures), "d"(0));
	cpuid(13, 0, out);
	image_size = out[1];
	BUG_ON(image_size > sizeof(initial_state));
	fpu_area_size = round_up(image_size, 64u);
	*(u16 *)initial_state = 0x37f;
	*(u32 *)(initial_state + MXCSR_OFFSET) = MXCSR_DEFAULT;
	fpu_restore(initial_state);
}

void fpu_save(void *area)
{
	__asm__ __volatile__("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

void fpu_restore(const void *area)
{
	__asm__ __volatile__("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
}

/* XSAVE leaves most of the header alone, and XRSTOR faults unless it is zero. */
void fpu_prepare_area(void *area)
{
	memset((u8 *)area + XSTATE_HEADER, 0, XSTATE_HEADER_SIZE);
}

void arch_fpu_reset(void)
{
	fpu_restore(initial_state);
}

size_t arch_fpu_frame_size(void)
{
	return image_size + sizeof(u32);
}

int arch_fpu_save_user(void *user)
{
	u8 *area = current->arch.fpu;

	fpu_save(area); /* a switch during the copy saves the same values again */
	*(struct software_bytes *)(area + SOFTWARE_OFFSET) = (struct software_bytes){
		.magic1 = FP_XSTATE_MAGIC1,
		.extended_size = image_size + sizeof(u32),
		.xfeatures = xfeatures,
		.xstate_size = image_size,
	};
	if (arch_copy_to_user(user, area, image_size))
		return -EFAULT;
	return arch_put_user(FP_XSTATE_MAGIC2, (u32 *)((u8 *)user + image_size));
}

int arch_fpu_restore_user(const void *user)
{
	u8 *area = current->arch.fpu;
	u64 *header = (u64 *)(area + XSTATE_HEADER);
	size_t missing;

	/*
	 * The copy may sleep, and a switch would save over what has been copied: so the live
	 * registers are given up first, and the switch leaves the area alone while fpu is NULL.
	 */
	current->arch.fpu = NULL;
	missing = arch_copy_from_user(area, user, image_size);
	current->arch.fpu = area;
	/* Make what the program gave us something that XRSTOR takes without a fault. */
	*(u32 *)(area + MXCSR_OFFSET) &= MXCSR_MASK;
	header[0] &= xfeatures;
	memset(header + 1, 0, XSTATE_HEADER_SIZE - sizeof(u64));
	fpu_restore(missing ? initial_state : area);
	arch_thread_restore(this_cpu(), current);
	return missing ? -EFAULT : 0;
}
