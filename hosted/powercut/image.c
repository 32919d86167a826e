/*
 * image.c - the file systems that scripts begin with.
 */
#include <stdio.h>
#include <string.h>

#include "fs/ext2/ext2.h"
#include "hosted/harness/harness.h"
#include "core/log/assert.h"
#include "hosted/powercut/powercut.h"

static const struct geometry geometries[] = {
	{"1k", 1024, 640, 8192}, {"1k-groups", 1024, 640, 256},
	{"2k", 2048, 640, 8192}, {"2k-groups", 2048, 1024, 256},
	{"4k", 4096, 640, 8192}, {"4k-groups", 4096, 1280, 256},
};
const struct geometry *geometry = geometries;

bool choose_geometry(const char *name)
{
	geometry = geometries;
	while (strcmp(geometry->name, name) != 0)
		if (++geometry == geometries + ARRAY_SIZE(geometries))
			return false;
	return true;
}

/* The blocks of "keep", as far as there is room in *@own: how many. */
static u32 find_blocks_of_keep(const struct hosted_disk *disk, u32 *own, u32 room)
{
	u32 blocks = IMAGE_BYTES / geometry->block, count = 0;
	char record[RECORD];

	for (u32 i = 0; i < KB(20) / geometry->block; i++) {
		record_fill(record, KEEP_OBJECT, FIRST_WRITER, i * (geometry->block / RECORD));
		for (u32 block = 1; block < blocks && count < room; block++)
			if (!memcmp(disk->image + (u64)block * geometry->block, record, RECORD))
				own[count++] = block;
	}
	return count;
}

static bool is_free(const struct hosted_disk *disk, u32 block)
{
	u32 first = geometry->block == 1024, group = (block - first) / geometry->per_group;
	u32 bit = (block - first) % geometry->per_group;
	struct ext2_group_descriptor descriptor;

	memcpy(&descriptor,
	       disk->image + (first + 1) * geometry->block + group * sizeof(descriptor),
	       sizeof(descriptor));
	const unsigned char *bitmap =
		disk->image + (u64)descriptor.bitmap[EXT2_BLOCKS] * geometry->block;
	return !(bitmap[bit / 8] >> bit % 8 & 1);
}

/* What is free is full of a deleted file's indirect blocks: a block that is used before it was
 * written leads to blocks that are others'. */
static void fill_free_blocks(struct hosted_disk *disk)
{
	u32 own[64], count = find_blocks_of_keep(disk, own, ARRAY_SIZE(own));

	CHECK(count >= KB(20) / geometry->block);
	for (u32 block = 1; block < IMAGE_BYTES / geometry->block; block++) {
		u32 *words = (u32 *)(disk->image + (u64)block * geometry->block);

		for (u32 i = 0; i < geometry->block / 4 && is_free(disk, block); i++)
			words[i] = own[i % count];
	}
}

void prepare_image(struct hosted_disk *disk)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "-g %u -I 256 -m 0 -N 64 -O none,sparse_super,filetype,large_file,ext_attr",
		 geometry->per_group);
	disk_create(disk, "ram0", 0, IMAGE_BYTES);
	image_make(disk, geometry->block, geometry->kilobytes, options);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	script_prepare();
	CHECK_EQUAL(umount_disk(), 0);
	image_check(disk);
	fill_free_blocks(disk);
}
