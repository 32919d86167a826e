/*
 * pipes.c - scenarios of splice(2), tee(2), vmsplice(2): between pipes, and memory and a pipe.
 */
#include "splice.h"

SCENARIO(splice_between_pipes)
{
	int p[2], q[2];

	pipe(p);
	pipe(q);
	write(p[1], "one two", 7);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
	T(splice(p[0], NULL, q[1], NULL, 100, 0));
	drain(p[0]);
	drain(q[0]);
	T(splice(p[0], NULL, q[1], NULL, 4, SPLICE_F_NONBLOCK));
	fcntl(q[1], F_SETFL, O_NONBLOCK);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
	fill(q[1]);
	write(p[1], "one two", 7);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
	drain(q[0]);
	drain(p[0]);
	close(p[1]);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
}

SCENARIO(splice_between_pipes_all)
{
	int p[2], q[2];

	pipe(p);
	pipe(q);
	fill(p[1]);
	T(splice(p[0], NULL, q[1], NULL, 2 * PIPE_BYTES, 0));
	fill(p[1]);
	T(splice(p[0], NULL, q[1], NULL, PIPE_BYTES, SPLICE_F_NONBLOCK));
	drain(p[0]);
	drain(q[0]);
}

SCENARIO(splice_between_pipes_without_a_reader)
{
	int p[2], q[2];

	pipe(p);
	pipe(q);
	close(q[0]);
	signal(SIGPIPE, SIG_IGN);
	T(splice(p[0], NULL, q[1], NULL, 4, SPLICE_F_NONBLOCK));
	write(p[1], "one two", 7);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
	drain(p[0]);
	close(p[1]);
	T(splice(p[0], NULL, q[1], NULL, 4, 0));
}

/* ---- tee ------------------------------------------------------------------------------------- */

SCENARIO(tee_copies)
{
	int p[2], q[2];

	pipe(p);
	pipe(q);
	write(p[1], "one two", 7);
	T(tee(p[0], q[1], 3, 0));
	T(tee(p[0], q[1], 100, 0));
	drain(q[0]);
	drain(p[0]);
	T(tee(p[0], q[1], 100, SPLICE_F_NONBLOCK));
	fill(p[1]);
	T(tee(p[0], q[1], 2 * PIPE_BYTES, 0));
	T(tee(p[0], q[1], 1, SPLICE_F_NONBLOCK));
	drain(q[0]);
	drain(p[0]);
	close(p[1]);
	T(tee(p[0], q[1], 100, 0));
}

SCENARIO(tee_errors)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2], q[2];

	pipe(p);
	pipe(q);
	write(p[1], "text", 4);
	T(tee(99, 99, 0, 16));
	T(tee(99, 99, 0, 0));
	T(tee(99, q[1], 1, 0));
	T(tee(p[0], 99, 1, 0));
	T(tee(p[1], q[1], 1, 0));
	T(tee(p[0], q[0], 1, 0));
	T(tee(p[0], p[1], 1, 0));
	T(tee(file, q[1], 1, 0));
	T(tee(p[0], file, 1, 0));
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	drain(p[0]);
	T(tee(p[0], q[1], 1, 0));
	signal(SIGPIPE, SIG_IGN);
	write(p[1], "text", 4);
	close(q[0]);
	T(tee(p[0], q[1], 1, 0));
}

/* The common use: one copy to a file, one goes on. */
SCENARIO(tee_and_splice)
{
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2], q[2];

	pipe(p);
	pipe(q);
	for (int i = 0; i < 3; i++) {
		write(p[1], "some text ", 10);
		T(tee(p[0], q[1], 100, SPLICE_F_NONBLOCK));
		T(splice(p[0], NULL, file, NULL, 10, 0));
	}
	slurp("f");
	drain(q[0]);
}

/* ---- vmsplice -------------------------------------------------------------------------------- */

SCENARIO(vmsplice_to_pipe)
{
	char a[] = "one ", b[] = "two ", c[] = "three";
	struct iovec pieces[] = {{a, 4}, {NULL, 0}, {b, 4}, {c, 5}};
	int p[2];

	pipe(p);
	T(vmsplice(p[1], pieces, 4, 0));
	drain(p[0]);
	T(vmsplice(p[1], pieces, 1, SPLICE_F_GIFT | SPLICE_F_NONBLOCK));
	drain(p[0]);
}

SCENARIO(vmsplice_from_pipe)
{
	char a[8] = "", b[8] = "";
	struct iovec pieces[] = {{a, 3}, {b, 7}};
	int p[2];

	pipe(p);
	write(p[1], "one two three", 13);
	T(vmsplice(p[0], pieces, 2, 0));
	say("%s,%s", a, b);
	T(vmsplice(p[0], pieces, 2, 0));
	say("%s,%s", a, b);
	T(vmsplice(p[0], pieces, 2, SPLICE_F_NONBLOCK));
	close(p[1]);
	T(vmsplice(p[0], pieces, 2, 0));
}

SCENARIO(vmsplice_more_than_fits)
{
	size_t size = 3 * PIPE_BYTES;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec piece = {memory, size};
	int p[2];

	pipe(p);
	T(vmsplice(p[1], &piece, 1, 0));
	T(vmsplice(p[1], &piece, 1, SPLICE_F_NONBLOCK));
	T(vmsplice(p[0], &piece, 1, 0));
	drain(p[0]);
}

SCENARIO(vmsplice_errors)
{
	char text[] = "text";
	struct iovec piece = {text, 4}, nothing = {text, 0}, wild = {(void *)8, 4},
		     negative = {text, (size_t)-1};
	int file = open("f", O_RDWR | O_CREAT, 0644), p[2];

	pipe(p);
	T(vmsplice(99, &piece, 1, 16));
	T(vmsplice(99, &piece, 1, 0));
	T(vmsplice(file, &piece, 1, 0));
	T(vmsplice(file, &nothing, 1, 0));
	T(vmsplice(open("f", O_PATH), &piece, 1, 0));
	T(vmsplice(p[1], &nothing, 1, 0));
	T(vmsplice(p[1], &piece, 0, 0));
	T(vmsplice(p[1], (void *)8, 1, 0));
	T(vmsplice(p[1], &piece, 1025, 0));
	T(vmsplice(p[1], &wild, 1, 0));
	T(vmsplice(p[1], &negative, 1, 0));
	T(vmsplice(p[0], &nothing, 1, 0));
	T(vmsplice(p[1], &piece, 1, 0));
	T(vmsplice(p[0], &wild, 1, 0));
	drain(p[0]);
	close(p[0]);
	signal(SIGPIPE, SIG_IGN);
	T(vmsplice(p[1], &piece, 1, 0));
}

SCENARIO(vmsplice_does_not_wait)
{
	char text[4] = "";
	struct iovec piece = {text, 4};
	int p[2];

	pipe(p);
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	T(vmsplice(p[0], &piece, 1, SPLICE_F_NONBLOCK));
	fill(p[1]);
	T(vmsplice(p[1], &piece, 1, SPLICE_F_NONBLOCK));
}
