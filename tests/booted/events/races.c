/*
 * races.c - watches added and removed on several CPUs while what they watch is made, renamed,
 *removed and unmounted; queues read while they are closed; pipes spliced by several at once.
 *
 *	races DIRECTORY ROUNDS [splice]
 *
 * What an event may look like is checked, not which come: that is chance. "races: ok" at the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES 4
#define KNOWN (IN_ALL_EVENTS | IN_ISDIR | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW)

static atomic_int busy; /* threads that change something */
static long rounds;

static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("races: ");
	vprintf(format, arguments);
	printf(" (%s)\n", strerror(errno));
	va_end(arguments);
	fflush(stdout);
	_exit(1);
}

static unsigned draw(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed / 65536 % below;
}

/* One of the places: a directory, a file in it, a directory in it. */
static const char *place(unsigned *seed, char *name)
{
	static const char *const inside[] = {"", "/a", "/b", "/sub", "/sub/c"};

	sprintf(name, "d%u%s", draw(seed, PLACES), inside[draw(seed, 5)]);
	return name;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void check_events(const char *buffer, ssize_t n)
{
	const char *at = buffer;

	while (at < buffer + n) {
		const struct inotify_event *event = (const void *)at;

		if ((event->mask & ~(uint32_t)KNOWN) || !event->mask || event->len % 16)
			fail("an event of %x, length %u", event->mask, event->len);
		if ((event->wd < 1) != (event->mask == IN_Q_OVERFLOW))
			fail("watch %d, event %x", event->wd, event->mask);
		if (event->len && (event->name[event->len - 1] || !event->name[0]))
			fail("a name that does not end, or begin");
		at += sizeof(*event) + event->len;
	}
	if (at != buffer + n)
		fail("part of an event");
}

/* What there is, without waiting. */
static void read_events(int fd)
{
	char buffer[4096] __attribute__((aligned(8)));
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n > 0)
		check_events(buffer, n);
	else if (n < 0 && errno != EAGAIN && errno != EBADF && errno != EINVAL)
		fail("read");
}

/* ---- those who watch ------------------------------------------------------------------------- */

static void *watch(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number * 977 + 1;
	char name[64];

	while (busy) {
		int fd = inotify_init1(IN_NONBLOCK), last = 0;

		if (fd < 0)
			fail("inotify_init1");
		for (unsigned i = 0; i < 40 && busy; i++) {
			uint32_t mask = IN_ALL_EVENTS;

			if (!draw(&seed, 8))
				mask |= IN_ONESHOT;
			if (!draw(&seed, 8))
				mask |= IN_EXCL_UNLINK;
			int wd = inotify_add_watch(fd, place(&seed, name), mask);
			if (wd > 0)
				last = wd;
			else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
				fail("inotify_add_watch %s", name);
			if (!draw(&seed, 3))
				inotify_rm_watch(fd, 1 + (int)draw(&seed, (unsigned)last + 1));
			if (!draw(&seed, 4))
				read_events(fd);
		}
		if (draw(&seed, 2))
			read_events(fd);
		close(fd);
	}
	return NULL;
}

/* ---- those who change ------------------------------------------------------------------------ */

static void use(const char *name)
{
	char byte = 'x';
	int fd = open(name, O_CREAT | O_RDWR | O_NONBLOCK, 0644);

	if (fd < 0)
		return;
	write(fd, &byte, 1);
	pread(fd, &byte, 1, 0);
	fchmod(fd, 0600);
	close(fd);
}

static void *change(void *number)
{
	unsigned seed = (unsigned)(uintptr_t)number * 7919 + 1;
	char one[64], two[64];

	for (long i = 0; i < rounds; i++) {
		place(&seed, one);
		place(&seed, two);
		switch (draw(&seed, 9)) {
		case 0:
			use(one);
			break;
		case 1:
			mkdir(one, 0755);
			break;
		case 2:
			unlink(one);
			break;
		case 3:
			rmdir(one);
			break;
		case 4:
			rename(one, two);
			break;
		case 5:
			syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, two,
				2 /* RENAME_EXCHANGE */);
			break;
		case 6:
			link(one, two);
			break;
		case 7:
			truncate(one, 3);
			break;
		case 8:
			symlink("a", one);
			break;
		}
		if (i % 8 == 0) /* so that there is something again */
			mkdir(strchr(strcpy(one, two), '/') ? (*strchr(one, '/') = 0, one) : one,
			      0755);
	}
	busy--;
	return NULL;
}

