/*
 * region.h - marks around what a program measures, for the memory-cache simulation (./cw run
 * --cache-sim) and for counts of locked instructions (./cw bench).
 *
 * A mark is one long no-operation, `nopl imm32(%rax,%rax)`: processors do nothing, and the plugin
 * of QEMU, which sees each instruction as it is translated, knows it by its constant.
 * What lies between a start and its stop is counted, each such part by itself and all together;
 * without any mark the whole job is.
 */
#pragma once

/* Counting begins. */
static inline void region_start(void)
{
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0xC4C4FF00" : : : "memory");
}

/* With several CPUs simulated: the one that runs this has done its part, and its clock is what it
 * took; what it does until the next start counts no more. */
static inline void region_done(void)
{
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0xC4C4FF02" : : : "memory");
}

/* Counting ends. */
static inline void region_stop(void)
{
	__asm__ __volatile__(".byte 0x0f, 0x1f, 0x84, 0x00; .long 0xC4C4FF01" : : : "memory");
}
