/*
 * accounts.c - scenarios of what a file system counts: blocks, free pages and inodes of a tmpfs, and what its options
 * say. Positions and limits of transfers.
 */
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "../scenarios.h"

static char page[65536];

/* ---- a tmpfs's own ------------------------------------------------------------------------------- */

static void free_of(const char *name)
{
	struct statfs fs;

	if (statfs(name, &fs))
		say("%s:%d", name, errno);
	else
		say("%ld/%ld %ld %ld/%ld", (long)fs.f_bfree, (long)fs.f_blocks, (long)fs.f_bavail, (long)fs.f_ffree,
		    (long)fs.f_files);
}

static void blocks_of(const char *name)
{
	struct stat st;

	if (stat(name, &st))
		say("%s:%d", name, errno);
	else
		say("%lld:%lld", (long long)st.st_size, (long long)st.st_blocks);
}

SCENARIO(options_of_tmpfs)
{
	static const char *const options[] = {
		"size=5000,nr_inodes=9", "size=64k,nr_inodes=2k,mode=0700", "mode=01777,uid=1000,gid=1001,size=1m",
		"mode=06755,size=4096,nr_inodes=3", "size=4097", "size=1m,size=8k",
		"size=", "size=x", "mode=9", "uid=", "nonsense=1", "nr_inodes=1x"};
	struct statfs fs;

	make_directory("m");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		say("%s:", options[i]);
		if (mount("none", "m", "tmpfs", 0, options[i])) {
			say("%d", errno);
			continue;
		}
		if (strstr(options[i], "nr_inodes"))
			free_of("m");
		statfs("m", &fs);
		say("%ld %ld %ld %ld %lx", (long)fs.f_blocks, (long)fs.f_bsize, (long)fs.f_frsize, (long)fs.f_namelen,
		    (long)fs.f_type);
		show_mode("m");
		show_owner("m");
		T(umount("m"));
	}
	T(mount("none", "m", "tmpfs", 0xc0ed0000 | MS_NODEV, "size=8k"));
	statfs("m", &fs);
	say("%lx", (long)fs.f_flags & 0xf);
	T(umount("m"));
	T(mount("none", "m", NULL, 0, NULL));
	T(mount("m", NULL, "tmpfs", 0, NULL));
	T(mount("none", "m", "tmpfs", 0, (void *)8));
}

SCENARIO(pages_of_tmpfs_are_counted)
{
	char *at;
	int fd;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=32k,nr_inodes=10"));
	free_of("m");
	fd = open("m/f", O_CREAT | O_RDWR, 0644);
	T(write(fd, "x", 1));
	blocks_of("m/f");
	free_of("m");
	T(pwrite(fd, "x", 1, 20000)); /* a hole between */
	blocks_of("m/f");
	free_of("m");
	T(pread(fd, page, 8192, 4096)); /* read, a hole stays one */
	blocks_of("m/f");
	free_of("m");
	T(ftruncate(fd, 20000));
	blocks_of("m/f");
	T(ftruncate(fd, 16384));
	blocks_of("m/f");
	T(ftruncate(fd, 1));
	blocks_of("m/f");
	T(ftruncate(fd, 12288));
	at = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	at[4096] = 1;
	at[8192] = 1;
	blocks_of("m/f");
	free_of("m");
	munmap(at, 12288);
	T(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4000, 4200));
	blocks_of("m/f");
	T(fallocate(fd, 0, 0, 20481));
	blocks_of("m/f");
	T(fallocate(fd, FALLOC_FL_KEEP_SIZE, 24576, 4096));
	blocks_of("m/f");
	free_of("m");
	T(ftruncate(fd, 20481)); /* what was reserved behind the end goes */
	blocks_of("m/f");
	T(unlink("m/f"));
	free_of("m");
	close(fd);
	free_of("m");
	T(umount("m"));
}

