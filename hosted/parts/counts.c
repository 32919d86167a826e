/*
 * counts.c - memory_use_add() as the kernel compiles it, in a process, with an interrupt after each
 * of its instructions: the processor's single steps, whose signal handler counts as well.
 *
 * Nothing may be lost of either. Prints "ok" and how many interrupts there were.
 */
#include <asm/prctl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/memory/page_alloc.h"

#define CALLS 200
#define TRAP_FLAG 0x100UL

struct cpu cpus[NR_CPUS];
struct memory_use_counts memory_use_counts[NR_CPUS];

static volatile s64 interrupts;

static void on_step(int number)
{
	(void)number;
	interrupts++;
	memory_use_add(MEMORY_SLAB, 1);
}

/* The trap flag is among the flags that popf loads; the red zone below the stack is not ours. */
static void step(bool on)
{
	unsigned long flags;

	__asm__ __volatile__("sub $128, %%rsp; pushfq; pop %0; add $128, %%rsp" : "=r"(flags));
	flags = on ? flags | TRAP_FLAG : flags & ~TRAP_FLAG;
	__asm__ __volatile__("sub $128, %%rsp; push %0; popfq; lea 128(%%rsp), %%rsp" ::"r"(flags)
			     : "cc");
}

int main(void)
{
	s64 wanted;

	cpus[0].self = &cpus[0];
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, &cpus[0]))
		return 1;
	signal(SIGTRAP, on_step);
	step(true);
	for (int i = 0; i < CALLS; i++)
		memory_use_add(MEMORY_SLAB, i & 1 ? -3 : 5);
	step(false);
	wanted = CALLS + interrupts;
	if (interrupts < 2 * CALLS || memory_use_counts[0].pages[MEMORY_SLAB] != wanted) {
		printf("%lld instead of %lld after %lld interrupts\n",
		       (long long)memory_use_counts[0].pages[MEMORY_SLAB], (long long)wanted,
		       (long long)interrupts);
		return 1;
	}
	printf("ok, %lld interrupts\n", (long long)interrupts);
	return 0;
}
