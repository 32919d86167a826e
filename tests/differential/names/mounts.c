/*
 * mounts.c - scenarios of mounting and unmounting, and what statfs(2) says.
 */
#include "../scenarios.h"

SCENARIO(statfs_basic)
{
	struct statfs st;
	int fd = open(".", O_RDONLY);

	T(statfs(".", &st));
	T(st.f_bsize > 0);
	T(st.f_bfree <= st.f_blocks);
	T(fstatfs(fd, &st));
	T(statfs("none", &st));
	T(fstatfs(99, &st));
	T(syscall(SYS_statfs, ".", 8L));
}

SCENARIO(mount_errors)
{
	make_directory("m");
	make_file("f", "");
	T(mount("none", "m", "nosuchfs", 0, NULL));
	T(umount("m"));
	T(umount("none"));
	T(umount2("m", 0x1000));
	AS(USER_A) {
		T(mount("none", "m", "tmpfs", 0, NULL));
		T(umount("m"));
	}
	T(mount("none", "nowhere", "tmpfs", 0, NULL));
}

SCENARIO(mount_tmpfs)
{
	make_directory("m");
	make_file("m/under", "covered");
	T(mount("none", "m", "tmpfs", 0, NULL));
	list("m");
	make_file("m/f", "on tmpfs");
	slurp("m/f");
	T(rmdir("m"));
	T(rename("m", "n"));
	T(rename("m/f", "g"));
	T(link("m/f", "g"));
	int fd = open("m/f", O_RDONLY);
	T(umount("m"));
	close(fd);
	chdir("m");
	T(umount("."));
	chdir("..");
	T(umount("m"));
	list("m");
}

SCENARIO(mount_read_only)
{
	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "x");
	T(mount(NULL, "m", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	T(open("m/f", O_WRONLY));
	T(open("m/new", O_CREAT | O_WRONLY, 0644));
	T(mkdir("m/d", 0755));
	T(mkdir("m/f", 0755));
	T(unlink("m/f"));
	T(chmod("m/f", 0600));
	T(truncate("m/f", 0));
	T(access("m/f", W_OK));
	T(access("m/f", R_OK));
	T(rename("m/f", "m/g"));
	slurp("m/f");
	T(umount("m"));
}

SCENARIO(mount_dot_dot)
{
	make_directory("m");
	make_file("mark", "outside");
	T(mount("none", "m", "tmpfs", 0, NULL));
	T(mkdir("m/in", 0755));
	slurp("m/../mark");
	slurp("m/in/../../mark");
	T(chdir("m/in"));
	slurp("../../mark");
	T(chdir("../.."));
	T(umount("m"));
}

/* "..", from a directory that stands in what is covered now, is what covers it. */
SCENARIO(mount_over_the_parent)
{
	make_directory("p");
	make_directory("p/in");
	make_file("p/mark", "below");
	chdir("p/in");
	for (int i = 0; i < 2; i++) {
		T(mount("none", "..", "tmpfs", 0, NULL));
		make_file("../mark", i ? "second" : "first");
		slurp("../mark");
		T(access("../in", F_OK));
		T(mkdir("../of_mine", 0755));
		slurp("../of_mine/../mark");
	}
	for (int i = 0; i < 2; i++)
		T(umount(".."));
	slurp("../mark");
	chdir("../..");
}

/* A field of /proc/self/mounts has no blank in it. */
SCENARIO(mounts_with_blanks)
{
	FILE *file;
	char line[1024];

	make_directory("a b\\c");
	T(mount("some device", "a b\\c", "tmpfs", 0, NULL));
	file = fopen("/proc/self/mounts", "r");
	while (file && fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "/a\\040b");

		if (!at)
			continue;
		say("%.16s", line);
		at[strcspn(at, "r")] = 0; /* before the options */
		say("%s", at);
	}
	fclose(file);
	T(umount("a b\\c"));
}
