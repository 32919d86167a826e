/*
 * files.c - scenarios of splice(2): between a pipe and a file.
 */
#include "splice.h"

SCENARIO(splice_from_file)
{
	int file, p[2];
	loff_t at = 5;

	make_file("f", "some text in a file");
	file = open("f", O_RDONLY);
	pipe(p);
	T(splice(file, NULL, p[1], NULL, 4, 0));
	T(lseek(file, 0, SEEK_CUR));
	drain(p[0]);
	T(splice(file, &at, p[1], NULL, 4, SPLICE_F_MOVE | SPLICE_F_MORE | SPLICE_F_GIFT));
	say("at=%d", (int)at);
	T(lseek(file, 0, SEEK_CUR));
	T(splice(file, NULL, p[1], NULL, 100, 0));
	T(lseek(file, 0, SEEK_CUR));
	drain(p[0]);
	T(splice(file, NULL, p[1], NULL, 100, 0));
	at = 1000;
	T(splice(file, &at, p[1], NULL, 100, 0));
	say("at=%d", (int)at);
	at = -1;
	T(splice(file, &at, p[1], NULL, 100, 0));
	drain(p[0]);
}

SCENARIO(splice_to_file)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];
	loff_t at = 5;

	pipe(p);
	write(p[1], "one two three", 13);
	T(splice(p[0], NULL, file, NULL, 4, 0));
	T(lseek(file, 0, SEEK_CUR));
	slurp("f");
	T(splice(p[0], NULL, file, &at, 4, 0));
	say("at=%d", (int)at);
	T(lseek(file, 0, SEEK_CUR));
	slurp("f");
	T(splice(p[0], NULL, file, NULL, 100, SPLICE_F_MORE));
	slurp("f");
	T(splice(p[0], NULL, file, NULL, 100, SPLICE_F_NONBLOCK));
	at = -1;
	T(splice(p[0], NULL, file, &at, 4, SPLICE_F_NONBLOCK));
	close(p[1]);
	T(splice(p[0], NULL, file, NULL, 100, 0));
	slurp("f");
}

/* As much as there is room for in the pipe, and no more. */
SCENARIO(splice_more_than_fits)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];
	char byte;

	pipe(p);
	ftruncate(file, 3 * PIPE_BYTES);
	T(splice(file, NULL, p[1], NULL, 3 * PIPE_BYTES, 0));
	T(lseek(file, 0, SEEK_CUR));
	T(splice(file, NULL, p[1], NULL, 1, SPLICE_F_NONBLOCK));
	fcntl(p[1], F_SETFL, O_NONBLOCK);
	T(splice(file, NULL, p[1], NULL, 1, 0));
	T(lseek(file, 0, SEEK_CUR));
	for (int i = 0; i < 4096; i++)
		read(p[0], &byte, 1);
	T(splice(file, NULL, p[1], NULL, 3 * PIPE_BYTES, 0));
	T(lseek(file, 0, SEEK_CUR));
	drain(p[0]);
}

SCENARIO(splice_all_of_a_full_pipe)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];

	pipe(p);
	fill(p[1]);
	T(splice(p[0], NULL, file, NULL, 2 * PIPE_BYTES, 0));
	show_size("f");
	fill(p[1]);
	T(splice(p[0], NULL, file, NULL, PIPE_BYTES - 5, 0));
	drain(p[0]);
	show_size("f");
}

SCENARIO(splice_errors)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2], q[2];
	loff_t at = 0;

	pipe(p);
	pipe(q);
	write(p[1], "text", 4);
	T(splice(99, NULL, 99, NULL, 0, ~0u));
	T(splice(99, NULL, 99, NULL, 1, ~0u));
	T(splice(p[0], NULL, file, NULL, 1, 16));
	T(splice(99, NULL, p[1], NULL, 1, 0));
	T(splice(p[0], NULL, 99, NULL, 1, 0));
	T(splice(p[1], NULL, file, NULL, 1, 0));
	T(splice(file, NULL, p[0], NULL, 1, 0));
	T(splice(p[0], NULL, open("f", O_RDONLY), NULL, 1, 0));
	T(splice(open("f", O_WRONLY), NULL, p[1], NULL, 1, 0));
	T(splice(open("f", O_PATH), NULL, p[1], NULL, 1, 0));
	T(splice(file, NULL, file, NULL, 1, 0));
	T(splice(p[0], NULL, p[1], NULL, 1, 0));
	T(splice(p[0], &at, file, NULL, 1, 0));
	T(splice(p[0], &at, q[1], NULL, 1, 0));
	T(splice(p[0], NULL, q[1], &at, 1, 0));
	T(splice(file, NULL, q[1], &at, 1, 0));
	T(splice(p[0], (loff_t *)8, file, NULL, 1, 0));
	T(splice(p[0], NULL, file, (loff_t *)8, 1, 0));
	T(splice(file, (loff_t *)8, q[1], NULL, 1, 0));
	T(splice(open(".", O_RDONLY), NULL, q[1], NULL, 1, 0));
	at = INT64_MAX;
	T(splice(p[0], NULL, file, &at, 1, 0));
	drain(p[0]);
	drain(q[0]);
}