static void *mounts(void *unused)
{
	int fd = inotify_init1(IN_NONBLOCK);

	(void)unused;
	for (long i = 0; i < rounds / 32; i++) {
		if (mount("none", "m", "tmpfs", 0, NULL))
			fail("mount");
		use("m/f");
		if (inotify_add_watch(fd, "m", IN_ALL_EVENTS) < 0 ||
		    inotify_add_watch(fd, "m/f", IN_ALL_EVENTS) < 0)
			fail("a watch of what is mounted");
		use("m/f");
		int file = open("m/f", O_RDWR);
		if (umount2("m", MNT_DETACH))
			fail("umount2");
		if (i % 2)
			write(file, "x", 1);
		close(file);
		read_events(fd);
	}
	close(fd);
	busy--;
	return NULL;
}

/* ---- reads that meet a close ----------------------------------------------------------------- */

static void *read_one(void *fd)
{
	char buffer[4096] __attribute__((aligned(8)));
	ssize_t n = read((int)(intptr_t)fd, buffer, sizeof(buffer));

	if (n > 0)
		check_events(buffer, n);
	else if (errno != EBADF && errno != EAGAIN) /* too late, or of the other already */
		fail("a read that waited");
	return NULL;
}

static void *poll_one(void *fd)
{
	struct pollfd item = {(int)(intptr_t)fd, POLLIN, 0};

	if (poll(&item, 1, 10000) != 1)
		fail("nothing for poll");
	return NULL;
}

/* Two wait for an event, by a read and by poll; meanwhile the descriptor is closed and then
 * another's. In a process of its own, so that nobody else gets the number. */
static void closes(void)
{
	for (long i = 0; i < rounds / 32; i++) {
		int fd = inotify_init(), ep = epoll_create1(0), other = inotify_init1(IN_NONBLOCK);
		struct epoll_event event = {.events = EPOLLIN};
		pthread_t reader, poller;

		if (inotify_add_watch(fd, "closes", IN_ALL_EVENTS) < 0 ||
		    inotify_add_watch(other, "closes", IN_ALL_EVENTS) < 0)
			fail("a watch of closes");
		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event);
		pthread_create(&reader, NULL, read_one, (void *)(intptr_t)fd);
		pthread_create(&poller, NULL, poll_one, (void *)(intptr_t)fd);
		if (i % 4 == 0)
			usleep(1000);
		if (i % 2)
			close(fd);
		dup2(other, fd);
		use("closes/f"); /* whoever waits has an event, of the one or of the other */
		pthread_join(reader, NULL);
		use("closes/f");
		pthread_join(poller, NULL);
		close(fd);
		close(other);
		close(ep);
	}
}

/* ---- one queue for all ----------------------------------------------------------------------- */

static int shared_queue;
static atomic_int makers;
static atomic_long told, lost;

/* Each of these names comes once. */
static void *make(void *number)
{
	char name[64];

	for (long i = 0; i < rounds; i++) {
		sprintf(name, "shared/%d-%ld", (int)(intptr_t)number, i);
		if (mknod(name, S_IFREG | 0600, 0) || unlink(name))
			fail("%s", name);
	}
	makers--;
	return NULL;
}

/* Two read what two cause: each event goes to one of them. */
static void *count(void *unused)
{
	char buffer[512] __attribute__((aligned(8)));
	bool last = false;

	(void)unused;
	while (!last) {
		last = !makers;
		ssize_t n = read(shared_queue, buffer, sizeof(buffer));

		if (n < 0 && errno != EAGAIN)
			fail("read of the shared queue");
		if (n <= 0)
			continue;
		last = false;
		check_events(buffer, n);
		for (char *at = buffer; at < buffer + n;) {
			struct inotify_event *event = (void *)at;

			told += event->mask == IN_CREATE;
			lost += event->mask == IN_Q_OVERFLOW;
			at += sizeof(*event) + event->len;
		}
	}
	return NULL;
}

