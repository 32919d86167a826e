/*
 * swap_errors.c - what swapon and swapoff say of what is no swap, damaged, too small, in use, or not
 * there. A plain Linux program: the numbers are Linux's. Usage: swap_errors DEVICE, of
 * at least 2 MB; or swap_errors -f DIRECTORY, which is on a disk, for what is told of files.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static unsigned header[PAGE / 4];
static const char *device;

static void expect(const char *what, int result, int wanted)
{
	int error = result < 0 ? errno : 0;

	if (error != wanted)
		printf("not ok %s: %d, not %d\n", what, error, wanted);
}

static void write_header(const char *path)
{
	int fd = open(path, O_RDWR);

	if (fd < 0 || pwrite(fd, header, PAGE, 0) != PAGE || fsync(fd))
		printf("not ok header of %s: %d\n", path, errno);
	close(fd);
}

/* A good header for @pages, then word @at is @value. */
static void with_header(const char *what, unsigned pages, unsigned at, unsigned value, int wanted)
{
	int result;

	memset(header, 0, sizeof(header));
	header[256] = 1;
	header[257] = pages - 1;
	memcpy((char *)header + PAGE - 10, "SWAPSPACE2", 10);
	if (at)
		header[at] = value;
	write_header(device);
	result = swapon(device, 0);
	expect(what, result, wanted);
	if (!result)
		expect("its swapoff", swapoff(device), 0);
}

/* Open and change; which of the two is refused is no matter. */
static int try_open(const char *path, int flags)
{
	int fd = open(path, flags), result;

	if (fd < 0)
		return -1;
	result = (int)write(fd, "x", 1);
	close(fd);
	return result < 0 ? -1 : 0;
}

static int try_fallocate(const char *path)
{
	int fd = open(path, O_RDWR), result;

	if (fd < 0)
		return -1;
	result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE);
	close(fd);
	return result;
}

static int try_store(const char *path)
{
	int fd = open(path, O_RDWR);
	void *memory;

	if (fd < 0)
		return -1;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return memory == MAP_FAILED ? -1 : 0;
}

/* A file in use as swap, @name in the directory @in: what must not be done to it, and what may. */
static void as_file(const char *in)
{
	static char zeros[64 * PAGE];
	char other[PATH_MAX], link_name[PATH_MAX], name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/swapfile", in);
	snprintf(other, sizeof(other), "%s/other", in);
	snprintf(link_name, sizeof(link_name), "%s/link", in);
	memset(header, 0, sizeof(header));
	header[256] = 1;
	header[257] = 63;
	memcpy((char *)header + PAGE - 10, "SWAPSPACE2", 10);
	memcpy(zeros, header, PAGE);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, zeros, sizeof(zeros)) != sizeof(zeros) || fsync(fd))
		printf("not ok %s: %d\n", name, errno);
	close(fd);
	close(open(other, O_RDWR | O_CREAT, 0600));
	expect("a file", swapon(name, 0), 0);
	expect("a file twice", swapon(name, 0), EBUSY);
	expect("write", try_open(name, O_RDWR), ETXTBSY);
	expect("open with O_TRUNC", try_open(name, O_RDWR | O_TRUNC), ETXTBSY);
	expect("truncate", truncate(name, 0), ETXTBSY);
	expect("fallocate", try_fallocate(name), ETXTBSY);
	expect("a shared mapping", try_store(name), ETXTBSY);
	expect("unlink", unlink(name), EPERM);
	expect("rename", rename(name, link_name), EPERM);
	expect("rename over it", rename(other, name), EPERM);
	expect("exchange", (int)syscall(SYS_renameat2, AT_FDCWD, other, AT_FDCWD, name, 2), EPERM);
	expect("rmdir", rmdir(name), EPERM);
	expect("link", link(name, link_name), 0);
	expect("unlink of the link", unlink(link_name), EPERM);
	expect("chmod", chmod(name, 0644), 0);
	expect("its swapoff", swapoff(name), 0);
	expect("write then", try_open(name, O_RDWR), 0);
	expect("rename then", rename(name, other), 0);
	expect("unlink then", unlink(other), 0);
	expect("unlink of the link then", unlink(link_name), 0);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (pwrite(fd, header, PAGE, 0) != PAGE || ftruncate(fd, sizeof(zeros)) || fsync(fd))
		printf("not ok %s: %d\n", name, errno);
	close(fd);
	expect("a file with holes", swapon(name, 0), EINVAL);
	expect("a file of no disk", swapon("/proc/version", 0), EINVAL);
	unlink(name);
}

static void as_nobody(void)
{
	int status;

	if (!fork()) {
		if (setuid(1000))
			_exit(1);
		expect("swapon by a user", swapon(device, 0), EPERM);
		expect("swapoff by a user", swapoff(device), EPERM);
		expect("a user's bad flags", swapon(device, 1 << 30), EINVAL);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
}

int main(int count, char **arguments)
{
	if (count < 2)
		return 1;
	device = arguments[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(device, "-f") && count > 2) {
		as_file(arguments[2]);
		printf("ok end\n");
		return 0;
	}
	expect("nothing there", swapon("/nothing", 0), ENOENT);
	expect("a directory", swapon("/", 0), EISDIR);
	expect("a device of characters", swapon("/dev/null", 0), EINVAL);
	expect("bad flags", swapon(device, 1 << 30), EINVAL);
	expect("bad address", (int)syscall(SYS_swapon, 1, 0), EFAULT);
	expect("an empty name", swapon("", 0), ENOENT);
	expect("off: nothing there", swapoff("/nothing"), ENOENT);
	expect("off: a directory", swapoff("/"), EISDIR);
	expect("off: not in use", swapoff(device), EINVAL);
	expect("off: bad address", (int)syscall(SYS_swapoff, 1), EFAULT);
	as_nobody();
	with_header("good", 256, 0, 0, 0);
	with_header("two pages", 2, 0, 0, 0);
	with_header("no signature", 256, PAGE / 4 - 1, 0, EINVAL);
	with_header("version 0", 256, 256, 0, EINVAL);
	with_header("version 2", 256, 256, 2, EINVAL);
	with_header("one page", 1, 0, 0, EINVAL);
	with_header("more than there are", 1 << 24, 0, 0, EINVAL);
	with_header("too many bad pages", 256, 258, 638, EINVAL);
	with_header("bad pages, none told", 256, 258, 1, EINVAL);
	header[384] = 3;
	with_header("good again", 256, 0, 0, 0);
	header[258] = 1;
	header[384] = 300;
	write_header(device);
	expect("a bad page behind the end", swapon(device, 0), EINVAL);
	header[384] = 5;
	write_header(device);
	expect("a bad page", swapon(device, SWAP_FLAG_PREFER | 3), 0);
	expect("twice", swapon(device, 0), EBUSY);
	expect("off", swapoff(device), 0);
	expect("off twice", swapoff(device), EINVAL);
	header[257] = 1;
	header[384] = 1;
	write_header(device);
	expect("all pages bad", swapon(device, 0), EINVAL);
	printf("ok end\n");
	return 0;
}
