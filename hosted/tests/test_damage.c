/*
 * test_damage.c - damaged ext2 images: a fixed set, image n being made from seed n. Each is
 * mounted, walked, read, changed and unmounted (exercise.c): never a crash, a hang or a leak.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosted/harness/exercise.h"
#include "fs/ext2/ext2.h"
#include "hosted/harness/harness.h"

static struct hosted_disk disk;
static unsigned char *pristine;
static struct rng rng;

static u64 pick(u64 n)
{
	return rng_below(&rng, n);
}

/* ---- an image with something of everything ----------------------------------------------------
 */

static void make_contents(void)
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

/* ---- finding one's way in the image -----------------------------------------------------------
 */

static struct ext2_superblock *super_block(void)
{
	return (void *)(disk.image + 1024);
}

static u32 block_size(void)
{
	return 1024u << ((struct ext2_superblock *)(pristine + 1024))->log_block_size;
}

static void *block_at(u32 block)
{
	return disk.image + (size_t)block * block_size();
}

static u32 blocks(void)
{
	return ((struct ext2_superblock *)(pristine + 1024))->blocks_count;
}

static struct ext2_group_descriptor *descriptor(u32 group)
{
	struct ext2_group_descriptor *table = block_at(block_size() == 1024 ? 2 : 1);

	return &table[group];
}

static u32 groups(void)
{
	const struct ext2_superblock *super = (void *)(pristine + 1024);

	return DIV_ROUND_UP(super->blocks_count - super->first_data_block, super->blocks_per_group);
}

static struct ext2_raw_inode *inode_at(u32 number)
{
	const struct ext2_superblock *super = (void *)(pristine + 1024);
	u32 group = (number - 1) / super->inodes_per_group,
	    index = (number - 1) % super->inodes_per_group;
	const struct ext2_group_descriptor *table =
		(void *)(pristine + (block_size() == 1024 ? 2048 : block_size()));

	return (void *)((char *)block_at(table[group].inode_table) +
			(size_t)index * super->inode_size);
}

/* An inode in use of type @type (0: any), in the image as it was made. */
static u32 some_inode(u32 type)
{
	const struct ext2_superblock *super = (void *)(pristine + 1024);

	for (;;) {
		u32 number = pick(6) ? 11 + (u32)pick(super->inodes_count - 10) : 2;
		const struct ext2_raw_inode *raw =
			(void *)(pristine + ((unsigned char *)inode_at(number) - disk.image));

		if (raw->links_count && (!type || (raw->mode & S_IFMT) == type))
			return number;
	}
}

/* ---- damages ----------------------------------------------------------------------------------
 */

/* A number that is worse than the one that was there. */
static u32 bad_number(u32 old)
{
	static const u32 bad[] = {0,	  1,	  2,	  3,	      0x7f,	  0xff,
				  0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};

	switch (pick(5)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1u << pick(32);
	case 3:
		return (u32)rng_next(&rng);
	default:
		return bad[pick(ARRAY_SIZE(bad))];
	}
}

#define SPOIL(field) ((field) = (__typeof__(field))bad_number((u32)(field)))

/* A block that it must not be: a table, somebody else's, or none. */
static u32 bad_block(void)
{
	switch (pick(6)) {
	case 0:
		return blocks() + (u32)pick(1000);
	case 1:
		return (u32)pick(3);
	case 2:
		return descriptor((u32)pick(groups()))->bitmap[EXT2_BLOCKS];
	case 3:
		return descriptor((u32)pick(groups()))->inode_table + (u32)pick(4);
	case 4:
		return (u32)rng_next(&rng);
	default:
		return (u32)pick(blocks());
	}
}