static void queue_for_all(void)
{
	pthread_t threads[4];

	mkdir("shared", 0755);
	shared_queue = inotify_init1(IN_NONBLOCK);
	inotify_add_watch(shared_queue, "shared", IN_CREATE | IN_DELETE);
	makers = 2;
	for (intptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i < 2 ? make : count, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (told != 2 * rounds && !lost)
		fail("%ld names came, %ld were told of", 2 * rounds, (long)told);
	close(shared_queue);
	rmdir("shared");
}

/* ---- pipes ----------------------------------------------------------------------------------- */

#define SPLICERS 2

static int first[2], second[2];
static atomic_long moved, arrived, sum_in, sum_out;

static void *feed(void *number)
{
	static unsigned char blocks[3]
				   [700]; /* which stay as they are: Linux's pipe has their pages */
	unsigned char *block = blocks[(uintptr_t)number];
	long left = rounds, sum = 0;

	for (size_t i = 0; i < sizeof(blocks[0]); i++)
		sum += block[i] = (unsigned char)(i * 7 * (uintptr_t)number);
	sum_in += rounds * sum;
	for (; left > 0; left--) {
		struct iovec piece = {block, sizeof(blocks[0])};
		while (piece.iov_len) {
			ssize_t n = left % 2 ? vmsplice(first[1], &piece, 1, 0)
					     : write(first[1], piece.iov_base, piece.iov_len);
			if (n <= 0)
				fail("into the first pipe");
			piece.iov_base = (char *)piece.iov_base + n;
			piece.iov_len -= (size_t)n;
		}
	}
	if (--busy == 0)
		close(first[1]);
	return NULL;
}

static void *pass_on(void *unused)
{
	ssize_t n;

	(void)unused;
	while ((n = splice(first[0], NULL, second[1], NULL, 5000, 0)) > 0)
		moved += n;
	if (n < 0)
		fail("splice between pipes");
	return NULL;
}

/* Each into a file of its own, or its memory; what a file does not take is for another. */
static void *take(void *number)
{
	unsigned char buffer[3000];
	struct iovec piece = {buffer, sizeof(buffer)};
	char name[32];
	ssize_t n = 1;

	sprintf(name, "taken%d", (int)(intptr_t)number);
	int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
	while (n > 0) {
		n = splice(second[0], NULL, file, NULL, 6000, 0);
		if (n < 0)
			fail("splice to a file");
		arrived += n;
		for (ssize_t at = 0, part; at < n; at += part) {
			part = pread(file, buffer, sizeof(buffer), at);
			for (ssize_t i = 0; i < part; i++)
				sum_out += buffer[i];
		}
		if (n == 0)
			break;
		if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
			fail("ftruncate");
		n = vmsplice(second[0], &piece, 1, 0);
		for (ssize_t i = 0; i < n; i++)
			sum_out += buffer[i];
		arrived += n;
	}
	close(file);
	unlink(name);
	return NULL;
}

static void splices(void)
{
	pthread_t feeders[2], movers[SPLICERS], takers[SPLICERS];

	if (pipe(first) || pipe(second))
		fail("pipe");
	busy = 2;
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&feeders[i], NULL, feed, (void *)(i + 1));
	for (intptr_t i = 0; i < SPLICERS; i++) {
		pthread_create(&movers[i], NULL, pass_on, NULL);
		pthread_create(&takers[i], NULL, take, (void *)i);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(feeders[i], NULL);
	for (int i = 0; i < SPLICERS; i++)
		pthread_join(movers[i], NULL);
	close(second[1]);
	for (int i = 0; i < SPLICERS; i++)
		pthread_join(takers[i], NULL);
	close(first[0]);
	close(second[0]);
	if (moved != 2 * rounds * 700 || arrived != moved || sum_in != sum_out)
		fail("%ld bytes came, %ld went, sums %ld and %ld", (long)moved, (long)arrived,
		     (long)sum_in, (long)sum_out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void watches(void)
{
	pthread_t threads[8];
	int count = 0;

	for (int i = 0; i < PLACES; i++) {
		char name[8];

		sprintf(name, "d%d", i);
		mkdir(name, 0755);
	}
	mkdir("m", 0755);
	mkdir("closes", 0755);
	pid_t child = fork();
	if (!child) {
		closes();
		_exit(0);
	}
	busy = 4;
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[count++], NULL, change, (void *)i);
	pthread_create(&threads[count++], NULL, mounts, NULL);
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[count++], NULL, watch, (void *)i);
	while (count)
		pthread_join(threads[--count], NULL);
	int status;
	if (waitpid(child, &status, 0) != child || status)
		fail("reads that meet a close: %x", status);
}

int main(int argc, char **argv)
{
	if (argc < 3 || chdir(argv[1]))
		fail("usage: races DIRECTORY ROUNDS [splice]");
	rounds = atol(argv[2]);
	alarm(300);
	if (argc > 3) {
		splices();
	} else {
		watches();
		queue_for_all();
	}
	puts("races: ok");
	return 0;
}
