/*
 * text.h - no signature: what was found is compared with the text, name by name.
 *
 * The index is a sum of 64 bits (linear.h), of which a bucket gets upper ones; only where all 64,
 * or fewer by SIGNATURE_BITS, are equal are names compared. So what is found is certain, and the
 * price is a look at each dentry on the way up: what Tsai 2015, section 3.3, has signatures to
 * save.
 *
 * Reading names that may be changing. Whoever changes a name, or moves a directory, makes the
 * entries of all that this concerns void first (direct.h). So if the entry that was found is not
 * void after the names were read, they are what they were when it was entered; and the lookup does
 * look at that, at its end. Each dentry's name and parent belong together by its
 * sequence count, so that no more is read than is there, and mounts by theirs. That is looked at
 * first: an entry stays in the table when its mount is taken off, whose memory is there only for
 * those who began before.
 *
 * Cost: 15 instructions for eight bytes, and some 45 for each component. Weakness: that; and
 * aliases (alias/alias.h) there cannot be, since they are known by the signatures of texts alone.
 */
#pragma once

#define SIGNATURE_LIMBS 1

/* Of a text of so many bytes. */
struct signature {
	u64 limb[SIGNATURE_LIMBS];
	u64 length;
	u64 added; /* of these, below the directory from which it went on; 0: none */
};

static __always_inline u64 signature_index(const struct signature *signature)
{
	return signature->limb[0] >> 48 | (signature->limb[0] >> 40 & 0xff) << 16;
}

static __always_inline bool signatures_differ(const struct signature *a, const struct signature *b)
{
	const unsigned bits = CONFIG_SIGNATURE_BITS < 64 ? CONFIG_SIGNATURE_BITS : 64;

	return (a->limb[0] ^ b->limb[0]) >> (64 - bits);
}

#define signature_top(signature) ((signature)->limb[0])

struct lockless_walk;
struct path;

/* Does the text of @walk, which is where it begins and has its signature, lead to @path, which was
 * there as of mount_sequence's count @mounts, by its names? What is found so is to be looked at
 * again. Between rcu_read_lock() and rcu_read_unlock(). */
bool text_leads_to(const struct lockless_walk *walk, const struct path *path, u32 mounts);
