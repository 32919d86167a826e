/*
 * boot_info.c - what either loader left, in one struct boot_info, and the memory that is given out
 * meanwhile, by bumping a pointer.
 *
 * Free is what the loader calls RAM, above the first megabyte, without what it also calls something
 * else, the kernel's image and the initial RAM disk. One range, the first that is large enough, is
 * cut from its start for every request.
 *
 * Sources: PVH: Xen's public arch-x86/hvm/start_info.h. Multiboot2 (GRUB, under BIOS or UEFI): its
 * specification 2.0, section 3. Their maps of memory have entries of one form.
 */
#include "boot/boot_info.h"
#include "kernel/core/kernel.h"
#include "mm/page_alloc.h"

#define PVH_MAGIC 0x336ec578
#define MULTIBOOT2_MAGIC 0x36d76289
#define MEMORY_RAM 1 /* every other type is left alone */
#define FREE_RANGES 128

struct boot_info boot_info;
phys_addr_t boot_alloc_limit = GB(4); /* what start.S maps */

static struct {
	phys_addr_t start, end;
} free_ranges[FREE_RANGES];
static unsigned free_count;

extern char kernel_start[], kernel_end[];

struct memory_entry {
	u64 address, size;
	u32 type, reserved;
};

struct pvh_start_info {
	u32 magic, version, flags, module_count;
	u64 modules, command_line, rsdp;
	u64 memory_map;
	u32 memory_map_entries, reserved;
};

struct pvh_module {
	u64 address, size, command_line, reserved;
};

enum { TAG_END, TAG_COMMAND_LINE, TAG_MODULE = 3, TAG_MEMORY = 6, TAG_RSDP_OLD = 14, TAG_RSDP };

struct tag {
	u32 type, size;
	union {
		char command_line[1];
		u8 rsdp[1];
		struct {
			u32 start, end;
		} module;
		struct {
			u32 entry_size, version;
			u8 entries[];
		} memory;
	};
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Whole pages of it. Ranges past the table's end are dropped: less memory, not a wrong map. */
static void add_free(phys_addr_t start, phys_addr_t end)
{
	start = round_up(start, PAGE_SIZE);
	end = round_down(end, PAGE_SIZE);
	if (start < end && free_count < FREE_RANGES) {
		free_ranges[free_count].start = start;
		free_ranges[free_count++].end = end;
	}
}

/* Take [start, end) out of the free ranges. */
static void reserve(phys_addr_t start, phys_addr_t end)
{
	start = round_down(start, PAGE_SIZE);
	end = round_up(end, PAGE_SIZE);
	for (unsigned i = 0, count = free_count; i < count; i++) {
		phys_addr_t low = free_ranges[i].start, high = free_ranges[i].end;

		if (end <= low || start >= high)
			continue;
		free_ranges[i].end = max(low, start);
		add_free(end, high);
	}
}

/* The loader's map: first the RAM in it, then what lies over that. */
static void add_memory(const void *map, const void *end, u32 step)
{
	for (unsigned pass = 0; pass < 2; pass++)
		for (const void *at = map; at + sizeof(struct memory_entry) <= end; at += step) {
			const struct memory_entry *entry = at;
			phys_addr_t start = max_t(u64, entry->address, MB(1));
			phys_addr_t after =
				min_t(u64, entry->address + entry->size, DIRECT_MAP_SIZE);

			if ((entry->type == MEMORY_RAM) != (pass == 0) || after <= start)
				continue;
			reserve(start, after); /* RAM: it may be listed twice */
			if (pass)
				continue;
			add_free(start, after);
			boot_info.max_phys =
				max(boot_info.max_phys, round_down(after, (u64)PAGE_SIZE));
		}
	reserve(kernel_to_phys(kernel_start), kernel_to_phys(kernel_end));
	reserve(boot_info.initrd_start, boot_info.initrd_end);
}

void *boot_alloc(size_t size, size_t align)
{
	for (unsigned i = 0; i < free_count; i++) {
		phys_addr_t start = round_up(free_ranges[i].start, (phys_addr_t)align);

		if (start + size > min(free_ranges[i].end, boot_alloc_limit))
			continue;
		/* What lies before an aligned start stays free in a range of its own. */
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
	boot_alloc_limit = 0;
}

/* ---- loaders --------------------------------------------------------------------------------- */

static void read_pvh(const struct pvh_start_info *info)
{
	const struct memory_entry *map = phys_to_virt(info->memory_map);
	const struct pvh_module *module = phys_to_virt(info->modules);

	boot_info.loader = "PVH";
	if (info->rsdp)
		memcpy(boot_info.rsdp, phys_to_virt(info->rsdp), sizeof(boot_info.rsdp));
	if (info->command_line)
		strlcpy(boot_info.command_line, phys_to_virt(info->command_line),
			sizeof(boot_info.command_line));
	if (info->module_count) {
		boot_info.initrd_start = module->address;
		boot_info.initrd_end = module->address + module->size;
	}
	add_memory(map, map + info->memory_map_entries, sizeof(*map));
}

static void read_multiboot2(const void *info)
{
	const void *end = info + *(const u32 *)info;
	const struct tag *memory = NULL;

	boot_info.loader = "multiboot2";
	for (const struct tag *tag = info + 8;
	     (const void *)(tag + 1) <= end && tag->type != TAG_END;
	     tag = (const void *)tag + round_up(tag->size, 8u))
		switch (tag->type) {
		case TAG_COMMAND_LINE:
			strlcpy(boot_info.command_line, tag->command_line,
				sizeof(boot_info.command_line));
			break;
		case TAG_MODULE:
			boot_info.initrd_start = tag->module.start;
			boot_info.initrd_end = tag->module.end;
			break;
		case TAG_MEMORY:
			memory = tag;
			break;
		case TAG_RSDP_OLD: /* comes first, if both are there */
		case TAG_RSDP:
			memcpy(boot_info.rsdp, tag->rsdp,
			       min_t(size_t, tag->size - 8, sizeof(boot_info.rsdp)));
			break;
		}
	if (memory)
		add_memory(memory->memory.entries, (const void *)memory + memory->size,
			   memory->memory.entry_size);
}

void boot_info_init(u32 magic, phys_addr_t info)
{
	if (magic == PVH_MAGIC)
		read_pvh(phys_to_virt(info));
	else if (magic == MULTIBOOT2_MAGIC)
		read_multiboot2(phys_to_virt(info));
	else
		panic("unknown boot loader: magic %x", magic);
}
