/*
 * line.c - the line discipline (termios(3)): what becomes of a character that is typed, and of text
 * that is written.
 *
 * The order of tests on an arriving character is that of Linux's n_tty: mapping, literal next, flow
 * control, signals, then editing or plain input. Not done: other ends of a line than a newline
 * (VEOL, VEOL2), ISTRIP, INLCR, IGNCR, mapping of case, ECHOPRT, parity and break handling, delays,
 * and of output mapping all but ONLCR; those flags read back as off, and ECHOE, ECHOK and ECHOKE as
 * on.
 *
 * All but tty_drain() is under tty_lock.
 */
#include "hash/cache.h"
#include "kernel/drivers/drivers.h"
#include "kernel/proc/process.h"
#include "kernel/tty/terminal.h"

#define KEY_STATUS 0x14 /* ^T: not in termios of Linux, which lacks VSTATUS */

DEFINE_WAIT_QUEUE(tty_wait);
DEFINE_SPINLOCK(tty_lock);
struct terminal tty = {
	.termios =
		{
			.c_iflag = ICRNL | IXON | IUTF8,
			.c_oflag = OPOST | ONLCR,
			.c_cflag = CFLAG_DEFAULT,
			.c_lflag = ISIG | ICANON | ECHO | ECHOCTL | IEXTEN | LFLAG_ALWAYS,
			.c_cc = "\003\034\177\025\004\0\1\0\021\023\032\0\022\017\027\026",
		},
};

static inline u8 char_at(u32 position)
{
	return (u8)tty.buffer[position % TTY_BUFFER];
}

static inline bool is_control(u8 c)
{
	return (c < ' ' && c != '\t') || c == 0x7f;
}

static inline bool is_continuation(u8 c)
{
	return I_FLAG(IUTF8) && (c & 0xc0) == 0x80;
}

/* Of letters beyond ASCII all are part of a word. */
static inline bool is_word(u8 c)
{
	u8 lower = c | 0x20;

	return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z') || c == '_' || c >= 0x80;
}

/* ---- output and echo ------------------------------------------------------------------------- */

void tty_output(const char *text, size_t length)
{
	u32 both = OPOST | ONLCR;

	lockdep_assert_held(&tty_lock);
	console_write(text, length, (tty.termios.c_oflag & both) == both ? AS_LINES : AS_IT_IS);
}

/* A character of the line; a newline here does not end one. */
static void echo(u8 c)
{
	const char pair[2] = {'^', (char)(c ^ 0x40)};

	lockdep_assert_held(&tty_lock);
	if (!L_FLAG(ECHO))
		return;
	if (L_FLAG(ECHOCTL) && is_control(c))
		tty_output(pair, sizeof(pair));
	else
		tty_output((const char *)&c, 1);
}

/* ---- editing --------------------------------------------------------------------------------- */

/* The line on a new line of the screen. */
static void reprint(void)
{
	lockdep_assert_held(&tty_lock);
	tty_output("\n", 1);
	for (u32 at = tty.canonical; at != tty.head; at++)
		echo(char_at(at));
}

/* VERASE: the last character; VWERASE: back over what is no word, then over the word; VKILL: all.
 * A tab's width is not known, so then the line is printed again. */