SCENARIO(full_tmpfs)
{
	int fd, other;

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=16k,nr_inodes=5"));
	fd = open("m/f", O_CREAT | O_RDWR, 0644);
	T(write(fd, page, 5 * 4096));
	T(write(fd, "x", 1));
	T(lseek(fd, 0, SEEK_CUR));
	blocks_of("m/f");
	T(pwrite(fd, "y", 1, 100)); /* where a page is there is room */
	T(ftruncate(fd, 100000));
	blocks_of("m/f");
	T(ftruncate(fd, 8193));
	free_of("m");
	other = open("m/g", O_CREAT | O_RDWR, 0644);
	T(write(other, page, 4096));
	T(write(other, page, 1));
	T(mkdir("m/d", 0755));
	T(link("m/g", "m/h"));
	free_of("m");
	T(mkdir("m/e", 0755));
	T(link("m/g", "m/i"));
	T(symlink("x", "m/s"));
	T(mknod("m/p", S_IFIFO | 0600, 0));
	T(open("m/n", O_CREAT | O_WRONLY, 0644));
	T(unlink("m/g"));
	free_of("m");
	T(symlink("x", "m/s"));
	T(rename("m/s", "m/h"));
	free_of("m");
	close(other);
	free_of("m");
	T(rmdir("m/d"));
	free_of("m");
	list("m");
	close(fd);
	T(umount("m"));
}

/* ---- positions ----------------------------------------------------------------------------------- */

SCENARIO(positions_of_devices_and_directories)
{
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR), fd;

	T(lseek(null, 100, SEEK_SET));
	T(lseek(zero, 100, SEEK_SET));
	T(lseek(null, -5, SEEK_END));
	T(lseek(null, 0, 9));
	T(pread(null, page, 10, 5));
	T(pread(zero, page, 10, 5));
	T(pwrite(null, page, 10, 5));
	T(fsync(null));
	fd = open(".", O_RDONLY);
	T(lseek(fd, 0, SEEK_CUR));
	T(lseek(fd, -1, SEEK_SET));
	T(read(fd, page, 1));
	T(pread(fd, page, 1, 0));
	T(posix_fadvise(fd, 0, 0, 0));
	make_file("f", "x");
	fd = open("f", O_RDONLY);
	T(syscall(SYS_fadvise64, fd, 0L, -1L, 0));
	T(syscall(SYS_fadvise64, fd, 0L, 0L, 5));
	T(syscall(SYS_fadvise64, fd, 0L, 0L, 6));
	T(syscall(SYS_fadvise64, fd, 0L, 0L, -1));
}

SCENARIO(vectors_at_positions)
{
	char a[4] = "", b[4] = "";
	struct iovec vector[2] = {{a, 3}, {b, 3}};
	int fds[2], fd;

	make_file("f", "0123456789");
	fd = open("f", O_RDWR);
	lseek(fd, 2, SEEK_SET);
	T(syscall(SYS_preadv2, fd, vector, 2, -1L, 0L, 0)); /* the file's own */
	say("%s %s", a, b);
	T(lseek(fd, 0, SEEK_CUR));
	T(syscall(SYS_preadv2, fd, vector, 2, 1L, 0L, 0));
	say("%s %s", a, b);
	T(lseek(fd, 0, SEEK_CUR));
	T(syscall(SYS_preadv2, fd, vector, 2, -2L, 0L, 0));
	T(syscall(SYS_preadv, fd, vector, 2, -1L, 0L));
	T(syscall(SYS_pwritev2, fd, vector, 2, -1L, 0L, 0));
	T(lseek(fd, 0, SEEK_CUR));
	slurp("f");
	T(syscall(SYS_pwritev2, fd, vector, 1, 1L, 0L, 0));
	slurp("f");
	T(pipe(fds));
	T(syscall(SYS_pwritev2, fds[1], vector, 1, -1L, 0L, 0));
	T(syscall(SYS_pwritev2, fds[1], vector, 1, 0L, 0L, 0));
	T(syscall(SYS_preadv2, fds[0], vector, 1, 3L, 0L, 0));
	T(syscall(SYS_preadv2, fds[0], vector, 1, -1L, 0L, 0));
	T(syscall(SYS_preadv2, fds[1], vector, 1, -1L, 0L, 0));
}

SCENARIO(lengths_that_are_too_long)
{
	char c = 'x';
	int fd;

	make_file("f", "0123456789");
	fd = open("f", O_RDWR);
	T(read(fd, &c, (size_t)-1));
	T(write(fd, &c, (size_t)-1));
	T(pread(fd, &c, 1, 0x7fffffffffffffffL));
	T(read(fd, (void *)-1L, 0));
	T(write(fd, (void *)8, 0));
	T(lseek(fd, 0, SEEK_CUR));
	slurp("f");
}

