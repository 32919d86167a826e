/*
 * fpu.c - the vector registers of programs: x87, SSE, AVX, by XSAVE (FXSAVE where that is missing).
 *
 * The kernel itself never uses them. A task's image lies at the top of its kernel stack. The switch
 * saves them when a program's task is left and loads them when one is entered, unless they still
 * hold what they held (cpu->fpu_owner). Only the task itself and the switch touch an image.
 */
#include <arch/process.h>
#include <arch/uaccess.h>

#include "kernel/core/errno.h"
#include "kernel/core/string.h"
#include "kernel/x86/x86.h"

#define FXSAVE_SIZE 512
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
static u8 initial_state[FXSAVE_SIZE + XSTATE_HEADER_SIZE + 4096] __aligned(64);

void fpu_init_features(void)
{
	struct cpu_features *f = &cpu_features;
	u32 out[4];

	f->fpu_size = FXSAVE_SIZE;
	if (f->xsave) {
		cpuid(13, 0, out);
		f->xfeatures = (out[0] | (u64)out[3] << 32) & (XFEATURES_WANTED | XFEATURES_AVX512);
		if ((f->xfeatures & XFEATURES_AVX512) != XFEATURES_AVX512)
			f->xfeatures &= ~XFEATURES_AVX512;
	}
}

static void write_xcr0(u64 value)
{
	__asm__ __volatile__("xsetbv" ::"c"(0), "a"((u32)value), "d"((u32)(value >> 32)));
}

/* On each CPU. The first one learns the image's size, which the CPU tells for the components
 * enabled. */
void fpu_init_cpu(void)
{
	u32 out[4];

	__asm__ __volatile__("fninit");
	if (cpu_features.xsave) {
		write_xcr0(cpu_features.xfeatures);
		cpuid(13, 0, out);
		if (out[1] <= sizeof(initial_state))
			cpu_features.fpu_size = out[1];
		else
			cpu_features.xsave = false;
	}
	fpu_area_size = round_up(cpu_features.fpu_size, 64u);
	*(u16 *)initial_state = 0x37f;
	*(u32 *)(initial_state + MXCSR_OFFSET) = MXCSR_DEFAULT;
	fpu_restore(initial_state);
}

void fpu_save(void *area)
{
	if (likely(cpu_features.xsave))
		__asm__ __volatile__("xsave64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ __volatile__("fxsave64 (%0)" ::"r"(area) : "memory");
}

void fpu_restore(const void *area)
{
	if (likely(cpu_features.xsave))
		__asm__ __volatile__("xrstor64 (%0)" ::"r"(area), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ __volatile__("fxrstor64 (%0)" ::"r"(area) : "memory");
}

/* XSAVE leaves most of the header alone, and XRSTOR faults unless it is zero. */
void fpu_prepare_area(void *area)
{
	if (cpu_features.xsave)
		memset((u8 *)area + XSTATE_HEADER, 0, XSTATE_HEADER_SIZE);
}

void arch_fpu_reset(void)
{
	fpu_restore(initial_state);
}

size_t arch_fpu_frame_size(void)
{
	return cpu_features.fpu_size + (cpu_features.xsave ? sizeof(u32) : 0);
}

int arch_fpu_save_user(void *user)
{
	u8 *area = current->arch.fpu;
	u32 size = cpu_features.fpu_size;
	struct software_bytes *software = (void *)(area + SOFTWARE_OFFSET);

	fpu_save(area); /* a switch during the copy saves the same values again */
	memset(software, 0, sizeof(*software));
	if (cpu_features.xsave) {
		software->magic1 = FP_XSTATE_MAGIC1;
		software->extended_size = size + sizeof(u32);
		software->xfeatures = cpu_features.xfeatures;
		software->xstate_size = size;
	}
	if (arch_copy_to_user(user, area, size))
		return -EFAULT;
	if (cpu_features.xsave)
		return arch_put_user(FP_XSTATE_MAGIC2, (u32 *)((u8 *)user + size));
	return 0;
}

/* Make what a program gave us something that XRSTOR takes without a fault. */
static void sanitize_image(u8 *area)
{
	u64 *header = (u64 *)(area + XSTATE_HEADER);

	*(u32 *)(area + MXCSR_OFFSET) &= MXCSR_MASK;
	if (!cpu_features.xsave)
		return;
	header[0] &= cpu_features.xfeatures;
	memset(header + 1, 0, XSTATE_HEADER_SIZE - sizeof(u64));
}

int arch_fpu_restore_user(const void *user)
{
	u8 *area = current->arch.fpu;
	size_t missing;

	/*
	 * The copy may sleep, and a switch would save over what has been copied: so the live
	 * registers are given up first, and the switch leaves the area alone while fpu is NULL.
	 */
	current->arch.fpu = NULL;
	missing = arch_copy_from_user(area, user, cpu_features.fpu_size);
	current->arch.fpu = area;
	sanitize_image(area);
	fpu_restore(missing ? initial_state : area);
	arch_thread_restore(this_cpu(), current);
	return missing ? -EFAULT : 0;
}
