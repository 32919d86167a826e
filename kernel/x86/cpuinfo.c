/*
 * cpuinfo.c - one CPU's lines of /proc/cpuinfo.
 */
#include "fs/proc/process_info.h"
#include "kernel/core/string.h"
#include "kernel/x86/x86.h"

/* The brand string of CPUID leaves 0x80000002..4; "" if the CPU has none. */
static void brand_string(char brand[49])
{
	u32 out[4];

	memset(brand, 0, 49);
	cpuid(0x80000000, 0, out);
	if (out[0] < 0x80000004)
		return;
	for (u32 i = 0; i < 3; i++) {
		cpuid(0x80000002 + i, 0, out);
		memcpy(brand + 16 * i, out, 16);
	}
}

size_t system_cpu_text(unsigned cpu, char *buf, size_t size)
{
	char vendor[13] = "", brand[49];
	u32 out[4], family, model;

	cpuid(0, 0, out);
	memcpy(vendor, &out[1], 4);
	memcpy(vendor + 4, &out[3], 4);
	memcpy(vendor + 8, &out[2], 4);
	brand_string(brand);
	cpuid(1, 0, out);
	family = (out[0] >> 8 & 15) + (out[0] >> 20 & 255);
	model = (out[0] >> 4 & 15) | (out[0] >> 12 & 0xf0);
	return (size_t)scnprintf(
		buf, size,
		"processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
		"model name\t: %s\nstepping\t: %u\napicid\t\t: %u\n\n",
		cpu, vendor, family, model, brand, out[0] & 15, cpus[cpu].apic_id);
}
