/*
 * restricted.c - scenarios of openat2's RESOLVE_*: walks that do not leave a tree or a mount, and
 * go through no link.
 */
#include "../scenarios.h"

enum { NO_XDEV = 1, NO_MAGICLINKS = 2, NO_SYMLINKS = 4, BENEATH = 8, IN_ROOT = 16, CACHED = 32 };

static long open_within(int dfd, const char *name, int flags, unsigned resolve)
{
	const int makes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
	struct {
		unsigned long flags, mode, resolve;
	} how = {(unsigned long)(unsigned)flags, flags & makes ? 0600 : 0, resolve};
	long fd = syscall(SYS_openat2, dfd, name, &how, sizeof(how));

	if (fd >= 0)
		close((int)fd);
	return fd >= 0 ? 0 : fd;
}

/* d with f and sub/g, and out beside it; links of all kinds in d. */
static int make_tree(void)
{
	make_directory("d");
	make_directory("d/sub");
	make_directory("out");
	make_file("d/f", "f");
	make_file("d/sub/g", "g");
	make_file("out/x", "x");
	symlink("sub/g", "d/relative");
	symlink("../out/x", "d/outside");
	symlink("/f", "d/absolute");
	symlink("/sub", "d/absolute_directory");
	symlink("sub/../../d/f", "d/round");
	symlink("loop", "d/loop");
	return open("d", O_RDONLY | O_DIRECTORY);
}

SCENARIO(beneath)
{
	int d = make_tree();

	T(open_within(d, "f", O_RDONLY, BENEATH));
	T(open_within(d, "sub/../f", O_RDONLY, BENEATH));
	T(open_within(d, "relative", O_RDONLY, BENEATH));
	T(open_within(d, ".", O_RDONLY, BENEATH));
	T(open_within(d, "..", O_RDONLY, BENEATH));
	T(open_within(d, "../d/f", O_RDONLY, BENEATH));
	T(open_within(d, "sub/../../d/f", O_RDONLY, BENEATH));
	T(open_within(d, "round", O_RDONLY, BENEATH));
	T(open_within(d, "outside", O_RDONLY, BENEATH));
	T(open_within(d, "absolute", O_RDONLY, BENEATH));
	T(open_within(d, "/f", O_RDONLY, BENEATH));
	T(open_within(99, "/f", O_RDONLY, BENEATH));
	T(open_within(99, "f", O_RDONLY, BENEATH));
	T(open_within(d, "outside", O_PATH | O_NOFOLLOW, BENEATH));
	T(open_within(d, "loop", O_RDONLY, BENEATH));
	T(open_within(d, "none", O_RDONLY, BENEATH));
	T(open_within(d, "new", O_CREAT | O_WRONLY, BENEATH));
	T(open_within(d, "../new", O_CREAT | O_WRONLY, BENEATH));
	T(open_within(d, ".", O_TMPFILE | O_RDWR, BENEATH));
	T(open_within(AT_FDCWD, "d/f", O_RDONLY, BENEATH));
	T(open_within(AT_FDCWD, "d/round", O_RDONLY, BENEATH));
	T(open_within(AT_FDCWD, "../", O_RDONLY, BENEATH));
	list("d");
	list(".");
}

SCENARIO(in_root)
{
	int d = make_tree(), f = open("d/f", O_RDONLY);

	T(open_within(d, "/f", O_RDONLY, IN_ROOT));
	T(open_within(d, "//sub//g", O_RDONLY, IN_ROOT));
	T(open_within(d, "/", O_RDONLY, IN_ROOT));
	T(open_within(d, "/../../f", O_RDONLY, IN_ROOT));
	T(open_within(d, "../sub/../../f", O_RDONLY, IN_ROOT));
	T(open_within(d, "absolute", O_RDONLY, IN_ROOT));
	T(open_within(d, "absolute_directory/g", O_RDONLY, IN_ROOT));
	T(open_within(d, "absolute_directory/../../absolute", O_RDONLY, IN_ROOT));
	T(open_within(d, "outside", O_RDONLY, IN_ROOT));
	T(open_within(d, "round", O_RDONLY, IN_ROOT));
	T(open_within(d, "../out/x", O_RDONLY, IN_ROOT));
	T(open_within(d, "/new", O_CREAT | O_WRONLY, IN_ROOT));
	T(open_within(d, "/../new", O_CREAT | O_EXCL | O_WRONLY, IN_ROOT));
	T(open_within(99, "/f", O_RDONLY, IN_ROOT));
	T(open_within(f, "/", O_RDONLY, IN_ROOT));
	T(open_within(f, "x", O_RDONLY, IN_ROOT));
	T(open_within(d, "", O_RDONLY, IN_ROOT));
	T(open_within(AT_FDCWD, "/d/f", O_RDONLY, IN_ROOT));
	T(open_within(AT_FDCWD, "/d/absolute", O_RDONLY, IN_ROOT));
	list("d");
}