static void damage_super(void)
{
	struct ext2_superblock *super = super_block();

	switch (pick(20)) {
	case 0: SPOIL(super->inodes_count); break;
	case 1: SPOIL(super->blocks_count); break;
	case 2: SPOIL(super->reserved_blocks_count); break;
	case 3: SPOIL(super->free_blocks_count); break;
	case 4: SPOIL(super->free_inodes_count); break;
	case 5: SPOIL(super->first_data_block); break;
	case 6: SPOIL(super->log_block_size); break;
	case 7: SPOIL(super->log_fragment_size); break;
	case 8: SPOIL(super->blocks_per_group); break;
	case 9: SPOIL(super->fragments_per_group); break;
	case 10: SPOIL(super->inodes_per_group); break;
	case 11: SPOIL(super->magic); break;
	case 12: SPOIL(super->state); super->errors = (u16)(1 + pick(2)); break;
	case 13: SPOIL(super->revision); break;
	case 14: SPOIL(super->first_inode); break;
	case 15: SPOIL(super->inode_size); break;
	case 16: SPOIL(super->feature_compat); break;
	case 17: SPOIL(super->feature_incompat); break;
	case 18: SPOIL(super->feature_ro_compat); break;
	case 19: SPOIL(super->reserved_gdt_blocks); break;
	}
}

static void damage_descriptor(void)
{
	struct ext2_group_descriptor *group = descriptor((u32)pick(groups()));

	switch (pick(7)) {
	case 0: group->bitmap[EXT2_BLOCKS] = bad_block(); break;
	case 1: group->bitmap[EXT2_INODES] = bad_block(); break;
	case 2: group->inode_table = bad_block(); break;
	case 3: SPOIL(group->free_count[EXT2_BLOCKS]); break;
	case 4: SPOIL(group->free_count[EXT2_INODES]); break;
	case 5: SPOIL(group->used_directories_count); break;
	case 6: group->inode_table += (u32)pick(3) - 1; break;
	}
}

static void damage_bitmap(void)
{
	const struct ext2_group_descriptor *group = descriptor((u32)pick(groups()));
	u32 block = pick(2) ? group->bitmap[EXT2_BLOCKS] : group->bitmap[EXT2_INODES];
	unsigned char *map = block_at(block < blocks() ? block : 3);

	switch (pick(4)) {
	case 0:
		memset(map, 0, block_size());
		break;
	case 1:
		memset(map, 0xff, block_size());
		break;
	default:
		for (unsigned i = 0; i < 20; i++)
			map[pick(block_size() / 4)] ^= (unsigned char)(1u << pick(8));
	}
}

static void damage_inode(void)
{
	struct ext2_raw_inode *raw = inode_at(some_inode(0));

	switch (pick(12)) {
	case 0: raw->mode = (u16)(raw->mode ^ 1u << pick(16)); break;
	case 1: raw->mode = (u16)((raw->mode & 07777) | (u32)pick(16) << 12); break;
	case 2: SPOIL(raw->size); break;
	case 3: SPOIL(raw->size_high); break;
	case 4: SPOIL(raw->links_count); break;
	case 5: SPOIL(raw->blocks); break;
	case 6: SPOIL(raw->flags); break;
	case 7: SPOIL(raw->dtime); break;
	case 8: raw->attribute_block = bad_block(); break;
	case 9: raw->links_count = 0; break;
	case 10: raw->extra_size = (u16)rng_next(&rng); break;
	case 11: raw->size = (u32)pick(4096); break;
	}
}

static void damage_pointer(void)
{
	struct ext2_raw_inode *raw = inode_at(some_inode(pick(2)   ? S_IFREG
							 : pick(4) ? S_IFDIR
								   : S_IFLNK));
	u32 slot = pick(2) ? 12 + (u32)pick(3) : (u32)pick(12);

	raw->block[slot] = bad_block();
	if (pick(3) == 0)
		raw->blocks = (u32)pick(100000); /* so that nothing looks wrong at first */
}

/* Pointers of an indirect block, perhaps back to itself. */
static void damage_indirect(void)
{
	struct ext2_raw_inode *raw;
	u32 block, *pointers;

	for (unsigned tries = 0; tries < 100; tries++) {
		raw = inode_at(some_inode(S_IFREG));
		block = raw->block[12 + pick(3)];
		if (!block || block >= blocks())
			continue;
		pointers = block_at(block);
		if (pick(4) == 0)
			for (u32 i = 0; i < block_size() / 4; i++)
				pointers[i] = block;
		else
			pointers[pick(pick(2) ? 20 : block_size() / 4)] =
				pick(3) ? bad_block() : block;
		raw->block[14] = pick(3) ? raw->block[14] : block;
		return;
	}
}

