/*
 * watches.c - scenarios of inotify(7): watches that are added, changed and removed, and the queue.
 */
#include "notify.h"

#define MAX_EVENTS 16384
#define MAX_INSTANCES 128

SCENARIO(notify_init)
{
	char name[64], target[64] = "";
	struct stat st;
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_GETFL));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(readlink(name, target, sizeof(target) - 1));
	say("%s", target);
	T(open(name, O_RDONLY));
	T(fstat(fd, &st));
	say("mode=%o size=%lld", st.st_mode, (long long)st.st_size);
	T(write(fd, name, 1));
	T(pread(fd, name, 64, 0));
	T(ftruncate(fd, 0));
	T(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	T(inotify_init1(1));
	T(inotify_init1(O_APPEND));
	fd = syscall(SYS_inotify_init);
	T(fcntl(fd, F_GETFD));
	T(fcntl(fd, F_GETFL));
}

SCENARIO(notify_add_errors)
{
	int fd = notify_queue(), file = open("f", O_CREAT | O_RDWR, 0644);

	symlink("nowhere", "s");
	T(inotify_add_watch(fd, "missing", IN_OPEN));
	T(inotify_add_watch(fd, "f/x", IN_OPEN));
	T(inotify_add_watch(fd, "", IN_OPEN));
	T(inotify_add_watch(fd, "s", IN_OPEN));
	T(inotify_add_watch(fd, (char *)8, IN_OPEN));
	T(inotify_add_watch(fd, "f", 0));
	T(inotify_add_watch(fd, "f", 0x00100000));
	T(inotify_add_watch(fd, "f", 0x00100000 | IN_OPEN));
	T(inotify_add_watch(fd, "f", IN_MASK_ADD | IN_MASK_CREATE | IN_OPEN));
	T(inotify_add_watch(99, "f", IN_OPEN));
	T(inotify_add_watch(99, "f", 0));
	T(inotify_add_watch(file, "f", IN_OPEN));
	T(inotify_add_watch(file, "missing", IN_OPEN));
	T(inotify_add_watch(file, "f", IN_MASK_ADD | IN_MASK_CREATE | IN_OPEN));
	T(inotify_add_watch(fd, "f", IN_ONLYDIR | IN_OPEN));
	T(inotify_add_watch(fd, "f", IN_ONLYDIR));
	T(inotify_add_watch(fd, "f", IN_ISDIR));
	T(inotify_add_watch(fd, ".", IN_ONLYDIR | IN_OPEN));
	T(inotify_add_watch(fd, "s", IN_DONT_FOLLOW | IN_ONLYDIR | IN_OPEN));
	T(inotify_add_watch(fd, "s", IN_DONT_FOLLOW | IN_OPEN));
	T(inotify_rm_watch(fd, 0));
	T(inotify_rm_watch(fd, -1));
	T(inotify_rm_watch(fd, 17));
	T(inotify_rm_watch(99, 1));
	T(inotify_rm_watch(file, 1));
	look(fd);
}

SCENARIO(notify_add_permission)
{
	make_file("f", "text");
	make_directory("d");
	make_file("d/f", "text");
	chmod("f", 0);
	chmod("d", 0711);
	chmod(".", 0777);
	AS(USER_A)
	{
		int fd = notify_queue();

		T(inotify_add_watch(fd, "f", IN_OPEN));
		T(inotify_add_watch(fd, "d", IN_OPEN));
		T(inotify_add_watch(fd, "d/f", IN_OPEN));
		T(inotify_add_watch(fd, ".", IN_OPEN));
	}
}

SCENARIO(notify_links_followed)
{
	int fd = notify_queue();

	make_file("f", "text");
	symlink("f", "s");
	T(inotify_add_watch(fd, "s", IN_OPEN | IN_DELETE_SELF | IN_MOVE_SELF));
	T(inotify_add_watch(fd, "s", IN_OPEN | IN_DELETE_SELF | IN_MOVE_SELF | IN_DONT_FOLLOW));
	T(inotify_add_watch(fd, "f", IN_OPEN | IN_DELETE_SELF | IN_MOVE_SELF));
	close(open("s", O_RDONLY));
	look(fd);
	rename("s", "t");
	look(fd);
	unlink("t");
	look(fd);
}