SCENARIO(no_links)
{
	int d = make_tree(), f = open("d/f", O_RDONLY), proc = open("/proc", O_RDONLY);
	char name[40], below[40];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", f);
	snprintf(below, sizeof(below), "self/fd/%d", f);
	T(open_within(d, "f", O_RDONLY, NO_SYMLINKS));
	T(open_within(d, "relative", O_RDONLY, NO_SYMLINKS));
	T(open_within(d, "relative", O_RDONLY | O_NOFOLLOW, NO_SYMLINKS));
	T(open_within(d, "relative", O_PATH | O_NOFOLLOW, NO_SYMLINKS));
	T(open_within(d, "absolute_directory/g", O_RDONLY, NO_SYMLINKS));
	T(open_within(d, "relative", O_RDONLY, NO_MAGICLINKS));
	T(open_within(d, name, O_RDONLY, 0));
	T(open_within(d, name, O_RDONLY, NO_MAGICLINKS));
	T(open_within(d, name, O_PATH | O_NOFOLLOW, NO_MAGICLINKS));
	T(open_within(d, name, O_RDONLY, NO_SYMLINKS));
	T(open_within(d, name, O_RDONLY, NO_XDEV));
	T(open_within(d, "/proc/self/root/", O_RDONLY, NO_MAGICLINKS));
	T(open_within(d, "/proc/self/stat", O_RDONLY, NO_MAGICLINKS)); /* "self" is a text */
	T(open_within(d, "/proc/self/stat", O_RDONLY, NO_SYMLINKS));
	T(open_within(proc, below, O_RDONLY, NO_MAGICLINKS));
	T(open_within(proc, below, O_RDONLY, BENEATH));
	T(open_within(proc, below, O_RDONLY, IN_ROOT));
	T(open_within(proc, "self/stat", O_RDONLY, IN_ROOT | NO_XDEV));
	T(open_within(d, "loop", O_RDONLY, 0));
}

SCENARIO(no_mounts)
{
	int d = make_tree(), m;

	make_directory("d/m");
	make_directory("d/bound");
	T(mount("none", "d/m", "tmpfs", 0, NULL));
	T(mount("d/sub", "d/bound", NULL, MS_BIND, NULL));
	make_directory("d/m/in");
	make_file("d/m/in/y", "y");
	symlink("/m/in/y", "d/m/absolute");
	symlink("../f", "d/m/up");
	m = open("d/m", O_RDONLY | O_DIRECTORY);
	T(open_within(d, "m", O_RDONLY, NO_XDEV));
	T(open_within(d, "m/in/y", O_RDONLY, NO_XDEV));
	T(open_within(d, "m/../f", O_RDONLY, NO_XDEV));
	T(open_within(d, "bound/g", O_RDONLY, NO_XDEV));
	T(open_within(d, "sub/g", O_RDONLY, NO_XDEV));
	T(open_within(d, "sub/../relative", O_RDONLY, NO_XDEV));
	T(open_within(m, "in/y", O_RDONLY, NO_XDEV));
	T(open_within(m, "in/../..", O_RDONLY, NO_XDEV));
	T(open_within(m, "in/..", O_RDONLY, NO_XDEV));
	T(open_within(m, "up", O_RDONLY, NO_XDEV));
	T(open_within(m, "..", O_RDONLY, BENEATH));
	T(open_within(d, "m/../f", O_RDONLY, BENEATH));
	T(open_within(d, "m/up", O_RDONLY, BENEATH));
	T(open_within(d, "m/absolute", O_RDONLY, IN_ROOT));
	T(open_within(d, "m/../../m/in/y", O_RDONLY, IN_ROOT));
	T(open_within(d, "bound/../sub/g", O_RDONLY, IN_ROOT));
	T(chroot("d"));
	T(open_within(d, "/f", O_RDONLY, NO_XDEV));
	T(open_within(d, "/absolute", O_RDONLY, NO_XDEV));
	T(open_within(d, "absolute", O_RDONLY, NO_XDEV)); /* a root that was not looked at yet */
	T(open_within(d, "sub/../absolute", O_RDONLY, NO_XDEV));
	T(open_within(d, "..", O_RDONLY, NO_XDEV));
	T(open_within(m, "absolute", O_RDONLY, NO_XDEV));
	T(open_within(m, "/m/in/y", O_RDONLY, NO_XDEV));
	T(umount2("/m", MNT_DETACH));
	T(umount2("/bound", MNT_DETACH));
}

SCENARIO(cached_alone)
{
	const struct timespec read_later[2] = { { .tv_sec = time(NULL) + 3600 },
						{ .tv_nsec = UTIME_OMIT } };
	int d = make_tree();

	/* a link whose time of access is to be written asks for more than the caches */
	utimensat(d, "relative", read_later, AT_SYMLINK_NOFOLLOW);
	T(open_within(d, "f", O_RDONLY, CACHED));
	T(open_within(d, "sub/g", O_RDWR, CACHED));
	T(open_within(d, "relative", O_RDONLY, CACHED));
	T(open_within(d, "never", O_RDONLY, CACHED));
	T(open_within(d, "f", O_RDWR | O_TRUNC, CACHED));
	T(open_within(d, "f", O_RDWR | O_CREAT, CACHED));
	T(open_within(d, ".", O_RDWR | O_TMPFILE, CACHED));
	T(open_within(d, "f", O_RDONLY, CACHED | BENEATH | NO_XDEV | NO_SYMLINKS));
	T(open_within(d, "f", O_RDONLY, BENEATH | IN_ROOT));
	T(open_within(d, "f", O_RDONLY, 64));
}

/* A directory that comes and goes while its ".." is taken: nobody gets out by it. */
SCENARIO(nobody_leaves_by_a_rename)
{
	int d = make_tree(), status, got_out = 0, odd = 0;
	pid_t mover;

	make_directory("d/a");
	make_directory("d/a/b");
	make_directory("d/out");
	mover = fork();
	if (!mover)
		for (;;) {
			rename("d/a/b", "out/b");
			rename("out/b", "d/a/b");
		}
	for (int i = 0; i < 4000; i++) {
		long result =
			open_within(d, "a/b/../../out/x", O_RDONLY, i % 2 ? BENEATH : IN_ROOT);

		got_out += result == 0;
		odd += result < 0 && errno != ENOENT && errno != EAGAIN && errno != EXDEV;
	}
	kill(mover, SIGKILL);
	waitpid(mover, &status, 0);
	T(got_out);
	T(odd);
}
