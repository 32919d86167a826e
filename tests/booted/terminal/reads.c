/*
 * reads.c - what each read of a terminal gives of what is typed, one line a case.
 *
 * Each argument is a case: the lengths of its reads ("3", "1,4", "2+2" for two pieces at once), used
 * in turn until a line with a Z in it has been read. Before a case "case" is printed; whoever types
 * waits for that. A plain Linux program: test_reads.py runs it on Linux's terminal and on
 * Chainwalk's.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#define MOST 2048
#define PIECES 4

static char data[MOST];

static void use_lines_without_echo(void)
{
	struct termios settings;

	tcgetattr(0, &settings);
	settings.c_iflag = ICRNL;
	settings.c_lflag = ICANON;
	tcsetattr(0, TCSANOW, &settings);
}

/* Read as the next part of @sizes says, which is moved on. */
static ssize_t read_next(const char **sizes)
{
	struct iovec pieces[PIECES];
	char *place = data;
	int count = 0;

	do {
		char *end;
		size_t length = strtoul(*sizes + (**sizes == '+'), &end, 10);

		pieces[count++] = (struct iovec){place, length};
		place += length;
		*sizes = end;
	} while (**sizes == '+' && count < PIECES);
	*sizes += **sizes == ',';
	return count == 1 ? read(0, data, pieces[0].iov_len) : readv(0, pieces, count);
}

/* A character that comes often is told by its number: lines are long. */
static void show(const char *at, const char *end)
{
	while (at < end) {
		const char *next = at;

		while (next < end && *next == *at)
			next++;
		printf(isprint((unsigned char)*at) ? "%c" : "\\%03o", (unsigned char)*at);
		if (next - at > 3)
			printf("*%ld", (long)(next - at));
		else
			next = at + 1;
		at = next;
	}
}

static void run_case(const char *sizes)
{
	bool in_last_line = false, done = false;
	const char *at = sizes;

	printf("case\n");
	fflush(stdout);
	printf("%s:", sizes);
	for (int reads = 0; reads < 1000 && !done; reads++) {
		ssize_t n;

		if (!*at)
			at = sizes;
		n = read_next(&at);
		printf(" %ld:", (long)n);
		if (n < 0)
			break;
		show(data, data + n);
		in_last_line |= memchr(data, 'Z', (size_t)n) != NULL;
		done = in_last_line && n && data[n - 1] == '\n';
	}
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	use_lines_without_echo();
	for (int i = 1; i < argc; i++)
		run_case(argv[i]);
	printf("end\n");
	return 0;
}
