/*
 * directories.c - scenarios of directories: made and removed, worked in when they are gone, listed.
 */
#include "../scenarios.h"

SCENARIO(mkdir_basic)
{
	T(mkdir("d", 0777));
	show_mode("d");
	T(mkdir("d", 0755));
	make_file("f", "");
	T(mkdir("f", 0755));
	T(mkdir("e/", 0700));
	show_mode("e");
	T(mkdir(".", 0755));
	T(mkdir("..", 0755));
	T(mkdir("", 0755));
	T(mkdir("/", 0755));
}

SCENARIO(mkdir_links)
{
	make_directory("d");
	show_links("d");
	make_directory("d/a");
	make_directory("d/b");
	show_links("d");
	rmdir("d/a");
	show_links("d");
	make_file("d/f", "");
	show_links("d");
}

SCENARIO(mkdir_on_link)
{
	symlink("nowhere", "l");
	T(mkdir("l", 0755));
	T(mkdir("l/", 0755));
	T(mkdir("l/x", 0755));
}

SCENARIO(mkdir_mode_bits)
{
	umask(0);
	T(mkdir("a", 07777));
	show_mode("a");
	T(mkdir("b", 01777));
	show_mode("b");
}

SCENARIO(rmdir_basic)
{
	make_directory("d");
	make_directory("d/e");
	T(rmdir("d"));
	T(rmdir("d/e"));
	T(rmdir("d"));
	T(rmdir("d"));
	make_file("f", "");
	T(rmdir("f"));
	T(rmdir("."));
	T(rmdir("./"));
	make_directory("x");
	T(rmdir("x/."));
	T(rmdir("x/.."));
	T(rmdir("x/"));
	T(rmdir(""));
}

SCENARIO(rmdir_link)
{
	make_directory("d");
	symlink("d", "l");
	T(rmdir("l"));
	T(rmdir("l/"));
	T(unlink("l"));
}

SCENARIO(rmdir_root)
{
	T(rmdir("/"));
	T(unlink("/"));
	T(rename("/", "/x"));
}

SCENARIO(at_directory_descriptor)
{
	int d, f;
	struct stat st;

	make_directory("d");
	d = open("d", O_RDONLY | O_DIRECTORY);
	T(openat(d, "f", O_CREAT | O_WRONLY, 0644) >= 0);
	T(mkdirat(d, "sub", 0755));
	T(symlinkat("f", d, "l"));
	T(linkat(d, "f", d, "g", 0));
	T(renameat(d, "g", AT_FDCWD, "moved"));
	T(fstatat(d, "f", &st, 0));
	T(faccessat(d, "sub", R_OK, 0));
	T(fchmodat(d, "f", 0600, 0));
	T(unlinkat(d, "l", 0));
	list("d");
	list(".");
	f = open("d/f", O_RDONLY);
	T(openat(f, "x", O_RDONLY));
	T(openat(999, "x", O_RDONLY));
	T(openat(999, "/", O_RDONLY) >= 0);
	T(mkdirat(f, "x", 0755));
	T(fstatat(f, "", &st, AT_EMPTY_PATH));
	T(fstatat(f, "", &st, 0));
}

SCENARIO(removed_cwd)
{
	char buffer[256];

	make_directory("d");
	T(chdir("d"));
	T(rmdir("../d"));
	T(open("f", O_CREAT | O_WRONLY, 0644));
	T(mkdir("x", 0755));
	T(getcwd(buffer, sizeof(buffer)) ? 0 : -1);
	T(access(".", F_OK));
	T(access("..", F_OK));
	list(".");
	T(chdir(".."));
	T(access("d", F_OK));
}

SCENARIO(removed_open_directory)
{
	struct stat st;
	int fd;

	make_directory("d");
	fd = open("d", O_RDONLY);
	T(rmdir("d"));
	fstat(fd, &st);
	T(st.st_nlink);
	T(openat(fd, "f", O_CREAT | O_WRONLY, 0644));
	T(openat(fd, ".", O_RDONLY) >= 0);
	T(fchdir(fd));
	T(symlink("a", "b"));
}

SCENARIO(getcwd_basic)
{
	char buffer[PATH_MAX], *end;

	make_directory("a");
	make_directory("a/b");
	T(chdir("a/b"));
	T(getcwd(buffer, sizeof(buffer)) != NULL);
	end = strstr(buffer, "/a/b");
	say("%s", end ? end : buffer);
	T(syscall(SYS_getcwd, buffer, 2));
	T(syscall(SYS_getcwd, (char *)8, 4096));
	T(rename("../../a", "../../z"));
	T(getcwd(buffer, sizeof(buffer)) != NULL);
	end = strstr(buffer, "/z/b");
	say("%s", end ? end : buffer);
}

SCENARIO(chdir_errors)
{
	make_file("f", "");
	T(chdir("f"));
	T(chdir("none"));
	T(chdir(""));
	make_directory("d");
	chmod("d", 0600);
	AS(USER_A) {
		T(chdir("d"));
	}
	T(chdir("d"));
}

SCENARIO(fchdir_basic)
{
	int d, f;

	make_directory("d");
	make_file("d/f", "x");
	d = open("d", O_RDONLY);
	f = open("d/f", O_RDONLY);
	T(fchdir(f));
	T(fchdir(d));
	slurp("f");
	T(fchdir(777));
}

