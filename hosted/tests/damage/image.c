/* image.c - an image with something of everything, and one's way in it; see damage.h. */
#include <stdio.h>
#include <string.h>

#include "hosted/tests/damage/damage.h"

struct hosted_disk damaged_disk;
unsigned char *pristine;
struct rng damage_rng;

void make_contents(void)
{
	static char data[KB(300)];
	char path[64], text[300];

	memset(data, 'd', sizeof(data));
	for (unsigned i = 0; i < 12; i++) {
		snprintf(path, sizeof(path), "/mnt/dir%u", i % 4);
		sys_mkdirat(AT_FDCWD, path, 0755);
		snprintf(path, sizeof(path), "/mnt/dir%u/sub%u", i % 4, i);
		CHECK_EQUAL(sys_mkdirat(AT_FDCWD, path, 0755), 0);
		snprintf(path, sizeof(path), "/mnt/dir%u/sub%u/file", i % 4, i);
		CHECK_EQUAL(write_at(path, O_CREAT | O_WRONLY, 0, data, 1 + i * 900), 1 + i * 900);
		sys_lsetxattr(path, "user.name", data, 20 + i, 0); /* not in revision 0 */
		sys_lsetxattr(path, "trusted.a", data, i, 0);
		snprintf(path, sizeof(path), "/mnt/fast%u", i);
		CHECK_EQUAL(sys_symlinkat("dir1/sub1/file", AT_FDCWD, path), 0);
	}
	for (unsigned i = 0; i < 40; i++) { /* a directory of several blocks */
		memset(text, 'n', sizeof(text));
		snprintf(text, sizeof(text), "/mnt/dir0/%0100u", i);
		CHECK_EQUAL(sys_mknodat(AT_FDCWD, text, (i % 2 ? S_IFIFO : S_IFREG) | 0644, 0), 0);
	}
	CHECK_EQUAL(write_at("/mnt/large", O_CREAT | O_WRONLY, 0, data, sizeof(data)),
		    sizeof(data));
	CHECK_EQUAL(write_at("/mnt/sparse", O_CREAT | O_WRONLY, MB(68), data, 5000), 5000);
	CHECK_EQUAL(write_at("/mnt/sparse", O_WRONLY, KB(500), data, 5000), 5000);
	memset(text, 's', sizeof(text));
	text[200] = 0;
	CHECK_EQUAL(sys_symlinkat(text, AT_FDCWD, "/mnt/slow"), 0);
	CHECK_EQUAL(sys_linkat(AT_FDCWD, "/mnt/large", AT_FDCWD, "/mnt/dir2/link", 0), 0);
	CHECK_EQUAL(sys_mknodat(AT_FDCWD, "/mnt/device", S_IFCHR | 0600, MKDEV(1, 3)), 0);
}

u32 block_size(void)
{
	return 1024u << pristine_super()->log_block_size;
}

void *block_at(u32 block)
{
	return damaged_disk.image + (size_t)block * block_size();
}

u32 blocks(void)
{
	return pristine_super()->blocks_count;
}

struct ext2_group_descriptor *descriptor(u32 group)
{
	struct ext2_group_descriptor *table = block_at(block_size() == 1024 ? 2 : 1);

	return &table[group];
}

u32 groups(void)
{
	const struct ext2_superblock *super = pristine_super();

	return DIV_ROUND_UP(super->blocks_count - super->first_data_block, super->blocks_per_group);
}

struct ext2_raw_inode *inode_at(u32 number)
{
	const struct ext2_superblock *super = pristine_super();
	u32 group = (number - 1) / super->inodes_per_group,
	    index = (number - 1) % super->inodes_per_group;
	const struct ext2_group_descriptor *table =
		(void *)(pristine + (block_size() == 1024 ? 2048 : block_size()));

	return (void *)((char *)block_at(table[group].inode_table) +
			(size_t)index * super->inode_size);
}

u32 some_inode(u32 type)
{
	const struct ext2_superblock *super = pristine_super();

	for (;;) {
		u32 number = pick(6) ? 11 + (u32)pick(super->inodes_count - 10) : 2;
		const struct ext2_raw_inode *raw =
			(void *)(pristine +
				 ((unsigned char *)inode_at(number) - damaged_disk.image));

		if (raw->links_count && (!type || (raw->mode & S_IFMT) == type))
			return number;
	}
}