/* ---- limits of size ------------------------------------------------------------------------------ */

static int over;

static void count_over(int signo)
{
	(void)signo;
	over++;
}

SCENARIO(size_limit_of_what_is_no_file)
{
	struct rlimit limit = {10, RLIM_INFINITY};
	int fds[2], fd, from;

	signal(SIGXFSZ, count_over);
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=64k"));
	make_file("g", "0123456789abcdef");
	from = open("g", O_RDONLY);
	fd = open("m/f", O_CREAT | O_RDWR, 0644);
	T(pipe(fds));
	T(setrlimit(RLIMIT_FSIZE, &limit));
	T(write(fds[1], page, 100));
	T(write(open("/dev/null", O_WRONLY), page, 100));
	say("%d", over);
	T(fallocate(fd, 0, 0, 10));
	T(fallocate(fd, 0, 0, 11));
	say("%d", over);
	T(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 11));
	say("%d", over);
	T(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 11));
	say("%d", over);
	T(pwrite(fd, page, 5, 10));
	say("%d", over);
	T(pwrite(fd, page, 5, 6));
	T(pwrite(fd, page, 0, 20));
	say("%d", over);
	T(lseek(fd, 0, SEEK_SET));
	T(sendfile(fd, from, NULL, 16));
	say("%d", over);
	T(sendfile(fd, from, NULL, 16));
	say("%d", over);
	T(truncate("m/f", 10));
	T(truncate("m/f", 11));
	say("%d", over);
	show_size("m/f");
	close(fd);
	T(umount("m"));
}

/* ---- numbers of devices, attributes of one kind ---------------------------------------------------- */

static void device_of(const char *name)
{
	struct stat st;

	if (lstat(name, &st))
		say("%s:%d", name, errno);
	else
		say("%s:%o %u:%u %lld", name, st.st_mode, major(st.st_rdev), minor(st.st_rdev), (long long)st.st_size);
}

SCENARIO(device_numbers)
{
	mknod("c", S_IFCHR | 0640, makedev(1, 3));
	mknod("b", S_IFBLK | 0600, makedev(255, 254));
	mknod("wide", S_IFCHR | 0600, makedev(4095, 255));
	mknod("none", S_IFCHR | 0600, makedev(0, 0));
	mknod("p", S_IFIFO | 0600, makedev(3, 4));
	mknod("s", S_IFSOCK | 0600, makedev(3, 4));
	mknod("f", S_IFREG | 0600, makedev(3, 4));
	for (int i = 0; i < 2; i++) {
		device_of("c");
		device_of("b");
		device_of("wide");
		device_of("none");
		device_of("p");
		device_of("s");
		device_of("f");
		drop_caches();
	}
	T(open("s", O_RDONLY));
	T(open("s", O_PATH) >= 0);
	T(open("c", O_RDWR | O_TRUNC) >= 0);
	T(open("c", O_RDWR | O_CREAT | O_EXCL, 0600));
	T(open("p", O_RDWR | O_TRUNC | O_NONBLOCK) >= 0);
	T(truncate("c", 0));
	T(truncate("s", 0));
}

SCENARIO(attributes_on_the_disk)
{
	char target[4097];
	static const int lengths[] = {1, 58, 59, 60, 61, 1000, 4094};

	memset(target, 't', sizeof(target));
	make_file("f", "x");
	T(chown("f", 70000, 0xfffefffe));
	T(chmod("f", 07123));
	make_directory("d");
	T(chown("d", 65535, 65536));
	T(chmod("d", 03705));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char name[8];

		snprintf(name, sizeof(name), "l%zu", i);
		target[lengths[i]] = 0;
		T(symlink(target, name));
		target[lengths[i]] = 't';
	}
	for (int round = 0; round < 2; round++) {
		show_owner("f");
		show_mode("f");
		show_owner("d");
		show_mode("d");
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			char name[8], read_back[4200];

			snprintf(name, sizeof(name), "l%zu", i);
			memset(read_back, 'x', sizeof(read_back));
			say("%ld %d", (long)readlink(name, read_back, sizeof(read_back)),
			    !memcmp(read_back, target, (size_t)lengths[i]));
			show_size(name);
		}
		drop_caches();
	}
}