SCENARIO(many_names)
{
	char name[32];
	int removed = 0, n = 0;
	struct dirent *entry;
	DIR *dir;

	make_directory("d");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d/file-number-%d", i);
		make_file(name, "");
	}
	dir = opendir("d");
	while ((entry = readdir(dir)))
		n++;
	T(n);
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "d/%.28s", entry->d_name);
		removed += !unlink(name);
	}
	T(removed);
	T(rmdir("d"));
}

SCENARIO(readdir_seek)
{
	struct dirent *entry;
	char second[256];
	long place;
	DIR *dir;

	make_file("a", "");
	make_file("b", "");
	make_file("c", "");
	dir = opendir(".");
	readdir(dir);
	place = telldir(dir);
	entry = readdir(dir);
	snprintf(second, sizeof(second), "%s", entry->d_name);
	while (readdir(dir))
		;
	seekdir(dir, place);
	entry = readdir(dir);
	T(entry && !strcmp(entry->d_name, second));
	T(lseek(dirfd(dir), 0, SEEK_SET));
}

/* A name of one letter, @length of them. */
static const char *letters(char letter, int length)
{
	static char names[2][NAME_MAX + 1];
	static int turn;
	char *name = names[turn ^= 1];

	memset(name, letter, (size_t)length);
	name[length] = 0;
	return name;
}

/* The names of letters here, as "a38": which, and how many; "?" for one of several letters. */
static void list_letters(void)
{
	int lengths[256] = {0};
	struct dirent *entry;
	DIR *dir = opendir(".");

	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (*name != '.')
			lengths[name[strspn(name, (char[]){*name, 0})] ? '?' : (uint8_t)*name] =
				(int)strlen(name);
	}
	closedir(dir);
	for (int letter = 0; letter < 256; letter++)
		if (lengths[letter])
			say("%c%d", letter, lengths[letter]);
}

static void exchange(const char *a, const char *b)
{
	T(syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2));
}

SCENARIO(names_of_other_lengths_are_listed_again)
{
	const int lengths[] = {1, 7, 8, 38, 39, 40, 41, 47, 48, 255};

	for (int i = 0; i < 10; i++)
		make_file(letters((char)('a' + i), lengths[i]), "");
	list_letters();
	list_letters();
	/* each takes the length of the one that was as far from the other end */
	for (int i = 0; i < 10; i++)
		T(rename(letters((char)('a' + i), lengths[i]),
			 letters((char)('a' + i), lengths[9 - i])));
	list_letters();
	exchange(letters('a', 255), letters('j', 1));
	exchange(letters('b', 48), letters('d', 41));
	T(rename(letters('e', 40), letters('f', 39)));
	list_letters();
	T(unlink(letters('a', 255)));
	T(link(letters('j', 1), letters('k', 44)));
	list_letters();
}

SCENARIO(readdir_types)
{
	struct dirent *entry;
	unsigned types[16] = {0};
	DIR *dir;

	make_file("f", "");
	make_directory("d");
	symlink("f", "l");
	mkfifo("p", 0644);
	dir = opendir(".");
	while ((entry = readdir(dir)))
		types[entry->d_type & 15]++;
	T(types[DT_REG]);
	T(types[DT_DIR]);
	T(types[DT_LNK]);
	T(types[DT_FIFO]);
	T(types[DT_UNKNOWN]);
}

SCENARIO(getdents_errors)
{
	char buffer[1024];
	int f, d;

	make_file("f", "");
	f = open("f", O_RDONLY);
	d = open(".", O_RDONLY);
	T(syscall(SYS_getdents64, f, buffer, sizeof(buffer)));
	T(syscall(SYS_getdents64, d, buffer, 8));
	T(syscall(SYS_getdents64, d, (void *)8, 1024));
	T(syscall(SYS_getdents64, 99, buffer, 1024));
	T(syscall(SYS_getdents64, d, buffer, sizeof(buffer)) > 0);
	T(syscall(SYS_getdents64, d, buffer, sizeof(buffer)));
	T(write(d, buffer, 10));
}

SCENARIO(readdir_dot_entries)
{
	struct dirent *entry;
	struct stat here, up;
	DIR *dir;

	make_directory("d");
	stat("d", &here);
	stat(".", &up);
	dir = opendir("d");
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, "."))
			T(entry->d_ino == here.st_ino);
		if (!strcmp(entry->d_name, ".."))
			T(entry->d_ino == up.st_ino);
	}
}

SCENARIO(deep_tree)
{
	int depth = 0;

	while (depth < 60 && !mkdir("directory", 0755) && !chdir("directory"))
		depth++;
	T(depth);
	make_file("f", "bottom");
	slurp("f");
	while (depth-- > 0)
		chdir("..");
	T(access("directory/directory/directory", F_OK));
}

/* Who renames what he lists, or replaces it, comes to an end. */
SCENARIO(a_listing_ends_though_names_move)
{
	char name[64], other[80];
	int moved = 0, replaced = 0;
	struct dirent *entry;
	DIR *dir;

	make_directory("d");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "d/f%d", i);
		make_file(name, "");
	}
	dir = opendir("d");
	while (moved < 100 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "d/%.40s", entry->d_name);
		snprintf(other, sizeof(other), "%sx", name);
		moved += !rename(name, other);
	}
	rewinddir(dir);
	while (replaced < 100 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "d/%.40s", entry->d_name);
		make_file("new", "");
		replaced += !rename("new", name);
	}
	closedir(dir);
	say("%d %d", moved >= 3 && moved < 100, replaced >= 3 && replaced < 100);
	list("d");
}
