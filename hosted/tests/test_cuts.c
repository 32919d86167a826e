/*
 * test_cuts.c - a file is cut while a program's fault is on its way: it has looked at the size, and
 * shows the page after truncation has removed all mappings, before it removes the page
 * (mm/cache/page_cache.c says in which order that comes right). Played by an invalidate() that faults.
 */
#include "hosted/harness/harness.h"
#include "mm/cache/page_cache.h"
#include "hosted/machine/user.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGES 4u

static struct hosted_disk disk;
static struct inode *inode;
static u64 area;
static loff_t size_before;
static const struct address_space_operations *real;
static unsigned late_faults;

/* The signal that a load at @page brings, or 0. */
static int load(u64 page)
{
	char byte;

	return user_load(area + page * PAGE_SIZE, &byte, 1);
}

static void invalidate_behind_a_fault(struct page *page, unsigned from)
{
	loff_t size = inode->data.size;

	inode->data.size = size_before; /* as the fault has seen it */
	CHECK_EQUAL(load(page->index), 0);
	inode->data.size = size;
	late_faults++;
	real->invalidate(page, from);
}

static void cut(unsigned kept, unsigned flags)
{
	static struct address_space_operations hooked;
	static char bytes[PAGES * PAGE_SIZE];
	struct file *file;

	CHECK_EQUAL(write_at("/mnt/f", O_CREAT | O_RDWR, 0, bytes, sizeof(bytes)), sizeof(bytes));
	file = open_path("/mnt/f", O_RDONLY, 0);
	CHECK(!IS_ERR(file));
	inode = file->inode;
	area = (u64)user_map(0, sizeof(bytes), RW, flags, "/mnt/f", 0);
	CHECK((s64)area > 0);
	real = inode->data.ops;
	hooked = *real;
	hooked.invalidate = invalidate_behind_a_fault;
	inode->data.ops = &hooked;
	size_before = inode->data.size;
	late_faults = 0;
	CHECK_EQUAL(truncate_path("/mnt/f", (loff_t)(kept * PAGE_SIZE)), 0);
	inode->data.ops = real;
	CHECK_EQUAL(late_faults, PAGES - kept);
	for (unsigned page = 0; page < PAGES; page++)
		CHECK_EQUAL(load(page), page < kept ? 0 : USER_SIGBUS);
	CHECK_EQUAL(sys_munmap(area, sizeof(bytes)), 0);
	fput(file);
}

TEST(cut_before_a_fault_is_done)
{
	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(4));
	image_make(&disk, 4096, 4096, IMAGE_USUAL);
	for (unsigned round = 0; round < 2; round++) {
		CHECK_EQUAL(round ? mount_disk("ram0", 0) : sys_mount("", "/mnt", "tmpfs", 0, ""),
			    0);
		user_enter(mm_create());
		for (unsigned kept = 0; kept < PAGES; kept++) {
			cut(kept, MAP_SHARED);
			cut(kept, MAP_PRIVATE);
		}
		user_leave();
		CHECK_EQUAL(umount_disk(), 0);
	}
	image_check(&disk);
}
