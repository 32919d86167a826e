/*
 * line.c - the line discipline: what a terminal does to characters on their way in and out
 * (termios(3)). See tty.h.
 *
 * The order of tests on an arriving character is that of Linux's n_tty: mapping, literal next, flow
 * control, signals, then editing or plain input. Not done: ISTRIP, mapping of case, ECHOPRT, parity
 * and break handling, delays, and of output mapping all but ONLCR; those flags read back as off.
 */
#include "kernel/drivers/tty.h"

#define SIGINT 2
#define SIGQUIT 3
#define SIGTSTP 20

#define CHAR_STATUS 0x14 /* ^T: not in termios of Linux, which lacks VSTATUS */

#define I_FLAG(tty, flag) ((tty)->termios.c_iflag & (flag))
#define O_FLAG(tty, flag) ((tty)->termios.c_oflag & (flag))
#define L_FLAG(tty, flag) ((tty)->termios.c_lflag & (flag))

static inline u8 char_at(const struct tty *tty, u32 position)
{
	return (u8)tty->buffer[position % TTY_BUFFER];
}

/* Is @c the control character @index, and is that one on? */
static inline bool is_key(const struct tty *tty, u8 c, unsigned index)
{
	return c == tty->termios.c_cc[index] && c != VDISABLED;
}

