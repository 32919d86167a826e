/* damages.c - what may be wrong with an image; see damage.h. */
#include <string.h>

#include "hosted/tests/damage/damage.h"

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
		return (u32)rng_next(&damage_rng);
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
		return (u32)rng_next(&damage_rng);
	default:
		return (u32)pick(blocks());
	}
}

static void damage_super(void)
{
	struct ext2_superblock *super = (void *)(damaged_disk.image + 1024);

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
	case 10: raw->extra_size = (u16)rng_next(&damage_rng); break;
	case 11: raw->size = (u32)pick(4096); break;
	}
}

static u32 type_with_blocks(void)
{
	if (pick(2))
		return S_IFREG;
	return pick(4) ? S_IFDIR : S_IFLNK;
}

static void damage_pointer(void)
{
	struct ext2_raw_inode *raw = inode_at(some_inode(type_with_blocks()));
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
		if (pick(4) == 0) {
			for (u32 i = 0; i < block_size() / 4; i++)
				pointers[i] = block;
		} else {
			u32 wrong = pick(3) ? bad_block() : block;

			pointers[pick(pick(2) ? 20 : block_size() / 4)] = wrong;
		}
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
	default: bytes[pick(120)] = (unsigned char)rng_next(&damage_rng); break;
	}
}

static void damage_bytes(void)
{
	u32 block = pick(2) ? (u32)pick(60) : (u32)pick(blocks());

	for (u64 n = 1 + pick(30); n; n--)
		((unsigned char *)block_at(block))[pick(block_size())] =
			(unsigned char)rng_next(&damage_rng);
}

static void damage_end(void)
{
	damaged_disk.device.sectors = pick(damaged_disk.device.sectors);
}

/* The disk itself is damaged there. */
static void damage_sector(void)
{
	damaged_disk.fail_sector = pick(damaged_disk.device.sectors / (1 + pick(40)) + 1);
}

static void (*const damages[])(void) = {
	damage_super,	   damage_descriptor, damage_bitmap, damage_inode, damage_inode,
	damage_pointer,	   damage_indirect,   damage_entry,  damage_entry, damage_tree,
	damage_symlink,	   damage_attributes, damage_attributes, damage_bytes, damage_end,
	damage_sector,	   damage_last_entry,
};

void damage_something(void)
{
	damages[pick(ARRAY_SIZE(damages))]();
}