SCENARIO(notify_same_watch)
{
	int fd = notify_queue();

	make_file("f", "text");
	T(inotify_add_watch(fd, "f", IN_OPEN));
	T(inotify_add_watch(fd, "f", IN_CLOSE));
	close(open("f", O_RDONLY));
	look(fd);
	T(inotify_add_watch(fd, "./f", IN_OPEN | IN_MASK_ADD));
	close(open("f", O_RDONLY));
	look(fd);
	T(inotify_add_watch(fd, "f", IN_OPEN | IN_MASK_CREATE));
	T(inotify_add_watch(fd, ".", IN_OPEN | IN_MASK_CREATE));
	T(inotify_add_watch(fd, "f", IN_ONLYDIR));
	T(inotify_rm_watch(fd, 1));
	T(inotify_rm_watch(fd, 1));
	look(fd);
	T(inotify_add_watch(fd, "f", IN_OPEN));
	close(open("f", O_RDONLY));
	look(fd);
}

/* A watch for nothing is one. */
SCENARIO(notify_flags_alone)
{
	int fd = notify_queue();

	make_file("f", "text");
	T(inotify_add_watch(fd, "f", IN_ISDIR));
	T(inotify_add_watch(fd, "f", IN_MASK_CREATE));
	T(inotify_add_watch(fd, ".", IN_ONLYDIR));
	T(inotify_add_watch(fd, ".", IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW));
	close(open("f", O_RDONLY));
	look(fd);
	unlink("f");
	look(fd);
}

SCENARIO(notify_oneshot)
{
	int fd = notify_queue();

	make_file("f", "text");
	T(inotify_add_watch(fd, ".", IN_OPEN | IN_CLOSE | IN_ONESHOT));
	T(inotify_add_watch(fd, "f", IN_CLOSE | IN_ONESHOT));
	close(open("f", O_RDONLY));
	look(fd);
	close(open("f", O_RDONLY));
	look(fd);
	T(inotify_rm_watch(fd, 1));
	T(inotify_add_watch(fd, ".", IN_OPEN));
	T(inotify_add_watch(fd, ".", IN_CLOSE | IN_ONESHOT | IN_MASK_ADD));
	close(open("f", O_RDONLY));
	look(fd);
	close(open("f", O_RDONLY));
	look(fd);
}

SCENARIO(notify_two_queues)
{
	int a = notify_queue(), b = notify_queue();

	make_file("f", "text");
	WATCH(a, "f", IN_OPEN);
	WATCH(b, ".", IN_CLOSE);
	WATCH(b, "f", IN_OPEN | IN_CLOSE);
	close(open("f", O_RDONLY));
	look(a);
	look(b);
	close(b);
	close(open("f", O_RDONLY));
	look(a);
}

/* A watch of the queue's own file: reading it is an event. */
SCENARIO(notify_of_itself)
{
	char name[64];
	int fd = notify_queue();

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	T(inotify_add_watch(fd, name, IN_ACCESS));
	T(inotify_add_watch(fd, ".", IN_OPEN));
	close(open(".", O_RDONLY));
	T(read(fd, name, sizeof(name)));
	T(read(fd, name, sizeof(name)));
}

/* ---- the queue ------------------------------------------------------------------------------- */