static inline bool is_control(u8 c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

static inline bool is_continuation(const struct tty *tty, u8 c)
{
	return I_FLAG(tty, IUTF8) && (c & 0xc0) == 0x80;
}

/* ---- output and echo ------------------------------------------------------------------------- */

/* Where output stands after @c; a control character moves it by @control columns. */
static unsigned column_after(const struct tty *tty, unsigned column, u8 c, unsigned control)
{
	if (c == '\t')
		return round_up(column + 1, 8);
	if (is_control(c))
		return column + control;
	return column + !is_continuation(tty, c);
}

void line_write(struct tty *tty, const char *text, size_t length)
{
	bool map_newline = O_FLAG(tty, OPOST) && O_FLAG(tty, ONLCR);
	size_t run;

	for (; length; text += run, length -= run) {
		for (run = 0; run < length && (text[run] != '\n' || !map_newline); run++) {
			if (text[run] == '\r')
				tty->column = 0;
			else if (text[run] == '\b')
				tty->column -= tty->column > 0;
			else
				tty->column = column_after(tty, tty->column, (u8)text[run], 0);
		}
		if (run) {
			console_write_raw(text, run);
		} else {
			console_write_raw("\r\n", 2);
			tty->column = 0;
			run = 1;
		}
	}
}

static void output(struct tty *tty, u8 c)
{
	line_write(tty, (const char *)&c, 1);
}

/* A character of the line; a newline here does not end one. */
static void echo(struct tty *tty, u8 c)
{
	const char pair[2] = {'^', (char)(c ^ 0x40)};

	if (!L_FLAG(tty, ECHO))
		return;
	if (L_FLAG(tty, ECHOCTL) && is_control(c))
		line_write(tty, pair, 2);
	else
		output(tty, c);
}

/* ---- editing --------------------------------------------------------------------------------- */

/* The column behind the line being edited, up to @end. */
static unsigned column_at(const struct tty *tty, u32 end)
{
	unsigned column = tty->start_column;

	for (u32 position = tty->canonical; position != end; position++)
		column = column_after(tty, column, char_at(tty, position),
				      L_FLAG(tty, ECHOCTL) ? 2 : 0);
	return column;
}

/* Where the last character begins, all bytes of it; the head if there is no whole one. */
static u32 last_character(const struct tty *tty)
{
	u32 at = tty->head;

	do {
		if (at-- == tty->canonical)
			return tty->head;
	} while (is_continuation(tty, char_at(tty, at)));
	return at;
}

/* By its first byte; those of letters beyond ASCII are what Latin-1 has as letters, as in Linux. */
static bool is_word_character(u8 c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

/* Take back what was typed from @at on, a character. */
static void take_back(struct tty *tty, u32 at, bool alone)
{
	unsigned columns = column_at(tty, tty->head) - column_at(tty, at);
	bool tab = char_at(tty, at) == '\t';

	tty->head = at;
	if (alone && !L_FLAG(tty, ECHOE))
		echo(tty, tty->termios.c_cc[VERASE]);
	else if (L_FLAG(tty, ECHO))
		while (columns--)
			line_write(tty, tab ? "\b" : "\b \b", tab ? 1 : 3);
}

/* VERASE: the last character; VWERASE: back over what is no word, then over the word; VKILL: all.
 */
static void erase(struct tty *tty, unsigned key)
{
	const u32 visibly = ECHOK | ECHOKE | ECHOE;
	bool in_word = false;
	u32 at;

	if (key == VKILL && L_FLAG(tty, visibly) != visibly && tty->head != tty->canonical) {
		tty->head = tty->canonical;
		echo(tty, tty->termios.c_cc[VKILL]);
		if (L_FLAG(tty, ECHO) && L_FLAG(tty, ECHOK))
			output(tty, '\n');
	}
	while ((at = last_character(tty)) != tty->head) {
		bool word = is_word_character(char_at(tty, at));

		if (key == VWERASE && in_word && !word)
			break;
		in_word |= word;
		take_back(tty, at, key == VERASE);
		if (key == VERASE)
			break;
	}
}

static void reprint(struct tty *tty)
{
	echo(tty, tty->termios.c_cc[VREPRINT]);
	output(tty, '\n');
	tty->start_column = tty->column;
	for (u32 position = tty->canonical; position != tty->head; position++)
		echo(tty, char_at(tty, position));
}

/* ---- input ----------------------------------------------------------------------------------- */

bool line_has_room(const struct tty *tty)
{
	/* A full buffer without a whole line would never be read: cut the line instead of waiting.
	 */
	return tty->head - tty->tail < TTY_BUFFER - 1 ||
	       (L_FLAG(tty, ICANON) && tty->canonical == tty->tail);
}

static void put(struct tty *tty, unsigned c)
{
	if (tty->head - tty->tail == TTY_BUFFER)
		return;
	if (tty->head == tty->canonical)
		tty->start_column = tty->column;
	tty->buffer[tty->head++ % TTY_BUFFER] = (u16)c;
	if (c & TTY_LINE_END)
		tty->canonical = tty->head;
}

/* An ordinary character. One place is kept for the end of the line. @enter: a newline that came as
 * a return, which the echo shows as a new line without canonical mode too. */
static void insert(struct tty *tty, u8 c, bool enter)
{
	if (tty->head - tty->tail >= TTY_BUFFER - 1) {
		if (I_FLAG(tty, IMAXBEL))
			output(tty, '\a');
		return;
	}
	put(tty, c);
	if (enter && L_FLAG(tty, ECHO))
		output(tty, c);
	else
		echo(tty, c);
	if (!L_FLAG(tty, ICANON))
		tty->canonical = tty->head;
}

void line_flush(struct tty *tty)
{
	tty->tail = tty->canonical = tty->head;
	tty->literal = false;
}

/* Editing in canonical mode; false: @c is an ordinary character. */
static bool edit(struct tty *tty, u8 c)
{
	bool extended = L_FLAG(tty, IEXTEN);

	if (is_key(tty, c, VERASE)) {
		erase(tty, VERASE);
	} else if (is_key(tty, c, VKILL)) {
		erase(tty, VKILL);
	} else if (extended && is_key(tty, c, VWERASE)) {
		erase(tty, VWERASE);
	} else if (extended && L_FLAG(tty, ECHO) && is_key(tty, c, VREPRINT)) {
		reprint(tty);
	} else if (extended && is_key(tty, c, VLNEXT)) {
		tty->literal = true;
		if (L_FLAG(tty, ECHO) && L_FLAG(tty, ECHOCTL))
			line_write(tty, "^\b", 2);
	} else if (c == '\n') {
		if (L_FLAG(tty, ECHO) || L_FLAG(tty, ECHONL))
			output(tty, c);
		put(tty, c | TTY_LINE_END);
	} else if (is_key(tty, c, VEOF)) {
		put(tty, TTY_END_OF_FILE | TTY_LINE_END);
	} else if (is_key(tty, c, VEOL) || (extended && is_key(tty, c, VEOL2))) {
		echo(tty, c);
		put(tty, c | TTY_LINE_END);
	} else {
		return false;
	}
	return true;
}

/* The signal that @c asks for, or 0. */
static int signal_of(const struct tty *tty, u8 c)
{
	if (is_key(tty, c, VINTR))
		return SIGINT;
	if (is_key(tty, c, VQUIT))
		return SIGQUIT;
	return is_key(tty, c, VSUSP) ? SIGTSTP : 0;
}

int line_receive(struct tty *tty, u8 c)
{
	bool enter = c == '\r' && I_FLAG(tty, ICRNL);

	if (tty->literal) { /* not mapped either */
		tty->literal = false;
		insert(tty, c, false);
		return 0;
	}
	if (c == '\r' && I_FLAG(tty, IGNCR))
		return 0;
	if (enter)
		c = '\n';
	else if (c == '\n' && I_FLAG(tty, INLCR))
		c = '\r';
	if (I_FLAG(tty, IXON) && (is_key(tty, c, VSTOP) || is_key(tty, c, VSTART))) {
		tty->stopped = is_key(tty, c, VSTOP) && !(tty->stopped && is_key(tty, c, VSTART));
		return 0;
	}
	if (L_FLAG(tty, ISIG) && c == CHAR_STATUS)
		return LINE_STATUS;
	if (L_FLAG(tty, ISIG) && signal_of(tty, c)) {
		tty->stopped = false;
		if (!L_FLAG(tty, NOFLSH))
			line_flush(tty);
		echo(tty, c);
		return signal_of(tty, c);
	}
	if (!L_FLAG(tty, ICANON) || !edit(tty, c))
		insert(tty, c, enter);
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Up to where a reader sees. */
static u32 read_limit(const struct tty *tty)
{
	return L_FLAG(tty, ICANON) ? tty->canonical : tty->head;
}

bool line_readable(const struct tty *tty)
{
	return read_limit(tty) != tty->tail;
}

int line_available(const struct tty *tty)
{
	int count = 0;

	for (u32 position = tty->tail; position != read_limit(tty); position++)
		count += !(tty->buffer[position % TTY_BUFFER] & TTY_END_OF_FILE);
	return count;
}

size_t line_read(struct tty *tty, u8 *to, size_t n, bool *end)
{
	u32 limit = read_limit(tty);
	size_t taken = 0;

	*end = false;
	while (tty->tail != limit && !*end) {
		u16 c = tty->buffer[tty->tail % TTY_BUFFER];

		/* An end of file right behind a full buffer belongs to this read: it is no line of
		 * its own. */
		if (taken == n && !(c & TTY_END_OF_FILE))
			break;
		if (!(c & TTY_END_OF_FILE))
			to[taken++] = (u8)c;
		tty->tail++;
		*end = c & TTY_LINE_END;
	}
	if (!L_FLAG(tty, ICANON))
		*end = tty->tail == tty->head;
	return taken;
}

/* ---- settings -------------------------------------------------------------------------------- */

void line_set_termios(struct tty *tty, const struct ktermios *termios)
{
	bool was_canonical = L_FLAG(tty, ICANON);

	tty->termios = *termios;
	tty->termios.c_iflag &= ~IFLAG_MISSING;
	tty->termios.c_oflag &= OPOST | ONLCR;
	tty->termios.c_lflag &= ~LFLAG_MISSING;
	if (!I_FLAG(tty, IXON))
		tty->stopped = false;
	if (was_canonical == !!L_FLAG(tty, ICANON))
		return;
	/* What is there becomes readable in either direction, in one piece, as n_tty_set_termios
	 * does it. */
	for (u32 position = tty->tail; position != tty->head; position++)
		tty->buffer[position % TTY_BUFFER] &= 0xff;
	if (!was_canonical && tty->head != tty->tail)
		tty->buffer[(tty->head - 1) % TTY_BUFFER] |= TTY_LINE_END;
	tty->literal = false;
	tty->canonical = tty->head;
}

void line_init(struct tty *tty)
{
	static const struct ktermios settings = {
		.c_iflag = ICRNL | IXON | IUTF8,
		.c_oflag = OPOST | ONLCR,
		.c_cflag = CFLAG_DEFAULT,
		.c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
		.c_cc = "\003\034\177\025\004\0\1\0\021\023\032\0\022\017\027\026",
	};

	tty->termios = settings;
}
