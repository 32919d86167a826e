/*
 * namespaces.c - scenarios of mount namespaces: unshare(2), setns(2), clone(2) with CLONE_NEWNS,
 * and the file that stands for one, /proc/PID/ns/mnt.
 */
#include "../scenarios.h"

#include <pthread.h>
#include <sched.h>

#define OWN "/proc/self/ns/mnt"

static char here[PATH_MAX];

/* Another namespace, in which nothing that is mounted is seen in any other; this directory is known
 * by its whole name from now on. */
static void leave(void)
{
	if (!getcwd(here, sizeof(here)))
		say("getcwd failed");
	T(unshare(CLONE_NEWNS));
	T(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static unsigned long long number_of(const char *link)
{
	char text[64] = "";
	unsigned long long number = 0;

	readlink(link, text, sizeof(text) - 1);
	sscanf(text, "mnt:[%llu]", &number);
	return number;
}

/* A child that has a namespace of its own, in which m has a tmpfs with the file m/f; it waits until
 * *@release is closed. */
static pid_t begin_child(int *release)
{
	int ready[2], wait[2];
	char byte;

	pipe(ready);
	pipe(wait);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		leave();
		T(mount("none", "m", "tmpfs", 0, NULL));
		make_file("m/f", "the child's");
		slurp("m/f");
		close(wait[1]);
		write(ready[1], "", 1);
		read(wait[0], &byte, 1);
		slurp("m/f");
		_exit(0);
	}
	close(wait[0]);
	close(ready[1]);
	read(ready[0], &byte, 1);
	close(ready[0]);
	*release = wait[1];
	return pid;
}

static int open_namespace(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/ns/mnt", pid);
	return open(name, O_RDONLY | O_CLOEXEC);
}

SCENARIO(namespace_of_a_child)
{
	int release, own = open(OWN, O_RDONLY);
	char name[64];

	make_directory("m");
	make_file("m/under", "covered");
	getcwd(here, sizeof(here));
	pid_t pid = begin_child(&release);
	int other = open_namespace(pid);
	snprintf(name, sizeof(name), "/proc/%d/ns/mnt", pid);
	say("same:%d", number_of(name) == number_of(OWN));
	list("m");
	slurp("m/f");
	T(setns(other, CLONE_NEWNS));
	say("same:%d", number_of(name) == number_of(OWN));
	slurp("m/f"); /* from the root of that namespace */
	T(chdir(here));
	slurp("m/f");
	make_file("m/g", "the parent's");
	T(setns(own, 0));
	T(chdir(here));
	list("m");
	close(release);
	waitpid(pid, NULL, 0);
	T(setns(other, 0)); /* it is there, as long as it is open */
	T(chdir(here));
	list("m");
	T(umount("m"));
	list("m");
	T(setns(own, 0));
	T(chdir(here));
	list("m");
}

SCENARIO(namespace_copies_mounts)
{
	make_directory("m");
	make_directory("m2");
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "before");
	T(mkdir("m/in", 0755));
	T(mount("none", "m/in", "tmpfs", 0, NULL));
	make_file("m/in/g", "inner");
	int busy = open("m/in/g", O_RDONLY);
	int status;

	fflush(stdout);
	if (!fork()) {
		leave();
		slurp("m/f");
		slurp("m/in/g");
		T(umount("m"));
		T(umount("m/in")); /* its own, which nobody uses */
		T(mount("m", "m2", NULL, MS_MOVE, NULL));
		slurp("m/f");
		slurp("m2/f");
		make_file("m2/new", "of both");
		T(umount("m2"));
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	slurp("m/in/g");
	slurp("m/new");
	T(umount("m/in"));
	close(busy);
	T(umount("m/in"));
	T(umount("m"));
}

/* It is in the other's tree by name, but not in its namespace. */
SCENARIO(namespace_of_others_unchanged)
{
	char name[2 * PATH_MAX];
	int release;

	make_directory("m");
	getcwd(here, sizeof(here));
	pid_t pid = begin_child(&release);
	snprintf(name, sizeof(name), "/proc/%d/root%s/m", pid, here);
	chdir(name);
	slurp("f");
	T(mount("none", ".", "tmpfs", 0, NULL));
	T(umount("."));
	T(umount2(".", MNT_DETACH));
	T(mount(NULL, ".", NULL, MS_REMOUNT | MS_RDONLY, NULL));
	T(mount(".", here, NULL, MS_BIND, NULL));
	T(mount(".", here, NULL, MS_MOVE, NULL));
	T(mkdir("d", 0755));
	T(chdir(here));
	close(release);
	waitpid(pid, NULL, 0);
	list("m");
}

/* ---- what one namespace has mounted on what another removes ---------------------------------- */

static int to_child[2], to_parent[2];

static void let_go_on(const int *pipe)
{
	fflush(stdout);
	write(pipe[1], "", 1);
}

static void await(const int *pipe)
{
	char byte;

	read(pipe[0], &byte, 1);
}

/* How many of its mounts lie below this directory? */
static int mounts_here(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "r");
	char line[2 * PATH_MAX];
	int count = 0;

	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, here) != NULL;
	fclose(file);
	return count;
}

