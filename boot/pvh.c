/*
 * pvh.c - reads the start info of the PVH protocol (qemu -kernel). Source: Xen's public
 * arch-x86/hvm/start_info.h.
 */
#include <arch/page.h>

#include "boot/loaders.h"

struct pvh_start_info {
	u32 magic, version, flags, module_count;
	u64 modules, command_line, rsdp;
	u64 memory_map; /* from version 1 on */
	u32 memory_map_entries, reserved;
};

struct pvh_module {
	u64 address, size, command_line, reserved;
};

struct pvh_memory {
	u64 address, size;
	u32 type, reserved;
};

void boot_info_from_pvh(phys_addr_t address)
{
	const struct pvh_start_info *info = phys_to_virt(address);
	u32 i;

	boot_info.loader = "PVH";
	boot_info.rsdp = info->rsdp;
	if (info->command_line)
		boot_info_set_command_line(phys_to_virt(info->command_line));
	if (info->module_count) {
		const struct pvh_module *module = phys_to_virt(info->modules);

		boot_info.initrd_start = module->address;
		boot_info.initrd_end = module->address + module->size;
	}
	if (info->version < 1)
		return;
	for (i = 0; i < info->memory_map_entries; i++) {
		const struct pvh_memory *memory =
			(const struct pvh_memory *)phys_to_virt(info->memory_map) + i;

		boot_info_add_memory(memory->address, memory->address + memory->size, memory->type);
	}
}
