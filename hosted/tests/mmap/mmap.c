/* mmap.c - see mmap.h. */
#include <string.h>

#include "hosted/tests/mmap/mmap.h"

static struct hosted_disk disk;

void on_each(void (*test)(void))
{
	hosted_init(16);
	disk_create(&disk, "ram0", 0, MB(4));
	disk.asynchronous = true;
	image_make(&disk, 1024, 4096, IMAGE_USUAL);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(umount_disk(), 0);
	leak_mark();
	for (unsigned round = 0; round < 2; round++) {
		test_where("%s", round ? "ext2" : "tmpfs");
		CHECK_EQUAL(round ? mount_disk("ram0", 0) : sys_mount("", "/mnt", "tmpfs", 0, ""),
			    0);
		user_enter(mm_create());
		test();
		tasks_wait();
		user_leave();
		CHECK_EQUAL(umount_disk(), 0);
		leak_check();
	}
	image_check(&disk);
}

void make_file(const char *path, unsigned pages)
{
	char page[PAGE_SIZE];

	for (unsigned n = 0; n < pages; n++) {
		memset(page, (int)('a' + n), sizeof(page));
		CHECK_EQUAL(write_at(path, O_CREAT | O_RDWR, (loff_t)PAGE(n), page, sizeof(page)),
			    PAGE_SIZE);
	}
}

int peek(u64 address)
{
	unsigned char byte = 0;
	int signal = user_load(address, &byte, 1);

	return signal ? -signal : byte;
}

int poke(u64 address, int byte)
{
	char value = (char)byte;

	return -user_store(address, &value, 1);
}

int file_byte(const char *path, u64 offset)
{
	unsigned char byte = 0;

	return read_at(path, (loff_t)offset, &byte, 1) == 1 ? byte : -1;
}
