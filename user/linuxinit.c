/*
 * linuxinit.c - the first program of a Linux kernel that is to run a job of ours: it loads modules,
 *makes the root file system of the tree, and hands process 1 over to the tree's own /init (init.c).
 *
 * It stands as /init in an initramfs that lab/run/linux.py makes, beside
 *
 *	/modules/	the modules to load, in the order of their names
 *	/image		with cw_root=ram: the ext2 image, copied onto the RAM disk /dev/ram0
 *	/tree		with cw_root=tmpfs: the tree itself, as the kernel unpacked it into its
 *tmpfs
 *
 * The kernel's command line says cw_root=vda, ram or tmpfs. Nothing here runs once the job does.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_MODULES 32

static void fail(const char *what)
{
	fprintf(stderr, "linuxinit: %s: %s\n", what, strerror(errno));
	exit(1); /* the kernel panics, and the lab sees a machine that ended without a word */
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_module(const struct dirent *entry)
{
	return strstr(entry->d_name, ".ko") != NULL;
}

/* @parameters: what modules may want to know; a module ignores what is not its own. */
static void load_modules(const char *parameters)
{
	struct dirent **modules;
	int count = scandir("/modules", &modules, is_module, by_name);

	for (int i = 0; i < count; i++) {
		char path[300];
		int fd;

		snprintf(path, sizeof(path), "/modules/%s", modules[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 ||
		    syscall(SYS_finit_module, fd, strstr(path, "brd") ? parameters : "", 0))
			fail(path);
		close(fd);
	}
}

static void copy_image(int from, int to)
{
	static char buffer[1 << 20];
	ssize_t length;

	while ((length = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, length) != length)
			fail("/dev/ram0");
	if (length < 0)
		fail("/image");
}

static void fill_ram_disk(void)
{
	int from = open("/image", O_RDONLY | O_CLOEXEC);
	int to = open("/dev/ram0", O_WRONLY | O_CLOEXEC);

	if (from < 0 || to < 0)
		fail("the RAM disk");
	copy_image(from, to);
	fsync(to);
	close(from);
	close(to);
	unlink("/image");
}

/* A RAM disk as large as the image; rd_size is in KB. */
static void ram_disk_size(char *parameters, size_t size)
{
	struct stat image;

	if (stat("/image", &image))
		fail("/image");
	snprintf(parameters, size, "rd_nr=1 rd_size=%lld", (long long)image.st_size >> 10);
}

static const char *chosen_root(char *line)
{
	FILE *file = fopen("/proc/cmdline", "r");
	char *word;

	if (!file || !fgets(line, 4096, file))
		fail("/proc/cmdline");
	fclose(file);
	word = strstr(line, "cw_root=");
	if (!word)
		fail("cw_root=");
	word += strlen("cw_root=");
	word[strcspn(word, " \n")] = 0;
	return word;
}

int main(void)
{
	char parameters[64] = "", line[4096];
	const char *root;

	mkdir("/proc", 0555);
	if (mount("proc", "/proc", "proc", 0, NULL) ||
	    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL))
		fail("mounting /proc and /dev");
	root = chosen_root(line);
	if (!strcmp(root, "ram"))
		ram_disk_size(parameters, sizeof(parameters));
	load_modules(parameters);
	mkdir("/tree", 0755);
	if (!strcmp(root, "ram"))
		fill_ram_disk();
	if (!strcmp(root, "tmpfs")) {
		if (mount("/tree", "/tree", NULL, MS_BIND, NULL))
			fail("/tree");
	} else if (mount(strcmp(root, "ram") ? "/dev/vda" : "/dev/ram0", "/tree", "ext2", 0,
			 NULL)) {
		fail(root);
	}
	umount("/proc");
	umount("/dev");
	if (chdir("/tree") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("entering the tree");
	execl("/init", "/init", NULL);
	fail("/init");
}
