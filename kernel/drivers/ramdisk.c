/*
 * ramdisk.c - RAM disks: /dev/ram0 is the image that the boot loader brought as a module (qemu -initrd, GRUB
 * module2), used in place; a cpio archive is left to fs/initramfs.c. ramdisk_size=KB (as in Linux) makes an
 * empty disk of that size, ram0 or the one behind the image.
 *
 * A request is copied and completed within submit, so that under icount a disk access is a fixed number of
 * instructions.
 */
#include <arch/page.h>

#include "boot/boot_info.h"
#include "fs/block.h"
#include "kernel/core/cmdline.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"
#include "kernel/drivers/drivers.h"
#include "mm/page_alloc.h"

#define RAMDISK_MAJOR 1
#define RAMDISKS_MAX 2

static struct block_device ramdisks[RAMDISKS_MAX];
static unsigned ramdisk_count;

static void ramdisk_submit(struct block_device *device, struct block_request *request)
{
	char *at = (char *)device->driver + request->sector * SECTOR_SIZE;

	for (unsigned i = 0; i < request->segment_count; i++) {
		const struct block_segment *segment = &request->segments[i];

		if (request->operation == BLOCK_READ)
			memcpy(segment->data, at, segment->length);
		else
			memcpy(at, segment->data, segment->length);
		at += segment->length;
	}
	request->status = 0;
	request->done(request);
}

static void add_ramdisk(void *memory, u64 bytes, const char *what)
{
	static const char *const names[RAMDISKS_MAX] = {"ram0", "ram1"};
	struct block_device *device = &ramdisks[ramdisk_count];

	device->name = names[ramdisk_count];
	device->dev = MKDEV(RAMDISK_MAJOR, ramdisk_count++);
	device->sectors = bytes / SECTOR_SIZE;
	device->submit = ramdisk_submit;
	device->driver = memory;
	register_block_device(device);
	pr_info("%s: RAM disk, %llu KB, %s\n", device->name, (unsigned long long)(bytes >> 10),
		what);
}

void ramdisk_init(void)
{
	u64 bytes = boot_info.initrd_end - boot_info.initrd_start, kilobytes = 0;
	void *memory = phys_to_virt(boot_info.initrd_start);

	if (bytes >= SECTOR_SIZE && memcmp(memory, "070701", 6))
		add_ramdisk(memory, bytes, "the boot module");
	if (!cmdline_u64("ramdisk_size", &kilobytes) || !kilobytes)
		return;
	memory = kilobytes < GB(1) ? hash_alloc_table(KB(kilobytes)) : NULL;
	if (memory)
		add_ramdisk(memory, KB(kilobytes), "empty");
	else
		pr_err("ramdisk_size=%llu: there is no stretch of memory so large, no RAM disk is made\n",
		       (unsigned long long)kilobytes);
}
