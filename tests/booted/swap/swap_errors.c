/*
 * swap_errors.c - what swapon and swapoff say of what is no swap, damaged, too small, in use, or not
 * there. A plain Linux program: the numbers are Linux's. Usage: swap_errors DEVICE, of at least 2 MB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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
