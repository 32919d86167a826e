/* test_smoke.c - mount, read, write, umount: the shortest way through everything. */
#include <string.h>

#include "harness.h"

static struct hosted_disk disk;

int main(void)
{
	char text[64] = "";

	hosted_init(64);
	disk_create(&disk, "ram0", 0, MB(16));
	test_begin("smoke");
	CHECK_EQUAL(run_command(NULL, "mke2fs -q -F -t ext2 -b 1024 %s/image 8192", scratch()), 0);
	char path[128];
	snprintf(path, sizeof(path), "%s/image", scratch());
	CHECK_EQUAL(disk_load(&disk, path), 0);
	CHECK_EQUAL(mount_disk("ram0", 0), 0);
	CHECK_EQUAL(vfs_mkdir_at(AT_FDCWD, "/mnt/d", 0755), 0);
	CHECK_EQUAL(write_at("/mnt/d/f", O_WRONLY | O_CREAT, 0, "hello", 5), 5);
	CHECK_EQUAL(read_at("/mnt/d/f", 0, text, sizeof(text)), 5);
	CHECK(strcmp(text, "hello") == 0);
	CHECK_EQUAL(umount_disk(), 0);
	CHECK_EQUAL(disk_save(&disk, path, MB(8)), 0);
	CHECK_EQUAL(run_command("/tmp/e2fsck.log", "e2fsck -fn %s", path), 0);
	test_end();
	return test_result();
}