/* An entry of a directory's first block, or beyond where entries are thought to be. */
static struct ext2_dir_entry *some_entry(u32 number)
{
	u32 block = inode_at(number)->block[0], at = 0;
	struct ext2_dir_entry *entry;

	if (!block || block >= blocks())
		return NULL;
	for (u64 n = pick(12);; n--) {
		entry = (void *)((char *)block_at(block) + at);
		if (!n || entry->rec_len < 8 || entry->rec_len % 4 ||
		    at + entry->rec_len + 8u >= block_size())
			return entry;
		at += entry->rec_len;
	}
}

static void damage_entry(void)
{
	struct ext2_dir_entry *entry = some_entry(some_inode(S_IFDIR));

	if (!entry)
		return;
	switch (pick(10)) {
	case 0: entry->rec_len = 0; break;
	case 1: entry->rec_len = (u16)(entry->rec_len + 1 + pick(3)); break;
	case 2: entry->rec_len = (u16)(entry->rec_len + 4 * pick(300)); break;
	case 3: SPOIL(entry->rec_len); break;
	case 4: SPOIL(entry->inode); break;
	case 5: SPOIL(entry->name_len); break;
	case 6: entry->name_len = 0; break;
	case 7: entry->name[pick(4)] = "/\0.\xff"[pick(4)]; break;
	case 8: SPOIL(entry->file_type); break;
	case 9: entry->inode = (u32)pick(12); break;
	}
}

/* At the very end of a block: entries and names that reach out of it. */
static void damage_last_entry(void)
{
	u32 block = inode_at(some_inode(S_IFDIR))->block[0], at = 0;
	struct ext2_dir_entry *entry, *end;

	if (!block || block >= blocks())
		return;
	do {
		entry = (void *)((char *)block_at(block) + at);
		at += entry->rec_len;
	} while (entry->rec_len >= 12 && entry->rec_len % 4 == 0 && at < block_size());
	if (at != block_size() || entry->rec_len < 40)
		return;
	switch (pick(4)) {
	case 0:
		entry->rec_len = (u16)(entry->rec_len - 4);
		break;
	case 1:
		entry->rec_len = (u16)(entry->rec_len - 8);
		break;
	default: /* one more, short, whose name is longer than the block */
		entry->rec_len = (u16)(entry->rec_len - 12);
		end = (void *)((char *)block_at(block) + block_size() - 12);
		*end = (struct ext2_dir_entry){entry->inode, 12, (u8)(5 + pick(251)), 0};
	}
}

/* Directories with two names, directories in a circle, names for what has another type. */
static void damage_tree(void)
{
	u32 dir = some_inode(S_IFDIR), child = some_inode(pick(3) ? S_IFDIR : 0);
	struct ext2_dir_entry *entry = some_entry(dir), *up;

	if (!entry)
		return;
	entry->inode = child;
	if (pick(2)) { /* and the child agrees */
		u32 block = inode_at(child)->block[0];

		if (!block || block >= blocks() || !S_ISDIR(inode_at(child)->mode))
			return;
		up = (void *)((char *)block_at(block) + 12);
		up->inode = dir;
	}
}

static void damage_symlink(void)
{
	struct ext2_raw_inode *raw = inode_at(some_inode(S_IFLNK));

	switch (pick(4)) {
	case 0: SPOIL(raw->size); break;
	case 1: SPOIL(raw->blocks); break;
	case 2: raw->size = (u32)(55 + pick(10)); break;
	case 3: raw->block[0] = bad_block(); break;
	}
}

/* The block of attributes: its header, an entry, the inode's pointer to it. */
static void damage_attributes(void)
{
	u32 number = some_inode(S_IFREG), block = inode_at(number)->attribute_block;
	unsigned char *bytes = block_at(block);

	if (!block || block >= blocks())
		return;
	switch (pick(4)) {
	case 0: inode_at(some_inode(0))->attribute_block = block; break;
	case 1: SPOIL(((u32 *)bytes)[pick(4)]); break;
	default: bytes[pick(120)] = (unsigned char)rng_next(&rng); break;
	}
}

static void damage_bytes(void)
{
	u32 block = pick(2) ? (u32)pick(60) : (u32)pick(blocks());

	for (u64 n = 1 + pick(30); n; n--)
		((unsigned char *)block_at(block))[pick(block_size())] =
			(unsigned char)rng_next(&rng);
}

