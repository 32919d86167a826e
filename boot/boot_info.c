/*
 * boot_info.c - what either loader left, in one struct boot_info, and the memory that is given out
 * meanwhile, by bumping a pointer.
 *
 * Free is what the loader calls RAM, above the kernel's image, without the initial RAM disk. The
 * entries of a loader's map do not overlap: both firmwares see to that. One range, the first that
 * is large enough, is cut from its start for every request.
 *
 * Sources: PVH: Xen's public arch-x86/hvm/start_info.h. Multiboot2 (GRUB, under BIOS or UEFI): its
 * specification 2.0, section 3. Their maps of memory have entries of one form.
 */
#include "boot/boot_info.h"
#include "core/memory/page_alloc.h"

#define PVH_MAGIC 0x336ec578
#define MULTIBOOT2_MAGIC 0x36d76289
#define MEMORY_RAM 1 /* every other type is left alone */
#define FREE_RANGES 128

struct boot_info boot_info;

static struct range {
	phys_addr_t start, end;
} free_ranges[FREE_RANGES];
static unsigned free_count;

extern char kernel_end[];

struct memory_entry {
	u64 address, size;
	u32 type, reserved;
};

/* The first version of ACPI's root pointer, with which every later one begins. */
struct rsdp {
	u32 other[4];
	u32 rsdt;
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
		struct rsdp rsdp;
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

/* Ranges past the table's end are dropped: less memory, not a wrong map. */
static void add_free(phys_addr_t start, phys_addr_t end)
{
	if (start < end && free_count < FREE_RANGES)
		free_ranges[free_count++] = (struct range){start, end};
}

/* The loader's map. */
static void add_memory(const void *map, const void *end, u32 step)
{
	for (; map + sizeof(struct memory_entry) <= end; map += step) {
		const struct memory_entry *entry = map;
		phys_addr_t start = max_t(u64, entry->address, kernel_to_phys(kernel_end));
		phys_addr_t after = min_t(u64, entry->address + entry->size, DIRECT_MAP_SIZE);

		if (entry->type != MEMORY_RAM || after <= start)
			continue;
		add_free(start, min(after, boot_info.initrd_start));
		add_free(max(start, boot_info.initrd_end), after);
		boot_info.max_phys = max(boot_info.max_phys, after);
	}
}

void *boot_alloc(size_t size, size_t align)
{
	for (unsigned i = 0; i < free_count; i++) {
		phys_addr_t start = round_up(free_ranges[i].start, (phys_addr_t)align);

		if (start + size > min(free_ranges[i].end, GB(4))) /* what start.S maps */
			continue;
		/* What lies before an aligned start stays free in a range of its own. */
		add_free(free_ranges[i].start, start);
		free_ranges[i].start = start + size;
		return phys_to_virt(start);
	}
	panic("no memory for %zu bytes at start-up", size);
}

#ifdef CONFIG_RECORD_KEYS
void *boot_alloc_top(size_t *size)
{
	struct range *top = NULL;

	for (struct range *range = free_ranges; range < free_ranges + free_count; range++)
		if (range->end - range->start > *size && (!top || range->end > top->end) &&
		    range->end <= GB(4)) /* what start.S maps */
			top = range;
	if (!top)
		panic("no memory for %zu bytes at start-up", *size);
	if (top->end == boot_info.max_phys)
		boot_info.max_phys -= *size;
	else
		*size -= round_up(*size / PAGE_SIZE * sizeof(struct page), PAGE_SIZE);
	top->end -= *size;
	return phys_to_virt(top->end);
}
#endif

void boot_release_memory(void)
{
	for (unsigned i = 0; i < free_count; i++)
		page_alloc_add_range(free_ranges[i].start, free_ranges[i].end);
	free_count = 0;
}

/* ---- loaders --------------------------------------------------------------------------------- */

static void read_pvh(const struct pvh_start_info *info)
{
	const struct memory_entry *map = phys_to_virt(info->memory_map);
	const struct pvh_module *module = phys_to_virt(info->modules);

	if (info->rsdp)
		boot_info.rsdt = ((const struct rsdp *)phys_to_virt(info->rsdp))->rsdt;
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

	for (const struct tag *tag = info + 8; (const void *)tag < end && tag->type != TAG_END;
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
		case TAG_RSDP_OLD:
		case TAG_RSDP:
			boot_info.rsdt = tag->rsdp.rsdt;
			break;
		}
	if (memory)
		add_memory(memory->memory.entries, (const void *)memory + memory->size,
			   memory->memory.entry_size);
}

void boot_info_init(u32 magic, phys_addr_t at)
{
	const struct pvh_start_info *info = phys_to_virt(at);

	if (magic == MULTIBOOT2_MAGIC)
		read_multiboot2(info);
	else if (info->magic == PVH_MAGIC)
		read_pvh(info);
	else
		panic("unknown boot loader: magic %x", magic);
}
