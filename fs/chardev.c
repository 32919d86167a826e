/*
 * chardev.c - the list of character devices.
 */
#include "fs/chardev.h"

LIST_HEAD(char_devices);

void register_chrdev(struct char_device *device)
{
	list_add_tail(&device->link, &char_devices);
}

struct char_device *find_chrdev(dev_t dev)
{
	struct char_device *device;

	list_for_each_entry(device, &char_devices, link)
		if (device->dev == dev)
			return device;
	return NULL;
}
