/*
 * readers.c - scenarios of directories that change while somebody reads them, piece by piece.
 */
#include "../scenarios.h"

#define NAMES 120

struct reading {
	int fd;
	unsigned char seen[NAMES];
	int order[NAMES], count; /* the names that were read, one after the other */
	int foreign;
};

/* Read on by one small buffer; its bytes. */
static long read_piece(struct reading *reading)
{
	char buffer[512];
	long n = syscall(SYS_getdents64, reading->fd, buffer, sizeof(buffer));

	for (long at = 0; at < n; at += *(unsigned short *)(buffer + at + 16)) {
		const char *name = buffer + at + 19;
		int number = atoi(name + 1);

		if (name[0] == 'f' && reading->seen[number]++ == 0)
			reading->order[reading->count++] = number;
		else if (name[0] != '.' && name[0] != 'f')
			reading->foreign++;
	}
	return n;
}

enum way { REMOVED, MOVED, RENAMED };

static void goes(const char *where, int number, enum way way)
{
	char from[40], to[40];

	snprintf(from, sizeof(from), "%s/f%d", where, number);
	snprintf(to, sizeof(to), "%s/g%d", way == MOVED ? "other" : where, number);
	T(way == REMOVED ? unlink(from) : rename(from, to));
}

/* After the first piece the name @ahead of the last one that was read goes. */
static void read_while(const char *where, enum way way, int ahead)
{
	static struct reading whole, pieces;
	int gone, missing = 0, twice = 0;

	whole = pieces = (struct reading){0};
	whole.fd = open(where, O_RDONLY | O_DIRECTORY);
	while (read_piece(&whole) > 0)
		;
	close(whole.fd);
	pieces.fd = open(where, O_RDONLY | O_DIRECTORY);
	read_piece(&pieces);
	read_piece(&pieces);
	gone = whole.order[pieces.count - 1 + ahead];
	goes(where, gone, way);
	while (read_piece(&pieces) > 0)
		;
	close(pieces.fd);
	for (int i = 0; i < NAMES; i++) {
		missing += whole.seen[i] && !pieces.seen[i] && i != gone;
		twice += pieces.seen[i] > 1;
	}
	/* whether a new name of the same directory is seen is left open */
	say("missing %d twice %d strange %d", missing, twice, way != RENAMED && pieces.foreign);
}

SCENARIO(a_name_goes_where_a_reader_has_stopped)
{
	static const char *const places[] = {"removed", "moved", "renamed"};
	char name[40];

	make_directory("other");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "other/x%d", i);
		make_file(name, "");
	}
	for (int way = REMOVED; way <= RENAMED; way++) {
		make_directory(places[way]);
		for (int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "%s/f%d", places[way], i);
			make_file(name, "");
		}
		for (int ahead = -1; ahead <= 2; ahead++)
			read_while(places[way], way, ahead);
	}
}
