/*
 * fuzz_ext2.c - the libFuzzer target: the input is an ext2 image, which is mounted, walked, changed
 * and unmounted (exercise.c). Seeds: hosted.mk makes small images of all block sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "hosted/harness/exercise.h"
#include "hosted/harness/harness.h"

#define IMAGE_MAX MB(1)
#define SUPERBLOCK_END 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hosted_disk disk;

static void start(void)
{
	hosted_quiet = !getenv("HOSTED_TRACE");
	test_failure_aborts = true;
	hosted_init(16);
	disk_create(&disk, "ram0", 0, IMAGE_MAX);
	mount_disk("ram0", 0); /* in vain: only to make the node */
	leak_mark();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!disk.image)
		start();
	size = min(size, (size_t)IMAGE_MAX) & ~(size_t)(SECTOR_SIZE - 1);
	if (size < SUPERBLOCK_END) /* EIO, and nothing to be said of it */
		return 0;
	memcpy(disk.image, data, size);
	disk.device.sectors = size / SECTOR_SIZE;
	exercise(&disk, size);
	return 0;
}