static void damage_end(void)
{
	disk.device.sectors = pick(disk.device.sectors);
}

/* The disk itself is damaged there. */
static void damage_sector(void)
{
	disk.fail_sector = pick(disk.device.sectors / (1 + pick(40)) + 1);
}

static void (*const damages[])(void) = {
	damage_super,	damage_descriptor, damage_bitmap, damage_inode,	 damage_inode,
	damage_pointer, damage_indirect,   damage_entry,  damage_entry,	 damage_tree,
	damage_symlink, damage_attributes, damage_attributes, damage_bytes,	   damage_end,	  damage_sector, damage_last_entry,
};

/* ---- the set ----------------------------------------------------------------------------------
 */

static void start(unsigned size, unsigned kilobytes, const char *options)
{
	test_limit(120);
	hosted_quiet = !getenv("HOSTED_TRACE");
	hosted_init(32);
	disk_create(&disk, "ram0", 0, KB(kilobytes));
	pristine = malloc(disk.bytes);
	image_make(&disk, size, kilobytes, options);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	make_contents();
	CHECK_EQUAL(umount_disk(), 0);
	image_check(&disk);
	image_keep(&disk, pristine);
	leak_mark();
}

static void damaged_images(u64 first, unsigned count, unsigned size, unsigned kilobytes,
			   const char *options)
{
	u64 sectors;

	start(size, kilobytes, options);
	sectors = disk.device.sectors;
	for (u64 seed = first; seed < first + count; seed++) {
		test_where("image %llu", (unsigned long long)seed);
		disk.device.sectors = sectors;
		disk.fail_sector = ~0ull;
		image_restore(&disk, pristine);
		rng.state = seed;
		for (u64 n = 1 + pick(3); n; n--)
			damages[pick(ARRAY_SIZE(damages))]();
		test_limit_step(20);
		exercise(&disk, seed);
	}
	printf("# %u images: %u refused as unknown, %u as damaged, %u mounted, of which %u showed no error; "
	       "%llu calls: %llu EUCLEAN, %llu EIO, %llu other errors\n",
	       exercise_counts.images, exercise_counts.refused[0], exercise_counts.refused[1],
	       exercise_counts.mounted, exercise_counts.unharmed,
	       (unsigned long long)exercise_counts.calls,
	       (unsigned long long)exercise_counts.euclean, (unsigned long long)exercise_counts.eio,
	       (unsigned long long)exercise_counts.others);
}

TEST(damaged_images_1k)
{
	damaged_images(test_seed(), test_scaled(600), 1024, 2048, IMAGE_USUAL " -g 1024");
}

TEST(damaged_images_4k)
{
	damaged_images(test_seed() + 100000, test_scaled(300), 4096, 4096, IMAGE_USUAL);
}

TEST(damaged_images_revision_0)
{
	damaged_images(test_seed() + 200000, test_scaled(100), 1024, 2048, "-r 0 -m 0 -O none");
}

/* Three indirect blocks that each lead to the next a thousand times over: a billion blocks, if one
 * believes it. */
TEST(damaged_pointers_multiply)
{
	static const u32 chain[] = {500, 501, 502, 503};
	struct ext2_raw_inode *raw;
	struct kstat stat;

	start(4096, 4096, IMAGE_USUAL);
	test_limit(20);
	for (unsigned level = 0; level < 3; level++)
		for (unsigned i = 0; i < 1024; i++)
			((u32 *)block_at(chain[level]))[i] = chain[level + 1];
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/large", &stat, 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	raw = inode_at((u32)stat.ino);
	raw->block[14] = chain[0];
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	hosted_last_error[0] = 0;
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/large", 0), 0);
	CHECK_EQUAL(sys_unlinkat(AT_FDCWD, "/mnt/dir2/link", 0), 0);
	CHECK(hosted_last_error[0]);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}

/* A file whose first block is nowhere can be emptied: that is the way to be rid of it. */
TEST(damaged_pointer_emptied)
{
	struct kstat stat;

	start(4096, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_newfstatat(AT_FDCWD, "/mnt/large", &stat, 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	inode_at((u32)stat.ino)->block[0] = 0x7fffffff;
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(sys_truncate("/mnt/large", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_check();
}
