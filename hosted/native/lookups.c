/*
 * lookups.c - native: single looks into the page, buffer and inode caches, each with the reference
 * that comes with what is found and is let go again; for the dentry cache's, dentries.c.
 *
 * There is one object of each kind that all threads look up (PLACE_SAME), and one for each thread.
 */
#include "core/kernel.h"
#include "fs/block/buffer.h"
#include "fs/cred.h"
#include "fs/path/namei.h"
#include "hosted/native/lookups.h"
#include "mm/cache/page_lookup.h"

#define FIRST_NUMBER (1ULL << 32) /* of inodes that no file system made */
#define BLOCKS_APART 64

struct target {
	struct address_space *mapping;
	u64 number, block;
};
static struct target targets[NR_CPUS + 1]; /* [0]: of all threads */
static struct super_block *super;

/* Buffers are only found, never read. */
static struct block_device device = {.name = "native", .dev = MKDEV(1, 1), .sectors = 1 << 20};

static const struct target *target_of(const struct worker *worker)
{
	return &targets[worker->place == PLACE_SAME ? 0 : worker->cpu + 1];
}

/* ---- rows ------------------------------------------------------------------------------------ */

void page_turns(struct worker *worker, unsigned turns)
{
	const struct target *target = target_of(worker);

	while (turns--) {
		struct page *page = page_lookup(target->mapping, 0);

		if (unlikely(!page))
			measure_fail("page_lookup", "data", 0);
		put_page(page);
	}
}

void buffer_turns(struct worker *worker, unsigned turns)
{
	const struct target *target = target_of(worker);

	while (turns--) {
		struct buffer *buffer = find_buffer(&device, target->block);

		if (unlikely(!buffer))
			measure_fail("find_buffer", "", 0);
		brelse(buffer);
	}
}

void inode_find(uint64_t number)
{
	struct inode *inode = iget(super, FIRST_NUMBER + number);

	if (IS_ERR(inode))
		measure_fail("iget", "", PTR_ERR(inode));
	iput(inode);
}

void inode_turns(struct worker *worker, unsigned turns)
{
	const struct target *target = target_of(worker);

	while (turns--)
		inode_find(target->number);
}

/* ---- what is looked for ---------------------------------------------------------------------- */

void inodes_make(uint64_t from, uint64_t to)
{
	for (uint64_t number = from; number < to; number++) {
		struct inode *inode = new_inode(super);

		if (!inode)
			measure_fail("new_inode", "", -ENOMEM);
		inode->number = FIRST_NUMBER + number;
		inode->mode = S_IFREG | 0644;
		inode->nlink = 1;
		insert_inode_hash(inode);
		iput(inode); /* cached, unused */
	}
}

/* path_lookup() of a name without slack behind it. */
static void find(const char *name, struct path *path)
{
	char slack[PATH_BYTES] = {0};
	int error;

	snprintf(slack, sizeof(slack), "%s", name);
	error = kern_path(slack, 0, path);
	if (error)
		measure_fail("kern_path", name, error);
}

void lookups_start(void)
{
	struct path path;
	long error = sys_mount("none", "/mnt", "tmpfs", 0, NULL);

	if (error)
		measure_fail("mount", "/mnt", error);
	find("/mnt", &path);
	super = path.mount->sb; /* for inodes: how many a tmpfs has is limited by memory */
	register_block_device(&device);
}

void lookups_prepare(unsigned threads)
{
	inodes_make(0, threads + 1);
	for (unsigned i = 0; i <= threads; i++) {
		char file[PATH_BYTES] = "/s/data";
		struct path path; /* stays referenced */

		if (i)
			snprintf(file, sizeof(file), "/o%u/data", i - 1);
		find(file, &path);
		targets[i] = (struct target){&path.dentry->inode->data, i, i * BLOCKS_APART};
		dentry_target(i, path.dentry);
		if (IS_ERR(buffer_get(&device, targets[i].block)))
			measure_fail("buffer_get", "", -ENOMEM);
	}
}
