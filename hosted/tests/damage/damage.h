/*
 * damage.h - the tests of damaged ext2 images: an image with something of everything in it, where
 * its structures lie, and damages of them, drawn from damage_rng.
 */
#pragma once

#include "fs/ext2/ext2.h"
#include "hosted/harness/harness.h"

extern struct hosted_disk damaged_disk;
extern unsigned char *pristine; /* its image as it was made */
extern struct rng damage_rng;

static inline u64 pick(u64 n)
{
	return rng_below(&damage_rng, n);
}

/* image.c: files of every kind in the file system on /mnt. */
void make_contents(void);

/* Sizes and numbers are those of the pristine image; what they lead to is the damaged one's. */
static inline const struct ext2_superblock *pristine_super(void)
{
	return (void *)(pristine + 1024);
}
u32 block_size(void);
u32 blocks(void); /* how many there are */
u32 groups(void);
void *block_at(u32 block);
struct ext2_group_descriptor *descriptor(u32 group);
struct ext2_raw_inode *inode_at(u32 number);
/* An inode in use of type @type (0: any), in the image as it was made. */
u32 some_inode(u32 type);

/* damages.c: one more of them. */
void damage_something(void);