static void mounts_of_the_child(void)
{
	leave();
	T(mount("none", "m", "tmpfs", 0, NULL));
	make_file("m/f", "in m");
	make_directory("m/in");
	T(mount("none", "m/in", "tmpfs", 0, NULL));
	T(mount("none", "m/in", "tmpfs", 0, NULL));
	T(mount("f", "g", NULL, MS_BIND, NULL));
	T(mount("none", "n", "tmpfs", 0, NULL));
	make_file("n/f", "in n");
	T(mount("none", "replaced", "tmpfs", 0, NULL));
	T(mount("none", "above/below", "tmpfs", 0, NULL));
	make_file("above/below/f", "below");
	T(mount("none", "one", "tmpfs", 0, NULL));
	make_file("one/f", "in one");
}

/* Here nothing is mounted on these names. */
static void change_names(void)
{
	T(rmdir("m"));
	T(unlink("g"));
	T(rename("n", "n2"));
	T(rename("empty", "replaced"));
	T(rename("above", "renamed"));
	T(syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "other", 2 /* exchange */));
	list(".");
}

static const char *const looked_at[] = {"m",	    "m/f",   "g",	        "n/f",	 "n2/f",   "n3/f",
					"replaced", "above", "renamed/below/f", "one/f", "other/f"};
#define LOOKED_AT (sizeof(looked_at) / sizeof(looked_at[0]))

/* Until a cache of whole paths has them all. */
static void look_often(void)
{
	for (size_t i = 0; i < 20 * LOOKED_AT; i++) {
		char whole[2 * PATH_MAX];

		snprintf(whole, sizeof(whole), "%s/%s", here, looked_at[i % LOOKED_AT]);
		access(whole, F_OK);
	}
}

static void look_at_names(void)
{
	for (size_t i = 0; i < LOOKED_AT; i++) {
		char whole[2 * PATH_MAX];

		snprintf(whole, sizeof(whole), "%s/%s", here, looked_at[i]);
		say("%s:%d%d", looked_at[i], access(looked_at[i], F_OK), access(whole, F_OK));
	}
	say("mounts:%d", mounts_here());
}

static void be_the_child(void)
{
	char text[8] = "";

	mounts_of_the_child();
	int file = open("m/f", O_RDONLY), directory = open("m/in", O_RDONLY);
	look_at_names();
	T(rmdir("m"));
	T(rename("m", "elsewhere"));
	T(rename("empty", "m"));
	let_go_on(to_parent);
	await(to_child);
	look_at_names();
	T(read(file, text, sizeof(text) - 1));
	T(mkdirat(directory, "still", 0755));
	T(rmdir("ours")); /* where its parent has something by now */
	look_often();
	let_go_on(to_parent);
	await(to_child); /* which has renamed one more, and done nothing else */
	look_at_names();
	T(umount("n3"));
	T(umount("renamed/below"));
	T(umount("one"));
	T(umount("m"));
	say("mounts:%d", mounts_here());
	let_go_on(to_parent);
	_exit(0);
}