static void erase(unsigned key)
{
	bool in_word = false, tab = false;

	lockdep_assert_held(&tty_lock);
	while (tty.head != tty.canonical) {
		u32 at = tty.head - 1; /* where the last character begins, all bytes of it */

		while (at != tty.canonical && is_continuation(char_at(at)))
			at--;
		u8 c = char_at(at);
		bool word = is_word(c);

		if (is_continuation(c) || (key == VWERASE && in_word && !word))
			break;
		in_word |= word;
		tab |= c == '\t';
		tty.head = at;
		if (L_FLAG(ECHO) && c != '\t') {
			tty_output("\b \b", 3);
			if (is_control(c) && L_FLAG(ECHOCTL)) /* shown as two */
				tty_output("\b \b", 3);
		}
		if (key == VERASE)
			break;
	}
	if (L_FLAG(ECHO) && tab)
		reprint();
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Is there room? One place is kept for the end of the line. */
static bool put(unsigned c)
{
	u32 room = TTY_BUFFER - (tty.head - tty.tail);

	lockdep_assert_held(&tty_lock);
	if (room == 0 || (room == 1 && !(c & TTY_LINE_END)))
		return false;
	tty.buffer[tty.head++ % TTY_BUFFER] = (u16)c;
	if (c & TTY_LINE_END || !L_FLAG(ICANON))
		tty.canonical = tty.head;
	return true;
}

void tty_flush_input(void)
{
	lockdep_assert_held(&tty_lock);
	tty.tail = tty.canonical = tty.head;
	tty.literal = false;
}

#define NEWLINE NCCS	  /* no character of c_cc, but a key all the same */
#define NO_KEY (NCCS + 1) /* an ordinary character */

/* Which control character @c is: the first of these whose flags are all on. */
static unsigned key_of(u8 c)
{
	static const struct {
		u8 key;
		u16 flags; /* local ones, and IXON, whose place among those LFLAG_DONE leaves off */
	} keys[] = {
		{VSTART, IXON},
		{VSTOP, IXON},
		{VINTR, ISIG},
		{VQUIT, ISIG},
		{VSUSP, ISIG},
		{VERASE, ICANON},
		{VKILL, ICANON},
		{VWERASE, ICANON | IEXTEN},
		{VREPRINT, ICANON | IEXTEN | ECHO},
		{VLNEXT, ICANON | IEXTEN},
		{VEOF, ICANON},
	};
	u32 off = ~(tty.termios.c_lflag | I_FLAG(IXON));

	lockdep_assert_held(&tty_lock);
	if (c == '\n' && L_FLAG(ICANON))
		return NEWLINE;
	for (unsigned i = 0; c && i < ARRAY_SIZE(keys); i++)
		if (c == tty.termios.c_cc[keys[i].key] && !(keys[i].flags & off))
			return keys[i].key;
	return NO_KEY;
}

/*
 * Does @c, ^T, ask for the caches' report? Where keys are signals, and at the prompt of the shell
 * that leads the session, whose line editor has turned them off. Any other program in the
 * foreground that has done so (an editor) gets the key.
 */
static bool is_status_key(u8 c)
{
	bool prompt = tty.session && tty.foreground == tty.session;

	lockdep_assert_held(&tty_lock);
	return c == KEY_STATUS && !tty.literal && (L_FLAG(ISIG) || prompt);
}

/* A key that is a signal to the foreground group. */
static void signal_key(u8 c, int signo)
{
	lockdep_assert_held(&tty_lock);
	tty.stopped = false;
	if (!L_FLAG(NOFLSH))
		tty_flush_input();
	echo(c);
	if (tty.foreground)
		signal_pgrp(tty.foreground, tty.session, signo);
}

/* An ordinary character; @enter: the key, mapped to a newline. */
static void receive_plain(u8 c, bool enter)
{
	lockdep_assert_held(&tty_lock);
	if (!put(c)) {
		if (I_FLAG(IMAXBEL))
			tty_output("\a", 1);
	} else if (enter && L_FLAG(ECHO)) {
		tty_output("\n", 1); /* without canonical mode, too, it shows as a new line */
	} else {
		echo(c);
	}
}

/* A character arrived. */
static void receive(u8 c)
{
	bool literal = tty.literal;
	bool enter = c == '\r' && I_FLAG(ICRNL) && !literal;
	unsigned key;

	lockdep_assert_held(&tty_lock);

	if (is_status_key(c)) {
		hash_report_request();
		return;
	}
	tty.literal = false;
	if (enter)
		c = '\n';
	key = literal ? NO_KEY : key_of(c);
	switch (key) {
	case VSTART:
	case VSTOP:
		tty.stopped = key == VSTOP;
		break;
	case VINTR:
		signal_key(c, SIGINT);
		break;
	case VQUIT:
		signal_key(c, SIGQUIT);
		break;
	case VSUSP:
		signal_key(c, SIGTSTP);
		break;
	case VERASE:
	case VKILL:
	case VWERASE:
		erase(key);
		break;
	case VREPRINT:
		echo(c);
		reprint();
		break;
	case VLNEXT:
		tty.literal = true;
		if (L_FLAG(ECHO) && L_FLAG(ECHOCTL))
			tty_output("^\b", 2);
		break;
	case NEWLINE:
		if (L_FLAG(ECHO | ECHONL))
			tty_output("\n", 1);
		put('\n' | TTY_LINE_END);
		break;
	case VEOF:
		put(TTY_END_OF_FILE | TTY_LINE_END);
		break;
	default:
		receive_plain(c, enter);
	}
}

/* A full buffer without a whole line would never be read, so then the line is cut instead. */
static bool has_room(void)
{
	return tty.head - tty.tail < TTY_BUFFER - 1 || tty.canonical == tty.tail;
}

void tty_drain(void *unused)
{
	u8 c;

	guard(spinlock_irqsave, &tty_lock);
	while (has_room() && serial_read(&c))
		receive(c);
	wake_up(&tty_wait);
}
