/*
 * multiboot2.c - reads the tags of a multiboot2 loader (GRUB), under BIOS or UEFI. Source: the
 * Multiboot2 specification 2.0, section 3.
 */
#include <arch/page.h>

#include "boot/loaders.h"
#include "kernel/core/string.h"

enum tag_type {
	TAG_END = 0,
	TAG_COMMAND_LINE = 1,
	TAG_MODULE = 3,
	TAG_MEMORY_MAP = 6,
	TAG_RSDP_OLD = 14,
	TAG_RSDP_NEW = 15,
};

struct tag {
	u32 type, size;
	u8 data[];
};

struct tag_module {
	u32 start, end;
};

struct tag_memory_map {
	u32 entry_size, version;
	u8 entries[];
};

struct memory_entry {
	u64 address, size;
	u32 type, reserved;
};

static void read_memory_map(const struct tag *tag)
{
	const struct tag_memory_map *map = (const void *)tag->data;
	const u8 *end = (const u8 *)tag + tag->size;
	const u8 *at;

	for (at = map->entries; at + sizeof(struct memory_entry) <= end; at += map->entry_size) {
		const struct memory_entry *entry = (const void *)at;

		boot_info_add_memory(entry->address, entry->address + entry->size, entry->type);
	}
}

/* The new table (ACPI 2.0) is kept when both are there. */
static void copy_rsdp(const struct tag *tag)
{
	u32 size = min_t(u32, tag->size - sizeof(*tag), sizeof(boot_info.rsdp_copy));

	if (size > boot_info.rsdp_size) {
		memcpy(boot_info.rsdp_copy, tag->data, size);
		boot_info.rsdp_size = size;
	}
}

static void read_tag(const struct tag *tag)
{
	switch (tag->type) {
	case TAG_COMMAND_LINE:
		boot_info_set_command_line((const char *)tag->data);
		break;
	case TAG_MODULE:
		if (!boot_info.initrd_end) {
			const struct tag_module *module = (const void *)tag->data;

			boot_info.initrd_start = module->start;
			boot_info.initrd_end = module->end;
		}
		break;
	case TAG_MEMORY_MAP:
		read_memory_map(tag);
		break;
	case TAG_RSDP_OLD:
	case TAG_RSDP_NEW:
		copy_rsdp(tag);
		break;
	}
}

void boot_info_from_multiboot2(phys_addr_t info)
{
	const u8 *start = phys_to_virt(info);
	const u8 *end = start + *(const u32 *)start;
	const u8 *at = start + 8;

	boot_info.loader = "multiboot2";
	while (at + sizeof(struct tag) <= end) {
		const struct tag *tag = (const void *)at;

		if (tag->type == TAG_END || tag->size < sizeof(*tag))
			break;
		read_tag(tag);
		at += round_up(tag->size, 8u);
	}
}
