/*
 * setup.c - the order in which the machine itself comes up (arch/boot.h), and the memory that is
 * given out meanwhile, by bumping a pointer.
 *
 * Free is what the loader calls RAM, above the first megabyte, without the kernel's image and the
 * initial RAM disk. One range, the first that is large enough, is cut from its start for every
 * request.
 */
#include <arch/boot.h>
#include <arch/time.h>

#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

static struct {
	phys_addr_t start, end;
} free_ranges[BOOT_MEMORY_RANGES + 4];
static unsigned free_count;
static phys_addr_t allocation_limit = GB(4); /* what start.S maps */

static void add_free(phys_addr_t start, phys_addr_t end)
{
	start = round_up(start, PAGE_SIZE);
	end = round_down(end, PAGE_SIZE);
	if (start < end && free_count < ARRAY_SIZE(free_ranges)) {
		free_ranges[free_count].start = start;
		free_ranges[free_count++].end = end;
	}
}

/* Take [start, end) out of the free ranges. */
static void reserve(phys_addr_t start, phys_addr_t end)
{
	unsigned count = free_count;

	end = round_up(end, PAGE_SIZE);
	for (unsigned i = 0; i < count; i++) {
		phys_addr_t low = free_ranges[i].start, high = free_ranges[i].end;

		if (end <= low || start >= high)
			continue;
		free_ranges[i].end = max(low, min(round_down(start, PAGE_SIZE), high));
		add_free(end, high);
	}
}

phys_addr_t boot_max_phys(void)
{
	phys_addr_t top = 0;

	for (unsigned i = 0; i < boot_info.memory_count; i++)
		if (boot_info.memory[i].type == MEMORY_RAM)
			top = boot_info.memory[i].end; /* sorted */
	return round_down(top, PAGE_SIZE);
}

static void boot_memory_init(void)
{
	for (unsigned i = 0; i < boot_info.memory_count; i++) {
		const struct memory_range *range = &boot_info.memory[i];

		if (range->type == MEMORY_RAM)
			add_free(max_t(u64, range->start, MB(1)), range->end);
	}
	reserve(kernel_to_phys(kernel_start), kernel_to_phys(kernel_end));
	reserve(boot_info.initrd_start, boot_info.initrd_end);
}

void *boot_alloc(size_t size, size_t align)
{
	for (unsigned i = 0; i < free_count; i++) {
		phys_addr_t start = round_up(free_ranges[i].start, (phys_addr_t)align);

		if (start + size > min(free_ranges[i].end, allocation_limit))
			continue;
		/* What lies before an aligned start stays free in a range of its own. */
		if (start - free_ranges[i].start >= PAGE_SIZE)
			add_free(free_ranges[i].start, start);
		free_ranges[i].start = start + size;
		return phys_to_virt(start);
	}
	panic("no memory for %zu bytes at start-up", size);
}

void boot_release_memory(void)
{
	for (unsigned i = 0; i < free_count; i++) {
		phys_addr_t start = round_up(free_ranges[i].start, PAGE_SIZE);

		if (start < free_ranges[i].end)
			page_alloc_add_range(start, free_ranges[i].end);
	}
	page_allocator_up = true;
}

void arch_early_init(u32 magic, phys_addr_t info)
{
	clock_tsc_base = arch_cycles();
	idle_task_init(0, boot_stack);
	cpu_detect_features();
	idt_init();
	cpu_init_tables(&cpus[0]);
	boot_info_init(magic, info);
	boot_memory_init();
	uaccess_patch_smap();
	mmu_init_kernel(); /* the text is read-only from here on */
	allocation_limit = ~0ULL;
	cpu_enable_features();
}

void arch_irq_init(void)
{
	acpi_init();
	irq_mask_legacy();
	lapic_init_cpu();
	irq_init();
	clock_init();
	clock_init_cpu();
}