SCENARIO(notify_read_sizes)
{
	char buffer[256];
	int fd = notify_queue(), left;

	make_file("f", "text");
	make_file("name of 16 bytes", "text");
	T(read(fd, buffer, 0));
	T(read(fd, buffer, 5));
	T(ioctl(fd, FIONREAD, &left));
	say("left=%d", left);
	WATCH(fd, ".", IN_OPEN);
	WATCH(fd, "f", IN_OPEN);
	open("f", O_RDONLY);
	open("name of 16 bytes", O_RDONLY);
	open("f", O_RDONLY);
	T(ioctl(fd, FIONREAD, &left));
	say("left=%d", left);
	T(read(fd, buffer, 0));
	T(read(fd, buffer, 16));
	T(read(fd, buffer, 31));
	T(read(fd, buffer, 47));
	T(read(fd, (void *)8, 64)); /* what could not be given is lost */
	T(ioctl(fd, FIONREAD, &left));
	say("left=%d", left);
	T(read(fd, buffer, 47));
	T(read(fd, buffer, 47));
	T(read(fd, buffer, 48));
	T(read(fd, buffer, 256));
	T(read(fd, buffer, 256));
	T(ioctl(fd, FIONREAD, (void *)8));
	T(ioctl(fd, 0x5555, &left));
}

SCENARIO(notify_equal_events)
{
	char byte;
	int fd = notify_queue(), file;

	make_file("f", "text");
	make_file("g", "text");
	WATCH(fd, ".", IN_ALL_EVENTS);
	file = open("f", O_RDWR);
	write(file, "x", 1);
	write(file, "x", 1);
	read(file, &byte, 1);
	write(file, "x", 1);
	look(fd);
	for (int i = 0; i < 3; i++) {
		close(open("f", O_RDONLY));
		close(open("g", O_RDONLY));
	}
	look(fd);
	for (int i = 0; i < 3; i++)
		open("f", O_RDONLY);
	look(fd);
	for (int i = 0; i < 2; i++) {
		WATCH(fd, "g", IN_OPEN);
		inotify_rm_watch(fd, i + 2);
	}
	look(fd);
}

SCENARIO(notify_poll)
{
	int fd = notify_queue();
	struct pollfd item = {fd, POLLIN | POLLOUT | POLLRDNORM, 0};

	T(poll(&item, 1, 0));
	WATCH(fd, ".", IN_OPEN);
	T(poll(&item, 1, 0));
	close(open(".", O_RDONLY));
	T(poll(&item, 1, 0));
	say("revents=%x", item.revents);
	look(fd);
	T(poll(&item, 1, 0));
}

SCENARIO(notify_read_waits)
{
	char buffer[64];
	int fd = inotify_init();

	make_file("f", "text");
	WATCH(fd, "f", IN_OPEN);
	fflush(stdout);
	if (!fork()) {
		pause_ms(30);
		open("f", O_RDONLY);
		_exit(0);
	}
	T(read(fd, buffer, sizeof(buffer)));
	T(wait(NULL) > 0);
}

static void on_alarm(int signo)
{
	(void)signo;
}

SCENARIO(notify_read_interrupted)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval soon = {.it_value = {0, 20000}};
	char buffer[64];
	int fd = inotify_init();

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(read(fd, buffer, sizeof(buffer)));
}

SCENARIO(notify_overflow)
{
	char buffer[32 * 1024];
	long total = 0, n;
	int fd = notify_queue(), left;
	struct inotify_event *last = NULL;

	make_file("f", "text");
	WATCH(fd, "f", IN_OPEN | IN_CLOSE | IN_DELETE_SELF);
	for (int i = 0; i < MAX_EVENTS / 2 + 100; i++)
		close(open("f", O_RDONLY));
	T(ioctl(fd, FIONREAD, &left));
	say("left=%d", left);
	unlink("f"); /* what comes then is lost, but the watch goes */
	T(inotify_rm_watch(fd, 1));
	while ((n = read(fd, buffer, sizeof(buffer))) > 0) {
		total += n / (long)sizeof(*last);
		last = (void *)(buffer + n - sizeof(*last));
	}
	say("total=%ld last=%d %x", total, last->wd, last->mask);
	WATCH(fd, ".", IN_OPEN);
	close(open(".", O_RDONLY));
	look(fd);
}

SCENARIO(notify_instances)
{
	int n = 0;

	AS(USER_A) /* root may have some already */
	{
		while (inotify_init() >= 0)
			n++;
		say("%d", n);
		T(inotify_init());
		close(10);
		T(inotify_init());
	}
	AS(USER_B)
	{
		T(inotify_init());
	}
}
