/*
 * line.c - the line discipline. The order of tests on an arriving character is that of Linux's
 * n_tty: mapping, literal next, flow control, signals, then editing or plain input.
 */
#include "kernel/drivers/line.h"
#include "kernel/core/string.h"

#define SIGINT 2
#define SIGQUIT 3
#define SIGTSTP 20

#define CHAR_STATUS 0x14 /* ^T: not in termios of Linux, which lacks VSTATUS */

#define I_FLAG(line, flag) ((line)->termios.c_iflag & (flag))
#define O_FLAG(line, flag) ((line)->termios.c_oflag & (flag))
#define L_FLAG(line, flag) ((line)->termios.c_lflag & (flag))

static inline u8 byte_at(const struct line *line, u32 position)
{
	return line->buffer[position % LINE_SIZE];
}

/* Is @c the control character @index, and is that one on? */
static inline bool is_control(const struct line *line, u8 c, unsigned index)
{
	return c == line->termios.c_cc[index] && c != VDISABLED;
}

static inline bool is_printed_as_control(u8 c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

static inline bool is_continuation(const struct line *line, u8 c)
{
	return I_FLAG(line, IUTF8) && (c & 0xc0) == 0x80;
}

static void emit_char(struct line *line, char c)
{
	line->emit(line, &c, 1);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void advance_column(struct line *line, u8 c)
{
	if (c == '\b') {
		if (line->column)
			line->column--;
	} else if (!is_printed_as_control(c) && !is_continuation(line, c)) {
		line->column++;
	}
}

static void output_newline(struct line *line)
{
	if (O_FLAG(line, ONLCR)) {
		line->emit(line, "\r\n", 2);
		line->column = 0;
		return;
	}
	if (O_FLAG(line, ONLRET))
		line->column = 0;
	emit_char(line, '\n');
}

static void output_return(struct line *line)
{
	if (O_FLAG(line, ONOCR) && line->column == 0)
		return;
	line->column = 0;
	if (O_FLAG(line, OCRNL)) {
		emit_char(line, '\n');
		if (!O_FLAG(line, ONLRET))
			return;
	} else {
		emit_char(line, '\r');
	}
}

static void output_tab(struct line *line)
{
	unsigned spaces = 8 - line->column % 8;

	line->column += spaces;
	if (O_FLAG(line, TABDLY) == TAB3)
		line->emit(line, "        ", spaces);
	else
		emit_char(line, '\t');
}

/* One character through OPOST. */
static void output_char(struct line *line, u8 c)
{
	if (c == '\n') {
		output_newline(line);
	} else if (c == '\r') {
		output_return(line);
	} else if (c == '\t') {
		output_tab(line);
	} else {
		if (O_FLAG(line, OLCUC) && c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		emit_char(line, (char)c);
		advance_column(line, c);
	}
}

void line_write(struct line *line, const char *text, size_t length)
{
	size_t run;

	if (!O_FLAG(line, OPOST)) {
		line->emit(line, text, length);
		return;
	}
	while (length) {
		/* Runs of ordinary characters go out in one piece. */
		for (run = 0; run < length; run++) {
			u8 c = (u8)text[run];

			if (c < ' ' || (c >= 'a' && c <= 'z' && O_FLAG(line, OLCUC)))
				break;
			advance_column(line, c);
		}
		if (run)
			line->emit(line, text, run);
		else
			output_char(line, (u8)text[run++]);
		text += run;
		length -= run;
	}
}

static void output(struct line *line, u8 c)
{
	if (O_FLAG(line, OPOST)) {
		output_char(line, c);
	} else {
		emit_char(line, (char)c);
		advance_column(line, c);
	}
}

/* ---- echo ------------------------------------------------------------------------------------ */

/* A character of the line; a newline here does not end one. */
static void echo(struct line *line, u8 c)
{
	if (!L_FLAG(line, ECHO))
		return;
	if (L_FLAG(line, ECHOCTL) && is_printed_as_control(c)) {
		output(line, '^');
		output(line, c ^ 0x40);
	} else {
		output(line, c);
	}
}

/* The end of a line. */
static void echo_newline(struct line *line)
{
	if (L_FLAG(line, ECHO) || L_FLAG(line, ECHONL))
		output(line, '\n');
}

/* Columns that a character takes when it stands at @column. */
static unsigned width_at(const struct line *line, u8 c, unsigned column)
{
	if (c == '\t')
		return 8 - column % 8;
	if (is_printed_as_control(c))
		return L_FLAG(line, ECHOCTL) ? 2 : 0;
	return is_continuation(line, c) ? 0 : 1;
}

/* The column behind the line being edited, up to @end. */
static unsigned column_of(const struct line *line, u32 end)
{
	unsigned column = line->start_column;
	u32 position;

	for (position = line->canonical; position != end; position++)
		column += width_at(line, byte_at(line, position), column);
	return column;
}

/* ---- editing --------------------------------------------------------------------------------- */

/* Where the last character begins, all bytes of it; the head if there is no whole one. */
static u32 last_character(const struct line *line)
{
	u32 at = line->head;

	do {
		if (at == line->canonical)
			return line->head;
		at--;
	} while (is_continuation(line, byte_at(line, at)));
	return at;
}

/* Take the last character back; false: there is none. @alone: not as one of several. */
static bool erase_one(struct line *line, bool alone)
{
	u32 head = last_character(line);
	unsigned before, after, columns;
	bool tab;

	if (head == line->head)
		return false;
	tab = byte_at(line, head) == '\t';
	before = column_of(line, line->head);
	after = column_of(line, head);
	line->head = head;
	if (!L_FLAG(line, ECHO))
		return true;
	if (alone && !L_FLAG(line, ECHOE)) {
		echo(line, line->termios.c_cc[VERASE]);
		return true;
	}
	for (columns = before - after; columns; columns--) {
		line->emit(line, tab ? "\b" : "\b \b", tab ? 1 : 3);
		if (line->column)
			line->column--;
	}
	return true;
}

/* By its first byte; those of letters beyond ASCII are what Latin-1 has as letters, as in Linux. */
static bool is_word_character(u8 c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

/* Back over what is not a word, then over the word. */
static void erase_word(struct line *line)
{
	bool in_word = false;
	u32 at;

	while ((at = last_character(line)) != line->head) {
		if (is_word_character(byte_at(line, at)))
			in_word = true;
		else if (in_word)
			break;
		erase_one(line, false);
	}
}

static void kill_line(struct line *line)
{
	if (line->head == line->canonical)
		return;
	if (!L_FLAG(line, ECHO)) {
		line->head = line->canonical;
		return;
	}
	if (L_FLAG(line, ECHOK) && L_FLAG(line, ECHOKE) && L_FLAG(line, ECHOE)) {
		while (erase_one(line, false))
			;
		return;
	}
	line->head = line->canonical;
	echo(line, line->termios.c_cc[VKILL]);
	if (L_FLAG(line, ECHOK))
		output(line, '\n');
}

static void reprint(struct line *line)
{
	u32 position;

	echo(line, line->termios.c_cc[VREPRINT]);
	output(line, '\n');
	line->start_column = line->column;
	for (position = line->canonical; position != line->head; position++)
		echo(line, byte_at(line, position));
}

/* ---- input ----------------------------------------------------------------------------------- */

static inline u32 used(const struct line *line)
{
	return line->head - line->tail;
}

bool line_has_room(const struct line *line)
{
	/* A full buffer without a whole line would never be read: cut the line instead of waiting.
	 */
	return used(line) < LINE_SIZE - 1 ||
	       (L_FLAG(line, ICANON) && line->canonical == line->tail);
}

static void put(struct line *line, u8 c)
{
	unsigned at = line->head % LINE_SIZE;

	if (line->head == line->canonical)
		line->start_column = line->column;
	__clear_bit(at, line->line_end);
	__clear_bit(at, line->end_of_file);
	line->buffer[at] = c;
	line->head++;
}

/* An ordinary character. One place is kept for the end of the line. @enter: a newline that came as
 * a return, which the echo shows as a new line without canonical mode too. */
static unsigned insert(struct line *line, u8 c, bool enter)
{
	if (used(line) >= LINE_SIZE - 1) {
		if (I_FLAG(line, IMAXBEL))
			emit_char(line, '\a');
		return 0;
	}
	put(line, c);
	if (enter && L_FLAG(line, ECHO))
		output(line, c);
	else
		echo(line, c);
	if (L_FLAG(line, ICANON))
		return 0;
	line->canonical = line->head;
	return LINE_READABLE;
}

static unsigned end_line(struct line *line, u8 c, bool end_of_file)
{
	if (used(line) >= LINE_SIZE)
		return 0;
	put(line, c);
	__set_bit((line->head - 1) % LINE_SIZE, line->line_end);
	if (end_of_file)
		__set_bit((line->head - 1) % LINE_SIZE, line->end_of_file);
	line->canonical = line->head;
	return LINE_READABLE;
}

void line_flush(struct line *line)
{
	line->tail = line->canonical = line->head;
	line->literal = false;
}

/* A signal's character: echoed, and input is dropped unless NOFLSH. */
static unsigned signal_char(struct line *line, u8 c, unsigned signo)
{
	unsigned restarted = line->stopped ? LINE_RESTARTED : 0;

	line->stopped = false;
	if (!L_FLAG(line, NOFLSH))
		line_flush(line);
	echo(line, c);
	return signo | restarted;
}

/* Editing in canonical mode; false: @c is an ordinary character. */
static bool edit(struct line *line, u8 c, unsigned *result)
{
	*result = 0;
	if (is_control(line, c, VERASE)) {
		erase_one(line, true);
	} else if (is_control(line, c, VKILL)) {
		kill_line(line);
	} else if (L_FLAG(line, IEXTEN) && is_control(line, c, VWERASE)) {
		erase_word(line);
	} else if (L_FLAG(line, IEXTEN) && L_FLAG(line, ECHO) && is_control(line, c, VREPRINT)) {
		reprint(line);
	} else if (c == '\n') {
		echo_newline(line);
		*result = end_line(line, c, false);
	} else if (is_control(line, c, VEOF)) {
		*result = end_line(line, VDISABLED, true);
	} else if (is_control(line, c, VEOL) ||
		   (L_FLAG(line, IEXTEN) && is_control(line, c, VEOL2))) {
		echo(line, c);
		*result = end_line(line, c, false);
	} else {
		return false;
	}
	return true;
}

/* ^S and ^Q; true: @c was one of them. */
static bool flow_control(struct line *line, u8 c, unsigned *result)
{
	*result = 0;
	if (is_control(line, c, VSTOP) && !(line->stopped && is_control(line, c, VSTART))) {
		line->stopped = true;
		return true;
	}
	if (is_control(line, c, VSTART)) {
		*result = line->stopped ? LINE_RESTARTED : 0;
		line->stopped = false;
		return true;
	}
	return false;
}

/* Input mapping; false: the character is dropped. */
static bool map_input(struct line *line, u8 *c)
{
	if (I_FLAG(line, ISTRIP))
		*c &= 0x7f;
	if (I_FLAG(line, IUCLC) && L_FLAG(line, IEXTEN) && *c >= 'A' && *c <= 'Z')
		*c += 'a' - 'A';
	if (*c == '\r') {
		if (I_FLAG(line, IGNCR))
			return false;
		if (I_FLAG(line, ICRNL))
			*c = '\n';
	} else if (*c == '\n' && I_FLAG(line, INLCR)) {
		*c = '\r';
	}
	return true;
}

/* The signal that @c asks for, or 0. */
static unsigned signal_of(const struct line *line, u8 c)
{
	if (is_control(line, c, VINTR))
		return SIGINT;
	if (is_control(line, c, VQUIT))
		return SIGQUIT;
	if (is_control(line, c, VSUSP))
		return SIGTSTP;
	return 0;
}

unsigned line_receive(struct line *line, u8 c)
{
	unsigned result = 0;
	u8 received = c;

	if (line->literal) { /* not mapped either */
		line->literal = false;
		return insert(line, I_FLAG(line, ISTRIP) ? c & 0x7f : c, false);
	}
	if (!map_input(line, &c))
		return 0;
	if (I_FLAG(line, IXON)) {
		if (flow_control(line, c, &result))
			return result;
		if (line->stopped && I_FLAG(line, IXANY)) {
			line->stopped = false;
			result = LINE_RESTARTED;
		}
	}
	if (L_FLAG(line, ISIG)) {
		if (signal_of(line, c))
			return signal_char(line, c, signal_of(line, c)) | result;
		if (c == CHAR_STATUS)
			return LINE_STATUS | result;
	}
	if (L_FLAG(line, ICANON)) {
		unsigned edited;

		if (L_FLAG(line, IEXTEN) && is_control(line, c, VLNEXT)) {
			line->literal = true;
			if (L_FLAG(line, ECHO) && L_FLAG(line, ECHOCTL))
				line->emit(line, "^\b", 2);
			return result;
		}
		if (edit(line, c, &edited))
			return edited | result;
	}
	return insert(line, c, received != c && c == '\n') | result;
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t line_available(const struct line *line)
{
	u32 position, count = 0;

	if (!L_FLAG(line, ICANON))
		return used(line);
	for (position = line->tail; position != line->canonical; position++)
		if (!test_bit(position % LINE_SIZE, line->end_of_file))
			count++;
	return count;
}

bool line_readable(const struct line *line)
{
	return L_FLAG(line, ICANON) ? line->canonical != line->tail : line->head != line->tail;
}

size_t line_read(struct line *line, u8 *to, size_t n, bool *end)
{
	u32 limit = L_FLAG(line, ICANON) ? line->canonical : line->head;
	size_t taken = 0;

	*end = false;
	while (line->tail != limit && !*end) {
		unsigned at = line->tail % LINE_SIZE;
		bool marked = L_FLAG(line, ICANON) && test_bit(at, line->line_end);
		bool hidden = marked && test_bit(at, line->end_of_file);

		/* An end of file right behind a full buffer belongs to this read: it is no line of
		 * its own. */
		if (taken == n && !hidden)
			break;
		if (!hidden)
			to[taken++] = line->buffer[at];
		line->tail++;
		*end = marked;
	}
	if (!L_FLAG(line, ICANON)) {
		*end = line->tail == line->head;
		if ((s32)(line->canonical - line->tail) < 0)
			line->canonical = line->tail;
	}
	return taken;
}

/* ---- settings -------------------------------------------------------------------------------- */

void line_set_termios(struct line *line, const struct ktermios *termios)
{
	bool was_canonical = L_FLAG(line, ICANON);

	line->termios = *termios;
	if (!(termios->c_iflag & IXON))
		line->stopped = false;
	if (was_canonical == !!L_FLAG(line, ICANON))
		return;
	/* What is there becomes readable in either direction, in one piece, as n_tty_set_termios
	 * does it. */
	memset(line->line_end, 0, sizeof(line->line_end));
	memset(line->end_of_file, 0, sizeof(line->end_of_file));
	line->literal = false;
	line->canonical = line->head;
	if (!was_canonical && line->head != line->tail)
		__set_bit((line->head - 1) % LINE_SIZE, line->line_end);
}

void line_init(struct line *line, void (*emit)(struct line *, const char *, size_t))
{
	static const u8 characters[NCCS] = {
		[VINTR] = 'C' & 31,    [VQUIT] = '\\' & 31,   [VERASE] = 0x7f,
		[VKILL] = 'U' & 31,    [VEOF] = 'D' & 31,     [VMIN] = 1,
		[VSTART] = 'Q' & 31,   [VSTOP] = 'S' & 31,    [VSUSP] = 'Z' & 31,
		[VREPRINT] = 'R' & 31, [VDISCARD] = 'O' & 31, [VWERASE] = 'W' & 31,
		[VLNEXT] = 'V' & 31,
	};

	memset(line, 0, sizeof(*line));
	line->termios.c_iflag = ICRNL | IXON | IUTF8;
	line->termios.c_oflag = OPOST | ONLCR;
	line->termios.c_cflag = B115200 | CS8 | CREAD | HUPCL | CLOCAL;
	line->termios.c_lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN;
	memcpy(line->termios.c_cc, characters, sizeof(characters));
	line->emit = emit;
}
