/*
 * kernel_map.c - the kernel's half of every address space.
 *
 *	ffff800000000000  the direct map: all RAM, writable, never executable, in large pages
 *	ffffc00000000000  map_physical(): device registers (uncached) and firmware tables
 *	ffffffff80000000  the kernel's image: text read-execute, rodata read-only, rest read-write
 *
 * No address is both writable and executable. The top-level entries never change after boot, so
 * every root has them by copy. Tables come from boot_alloc() until the page allocator is there.
 */
#include <arch/boot.h>
#include <arch/io.h>

#include "kernel/x86/x86.h"
#include "mm/page_alloc.h"

#define DEVICE_MAP_BASE 0xffffc00000000000UL
#define DEVICE_MAP_SIZE GB(64)

#define PAGE_KERNEL (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL)

u64 *kernel_page_table;
static DEFINE_SPINLOCK(device_map_lock);
static u64 device_map_next = DEVICE_MAP_BASE;
bool page_allocator_up; /* boot_alloc() is over */

static u64 *new_table(void)
{
	return page_allocator_up ? get_free_pages(GFP_ATOMIC | GFP_ZERO, 0)
				 : memset(boot_alloc(PAGE_SIZE, PAGE_SIZE), 0, PAGE_SIZE);
}

/* The entry for @address at the level whose entries cover 1 << @shift bytes. NULL: no memory. */
static u64 *kernel_entry(u64 address, unsigned shift)
{
	u64 *table = kernel_page_table;
	unsigned level;

	for (level = 39; level > shift; level -= 9) {
		u64 *entry = &table[address >> level & 511];

		table = *entry ? phys_to_virt(*entry & PTE_ADDRESS) : new_table();
		if (!table)
			return NULL;
		*entry = virt_to_phys(table) | PTE_PRESENT | PTE_WRITE | PTE_ACCESSED;
	}
	return &table[address >> shift & 511];
}

static bool map_pages(u64 address, phys_addr_t phys, u64 size, u64 flags)
{
	u64 offset;

	for (offset = 0; offset < size; offset += PAGE_SIZE) {
		u64 *entry = kernel_entry(address + offset, PAGE_SHIFT);

		if (!entry)
			return false;
		*entry = (phys + offset) | flags;
	}
	return true;
}

/* Large pages that a range of RAM touches; its neighbours at the edges come along. */
static void map_ram(phys_addr_t start, phys_addr_t end)
{
	phys_addr_t at = round_down(start, MB(2));

	while (at < end) {
		u64 address = (u64)(uintptr_t)phys_to_virt(at);
		bool whole = cpu_features.large_1gb && !(at & (GB(1) - 1)) && at + GB(1) <= end;

		*kernel_entry(address, whole ? 30 : 21) = at | PAGE_KERNEL | PTE_LARGE | PTE_NX;
		at += whole ? GB(1) : MB(2);
	}
}

static void map_image(const char *start, const char *end, u64 flags)
{
	map_pages((u64)(uintptr_t)start, kernel_to_phys(start), (u64)(end - start), flags);
}

void mmu_init_kernel(void)
{
	kernel_page_table = new_table();
	for (unsigned i = 0; i < boot_info.memory_count; i++)
		if (boot_info.memory[i].type == MEMORY_RAM)
			map_ram(boot_info.memory[i].start, boot_info.memory[i].end);
	map_image(text_start, text_end, PAGE_KERNEL & ~(PTE_WRITE | PTE_DIRTY));
	map_image(rodata_start, rodata_end, (PAGE_KERNEL & ~(PTE_WRITE | PTE_DIRTY)) | PTE_NX);
	map_image(data_start, kernel_end, PAGE_KERNEL | PTE_NX);
	kernel_entry(DEVICE_MAP_BASE, 30); /* fixes the top-level entry */
	mmu_load_kernel();
}

void mmu_load_kernel(void)
{
	this_cpu()->mmu_root = NULL;
	write_cr3(virt_to_phys(kernel_page_table));
}

void *map_device(phys_addr_t phys, size_t size, bool cached)
{
	u64 offset = phys & (PAGE_SIZE - 1);
	u64 whole = round_up(offset + size, PAGE_SIZE);
	unsigned long irq;
	u64 address;
	bool mapped = false;

	spin_lock_irqsave(&device_map_lock, irq);
	address = device_map_next;
	if (whole <= DEVICE_MAP_BASE + DEVICE_MAP_SIZE - address) {
		device_map_next += whole;
		mapped = map_pages(address, phys - offset, whole,
				   PAGE_KERNEL | PTE_NX | (cached ? 0 : PTE_NO_CACHE));
	}
	spin_unlock_irqrestore(&device_map_lock, irq);
	return mapped ? (void *)(uintptr_t)(address + offset) : NULL;
}
