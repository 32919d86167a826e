/*
 * drivers.c - the order in which drivers come up.
 */
#include "kernel/drivers/drivers.h"

void drivers_init(void)
{
	mem_devices_init();
	tty_init();
	serial_init();
	ramdisk_init();
	virtio_blk_init();
}
