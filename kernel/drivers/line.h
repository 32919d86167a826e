/*
 * line.h - the line discipline: what a terminal does to characters on their way in and out
 * (termios(3)).
 *
 * Pure logic over one structure: no locks, no sleeping, no device. The terminal (tty.c) calls it
 * with its lock held; tests call it directly. Input is kept in a ring of LINE_SIZE bytes:
 *
 *	tail ........ canonical ........ head		(free-running counters)
 *	     readable            being edited
 *
 * In canonical mode a reader sees what lies before `canonical`; the ends of lines are marked in a
 * bit map, and an end-of-file character is a marked byte that is not handed out. In the other mode
 * it sees all. Not done: ECHOPRT, parity and break handling, output delays other than tabs.
 */
#pragma once

#include "kernel/core/bitops.h"
#include "kernel/core/types.h"
#include "kernel/drivers/termios.h"

#define LINE_SIZE 4096 /* a power of two: counters wrap */

struct line {
	struct ktermios termios;
	u32 head, canonical, tail;
	DECLARE_BITMAP(line_end, LINE_SIZE);
	DECLARE_BITMAP(end_of_file, LINE_SIZE);
	u8 buffer[LINE_SIZE];
	unsigned column;	/* where output stands */
	unsigned start_column;	/* where the line being edited began */
	bool literal;		/* the next character is taken as it is */
	bool stopped;		/* by ^S */
	/* Where echoes and output go: characters for the device. */
	void (*emit)(struct line *line, const char *text, size_t length);
};

/* What a character caused that is not the line's own business. */
#define LINE_SIGNAL_MASK 0x7f	 /* signal for the foreground group, 0: none */
#define LINE_READABLE (1u << 7)	 /* readers may have something now */
#define LINE_STATUS (1u << 8)	 /* ^T */
#define LINE_RESTARTED (1u << 9) /* output was stopped and goes on */

void line_init(struct line *line, void (*emit)(struct line *, const char *, size_t));

/* A character arrived. Returns LINE_* bits. */
unsigned line_receive(struct line *line, u8 c);

/* Does another character fit, or is there a line being edited that may be cut? */
bool line_has_room(const struct line *line);

/* Bytes that can be read now (FIONREAD); canonical: of all whole lines. */
size_t line_available(const struct line *line);

/* Would a read return at once (data, or an end of file)? */
bool line_readable(const struct line *line);

/*
 * Move at most @n bytes to @to. Canonical: not past the end of a line; *end says that one (or an
 * end of file) was reached. Otherwise *end says that all has been taken.
 */
size_t line_read(struct line *line, u8 *to, size_t n, bool *end);

/* A program's output, through OPOST. */
void line_write(struct line *line, const char *text, size_t length);

/* Forget all input. */
void line_flush(struct line *line);

/* Take new settings: what was typed becomes readable when canonical mode ends, a line when it
 * begins. */
void line_set_termios(struct line *line, const struct ktermios *termios);