SCENARIO(splice_append)
{
	int file, p[2];
	loff_t at = 0;

	make_file("f", "text");
	file = open("f", O_WRONLY | O_APPEND);
	pipe(p);
	write(p[1], "more", 4);
	T(splice(p[0], NULL, file, NULL, 4, 0));
	T(splice(p[0], NULL, file, &at, 4, 0));
	fcntl(file, F_SETFL, 0);
	T(splice(p[0], NULL, file, &at, 4, 0));
	slurp("f");
}

SCENARIO(splice_without_a_reader)
{
	int file, p[2];

	make_file("f", "text");
	file = open("f", O_RDONLY);
	pipe(p);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	T(splice(file, NULL, p[1], NULL, 4, 0));
	T(splice(file, NULL, p[1], NULL, 4, SPLICE_F_NONBLOCK));
	T(lseek(file, 0, SEEK_CUR));
	signal(SIGPIPE, SIG_DFL);
	T(splice(file, NULL, p[1], NULL, 4, 0));
	say("not reached");
}

/* What the file does not take stays in the pipe. */
SCENARIO(splice_limit)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];
	struct rlimit limit = {6, 6};

	pipe(p);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	write(p[1], "one two three", 13);
	T(splice(p[0], NULL, file, NULL, 13, 0));
	slurp("f");
	T(splice(p[0], NULL, file, NULL, 13, 0));
	drain(p[0]);
}

SCENARIO(splice_full_file_system)
{
	static char page[4096];
	int file, p[2];

	make_directory("m");
	T(mount("none", "m", "tmpfs", 0, "size=12k"));
	file = open("m/f", O_RDWR | O_CREAT, 0644);
	pipe(p);
	for (int i = 0; i < 5; i++)
		write(p[1], page, sizeof(page));
	T(splice(p[0], NULL, file, NULL, 5 * 4096, 0));
	T(splice(p[0], NULL, file, NULL, 5 * 4096, 0));
	drain(p[0]);
	close(file);
	T(umount("m"));
}

SCENARIO(splice_devices)
{
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY), p[2];

	pipe(p);
	write(p[1], "text", 4);
	T(splice(p[0], NULL, null, NULL, 100, 0));
	T(splice(zero, NULL, p[1], NULL, 100, 0));
	drain(p[0]);
}

SCENARIO(splice_fifo)
{
	int file, reader, writer;

	make_file("f", "text");
	file = open("f", O_RDWR);
	mkfifo("p", 0600);
	reader = open("p", O_RDONLY | O_NONBLOCK);
	writer = open("p", O_WRONLY);
	T(splice(reader, NULL, file, NULL, 4, 0));
	T(splice(file, NULL, writer, NULL, 4, 0));
	T(splice(reader, NULL, file, NULL, 4, 0));
	slurp("f");
}

SCENARIO(splice_waits)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2], status;

	pipe(p);
	fflush(stdout);
	if (!fork()) {
		pause_ms(30);
		write(p[1], "late", 4);
		_exit(0);
	}
	T(splice(p[0], NULL, file, NULL, 100, 0));
	T(wait(NULL) > 0);
	slurp("f");
	fill(p[1]);
	if (!fork()) {
		static char full[65536];

		pause_ms(30);
		_exit(read(p[0], full, sizeof(full)) != sizeof(full));
	}
	lseek(file, 0, SEEK_SET);
	T(splice(file, NULL, p[1], NULL, 100, 0));
	T(wait(&status) > 0 && !status);
	drain(p[0]);
	if (!fork()) {
		close(p[0]);
		pause_ms(30);
		_exit(0);
	}
	close(p[1]);
	T(splice(p[0], NULL, file, NULL, 100, 0)); /* until nobody can write any more */
}

static void on_alarm(int signo)
{
	(void)signo;
}

SCENARIO(splice_interrupted)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval soon = {.it_value = {0, 20000}};
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];

	pipe(p);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	T(splice(p[0], NULL, file, NULL, 100, 0));
}

/* A reader of the file sees the bytes as they were when they went. */
SCENARIO(splice_then_changed)
{
	int file, out, p[2];

	make_file("f", "old text");
	file = open("f", O_RDWR);
	out = open("g", O_RDWR | O_CREAT, 0644);
	pipe(p);
	T(splice(file, NULL, p[1], NULL, 8, 0));
	T(splice(p[0], NULL, out, NULL, 8, 0));
	T(pwrite(file, "new", 3, 0));
	slurp("f");
	slurp("g");
}
