/*
 * boot_info.c - what either loader left, in one struct boot_info: sorted memory, overlaps resolved.
 *
 * Sources: PVH: Xen's public arch-x86/hvm/start_info.h. Multiboot2 (GRUB, under BIOS or UEFI): its
 * specification 2.0, section 3. Their maps of memory have entries of one form.
 */
#include "boot/boot_info.h"
#include "kernel/core/kernel.h"

#define PVH_MAGIC 0x336ec578
#define MULTIBOOT2_MAGIC 0x36d76289

struct boot_info boot_info;

struct memory_entry {
	u64 address, size;
	u32 type, reserved;
};

struct pvh_start_info {
	u32 magic, version, flags, module_count;
	u64 modules, command_line, rsdp;
	u64 memory_map; /* from version 1 on */
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

/* Ranges past the table's end are dropped: less memory, not a wrong map. Kept sorted by insertion.
 */
static void add_range(phys_addr_t start, phys_addr_t end, u32 type)
{
	struct memory_range *memory = boot_info.memory;
	unsigned i = boot_info.memory_count;

	if (end <= start || i == BOOT_MEMORY_RANGES)
		return;
	for (; i > 0 && memory[i - 1].start > start; i--)
		memory[i] = memory[i - 1];
	memory[i] = (struct memory_range){start, end, type};
	boot_info.memory_count++;
}

static void add_memory(const u8 *at, const u8 *end, u32 step)
{
	for (; at + sizeof(struct memory_entry) <= end; at += step) {
		const struct memory_entry *entry = (const void *)at;

		add_range(entry->address, entry->address + entry->size, entry->type);
	}
}

/* Where a range of RAM overlaps another range, the other one has the say: RAM is cut. */
static void resolve_overlaps(void)
{
	struct memory_range *memory = boot_info.memory;

	for (unsigned i = 0; i + 1 < boot_info.memory_count; i++) {
		struct memory_range *low = &memory[i], *high = &memory[i + 1];

		if (low->end <= high->start)
			continue;
		if (low->type == MEMORY_RAM) {
			phys_addr_t rest = low->end;

			low->end = high->start;
			if (rest > high->end)
				add_range(high->end, rest, MEMORY_RAM);
		} else if (low->end < high->end) {
			high->start = low->end;
		} else {
			memmove(high, high + 1, (--boot_info.memory_count - i - 1) * sizeof(*high));
			i--;
		}
	}
}

static void read_pvh(const struct pvh_start_info *info)
{
	const u8 *map = phys_to_virt(info->memory_map);
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
	if (info->version >= 1)
		add_memory(map, map + info->memory_map_entries * sizeof(struct memory_entry),
			   sizeof(struct memory_entry));
}

static void read_tag(const struct tag *tag)
{
	switch (tag->type) {
	case TAG_COMMAND_LINE:
		strlcpy(boot_info.command_line, tag->command_line, sizeof(boot_info.command_line));
		break;
	case TAG_MODULE:
		boot_info.initrd_start = tag->module.start;
		boot_info.initrd_end = tag->module.end;
		break;
	case TAG_MEMORY:
		add_memory(tag->memory.entries, (const u8 *)tag + tag->size,
			   tag->memory.entry_size);
		break;
	case TAG_RSDP_OLD: /* comes first, if both are there */
	case TAG_RSDP:
		memcpy(boot_info.rsdp, tag->rsdp,
		       min_t(size_t, tag->size - 8, sizeof(boot_info.rsdp)));
		break;
	}
}

static void read_multiboot2(const u8 *info)
{
	const u8 *at = info + 8, *end = info + *(const u32 *)info;
	const struct tag *tag = (const void *)at;

	boot_info.loader = "multiboot2";
	for (; at + 8 <= end && tag->type != TAG_END && tag->size >= 8; tag = (const void *)at) {
		read_tag(tag);
		at += round_up(tag->size, 8u);
	}
}

void boot_info_init(u32 magic, phys_addr_t info)
{
	if (magic == PVH_MAGIC)
		read_pvh(phys_to_virt(info));
	else if (magic == MULTIBOOT2_MAGIC)
		read_multiboot2(phys_to_virt(info));
	else
		panic("unknown boot loader: magic %x", magic);
	resolve_overlaps();
}
