/*
 * vectors.c - scenarios of readv and writev: each is one read or write, of files, pipes and
 * devices.
 */
#include "../scenarios.h"

static volatile sig_atomic_t caught;

static void catch (int signo)
{
	caught = signo;
}

static struct iovec bad_second(void)
{
	return (struct iovec){(void *)16, 4};
}

static void write_vectors(int fd, int in, const char *what)
{
	char text[64], second[16];
	struct iovec good[] = {{"one", 3}, {NULL, 0}, {"two", 3}, {"", 0}, {"three", 5}};
	struct iovec bad[] = {{"four", 4}, bad_second(), {"five", 4}};
	struct iovec none[] = {{NULL, 0}, {(void *)16, 0}};
	struct iovec to[] = {{text, 3}, {(void *)16, 0}, {second, 4}, {text + 3, 40}};
	struct iovec bad_to[] = {{text, 2}, bad_second(), {second, 4}};
	struct iovec bad_first[] = {bad_second(), {text, 4}};

	say("%s:", what);
	memset(text, 0, sizeof(text));
	T(writev(fd, good, 5));
	T(writev(fd, none, 2));
	T(writev(fd, bad_first, 2));
	T(writev(fd, bad, 3));
	T(readv(in, none, 2));
	T(readv(in, bad_first, 2));
	T(readv(in, bad_to, 3));
	T(readv(in, to, 4));
	text[20] = 0;
	say("%.4s %s", second, text);
}

SCENARIO(vectors_in_files)
{
	int fd = open("f", O_CREAT | O_WRONLY, 0644), in = open("f", O_RDONLY);

	write_vectors(fd, in, "file");
	slurp("f");
	show_size("f");
	write_vectors(open("g", O_CREAT | O_WRONLY | O_APPEND, 0644), open("g", O_RDONLY),
		      "append");
	slurp("g");
	T(lseek(fd, 0, SEEK_CUR));
	T(lseek(in, 0, SEEK_CUR));
}

SCENARIO(vectors_in_pipes)
{
	int ends[2], left;

	pipe2(ends, O_NONBLOCK);
	write_vectors(ends[1], ends[0], "pipe");
	T(ioctl(ends[0], FIONREAD, &left));
	say("%d", left);
	write_vectors(open("/dev/null", O_RDWR), open("/dev/zero", O_RDONLY), "devices");
}

/* What does not fit as a whole is not written in part, if it is PIPE_BUF at most. */
SCENARIO(vectors_are_atomic_in_pipes)
{
	static char full[65536];
	struct iovec two[] = {{full, 2000}, {full, 2000}},
		     three[] = {{full, 2000}, {full, 2000}, {full, 2000}};
	int ends[2], left;

	pipe2(ends, O_NONBLOCK);
	T(write(ends[1], full, 61440));
	T(write(ends[1], full, 1000));
	T(writev(ends[1], two, 2));
	ioctl(ends[0], FIONREAD, &left);
	say("%d", left);
	T(writev(ends[1], three, 3) > 0);
}

/* A limit within a vector: what fits is written, and the signal comes with the next. */
SCENARIO(vectors_and_the_limit_of_a_file)
{
	struct rlimit limit = {10, 10};
	struct iovec vector[] = {{"1234", 4}, {"5678", 4}, {"abcd", 4}};
	int fd = open("f", O_CREAT | O_RDWR | O_APPEND, 0644);

	signal(SIGXFSZ, catch);
	setrlimit(RLIMIT_FSIZE, &limit);
	T(writev(fd, vector, 3));
	say("%d", caught);
	T(writev(fd, vector, 3));
	say("%d", caught == SIGXFSZ);
	caught = 0;
	T(writev(fd, vector, 0));
	T(write(fd, "x", 0));
	T(pwrite(fd, "x", 1, 3));
	say("%d", caught == SIGXFSZ);
	caught = 0;
	T(ftruncate(fd, 11));
	say("%d", caught == SIGXFSZ);
	T(ftruncate(fd, 9));
	show_size("f");
}