SCENARIO(namespace_of_others_on_what_is_removed)
{
	static const char *const names[] = {"m",	   "n",	  "replaced", "empty", "above",
					    "above/below", "one", "other",    "ours"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make_directory(names[i]);
	make_file("f", "bound");
	make_file("g", "covered");
	getcwd(here, sizeof(here));
	pipe(to_child);
	pipe(to_parent);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		be_the_child();
	await(to_parent);
	T(mount("none", "ours", "tmpfs", 0, NULL));
	make_file("ours/f", "in ours");
	int ours = open("ours/f", O_RDONLY);
	T(rmdir("ours"));
	change_names();
	say("mounts:%d", mounts_here());
	let_go_on(to_child);
	await(to_parent);
	T(rename("n2", "n3"));
	let_go_on(to_child);
	await(to_parent);
	waitpid(pid, NULL, 0);
	say("mounts:%d", mounts_here());
	slurp("ours/f");
	char text[8] = "";
	T(read(ours, text, sizeof(text) - 1));
	T(umount("ours"));
	T(mkdir("ours", 0755));
	list("ours");
}

SCENARIO(namespace_as_a_file)
{
	struct stat link, file;
	struct statfs fs;
	char text[64] = "", name[64], own[64] = "";
	int fd = open(OWN, O_RDONLY), again = open(OWN, O_RDONLY);

	readlink(OWN, own, sizeof(own) - 1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(readlink(name, text, sizeof(text) - 1) > 0);
	say("same:%d", !strcmp(own, text));
	T(stat(OWN, &link));
	T(fstat(again, &file));
	say("%o %lu same:%d%d%d", file.st_mode, (unsigned long)file.st_nlink,
	    link.st_ino == file.st_ino, link.st_dev == file.st_dev, file.st_ino == number_of(OWN));
	T(fstatfs(fd, &fs));
	say("%lx", (unsigned long)fs.f_type);
	T(read(fd, text, 1));
	T(lseek(fd, 1, SEEK_SET) >= 0);
	int reopened = open(name, O_RDONLY);
	T(setns(reopened, 0));
	AS(USER_A)
	{
		T(setns(fd, 0));
		T(unshare(CLONE_NEWNS));
		T(unshare(CLONE_FS | CLONE_FILES));
		T(open("/proc/1/ns/mnt", O_RDONLY));
		T(readlink(OWN, text, sizeof(text)) > 0);
	}
}

SCENARIO(namespace_errors)
{
	int fd = open(OWN, O_RDONLY), path = open(OWN, O_PATH), file = open(".", O_RDONLY);

	T(setns(99, 0));
	T(setns(path, 0));
	T(setns(file, 0));
	T(setns(file, CLONE_NEWNS));
	T(setns(fd, CLONE_NEWPID));
	T(setns(fd, CLONE_NEWNS | CLONE_NEWPID));
	T(setns(fd, 1));
	T(unshare(1));
	T(unshare(CLONE_NEWNS | CLONE_SETTLS));
	T(unshare(0));
	T(unshare(CLONE_FS));
	T(unshare(CLONE_FILES));
	T(fcntl(file, F_GETFD));
	T(syscall(SYS_clone, CLONE_NEWNS | CLONE_FS | SIGCHLD, 0, 0, 0, 0));
	AS(USER_A)
	{
		T(syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0));
	}
}

SCENARIO(namespace_by_clone)
{
	make_directory("m");
	getcwd(here, sizeof(here));
	fflush(stdout);
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		T(mount("none", "m", "tmpfs", 0, NULL));
		make_file("m/f", "the child's");
		T(chroot("m"));
		slurp("/f");
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	list("m");
	struct {
		unsigned long long flags, words[10];
	} arguments = {CLONE_NEWNS, {[3] = SIGCHLD}};
	pid = (pid_t)syscall(SYS_clone3, &arguments, 64L);
	if (pid == 0) {
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
		T(mount("none", "m", "tmpfs", 0, NULL));
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	T(umount("m"));
}

static void *in_a_thread(void *number)
{
	int fd = open(OWN, O_RDONLY);

	T(setns(fd, 0)); /* where it stands is another thread's place, too */
	T(unshare(CLONE_FS));
	T(setns(fd, 0));
	T(chdir("/"));
	T(unshare(CLONE_FILES));
	close(*(int *)number);
	T(unshare(CLONE_NEWNS));
	return NULL;
}

SCENARIO(namespace_of_a_thread)
{
	int fd = open(".", O_RDONLY);
	unsigned long long number = number_of(OWN);
	struct stat mine, there;
	pthread_t thread;

	stat(".", &mine);
	pthread_create(&thread, NULL, in_a_thread, &fd);
	pthread_join(thread, NULL);
	T(fcntl(fd, F_GETFD));
	stat(".", &there);
	say("same:%d%d", mine.st_ino == there.st_ino, number == number_of(OWN));
}

/* A program of another namespace is told by its path there, and so is what is outside of the root.
 */
SCENARIO(namespace_paths_told)
{
	char name[64], text[PATH_MAX];
	int proc = open("/proc", O_RDONLY), self, out = open(".", O_RDONLY);

	leave();
	make_directory("m");
	T(readlink("/proc/self/exe", text, sizeof(text)) > 0);
	say("%c", text[0]);
	self = openat(proc, "self", O_RDONLY);
	T(chroot("m"));
	snprintf(name, sizeof(name), "fd/%d", out);
	T(readlinkat(self, name, text, sizeof(text)) > 0);
	say("%c", text[0]);
	T(readlinkat(self, "cwd", text, sizeof(text)) > 0);
	say("%c", text[0]);
	T(syscall(SYS_getcwd, text, sizeof(text)) > 0);
	say("%.13s", text);
}
