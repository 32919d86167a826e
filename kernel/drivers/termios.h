/*
 * termios.h - Linux's numbers for terminals (asm-generic/termbits.h, ioctls.h), which programs are
 * compiled with, and its struct termios as the ioctls copy it. Only what the line discipline does;
 * the settings of a line (speed, parity, breaks) are kept for the program and mean nothing.
 */
#pragma once

#include "kernel/core/types.h"

#define NCCS 19

struct termios {
	u32 c_iflag, c_oflag, c_cflag, c_lflag;
	u8 c_line;
	u8 c_cc[NCCS];
};
_Static_assert(sizeof(struct termios) == 36, "Linux's struct termios");

struct winsize {
	u16 ws_row, ws_col, ws_xpixel, ws_ypixel;
};

/* c_cc; a character that is 0 is off */
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSTART = 8, VSTOP, VSUSP, VEOL, VREPRINT };
enum { VWERASE = 14, VLNEXT, VEOL2 };

/* c_iflag; missing are ISTRIP, INLCR, IGNCR, IUCLC and IXANY, which read back as off */
enum { ICRNL = 0x100, IXON = 0x400, IMAXBEL = 0x2000, IUTF8 = 0x4000 };
#define IFLAG_MISSING 0xae0u

/* c_oflag: all others read back as off */
enum { OPOST = 1, ONLCR = 4 };

/* c_cflag: B115200 CS8 CREAD HUPCL CLOCAL; what a virtual line runs at is nobody's choice */
#define CFLAG_DEFAULT (0x1002 | 0x30 | 0x80 | 0x400 | 0x800)

/* c_lflag, likewise, but that what is erased always vanishes from the screen */
enum { ISIG = 1, ICANON = 2, ECHO = 8, ECHOE = 0x10, ECHOK = 0x20, ECHONL = 0x40, NOFLSH = 0x80 };
enum { TOSTOP = 0x100, ECHOCTL = 0x200, ECHOKE = 0x800, IEXTEN = 0x8000 };
#define LFLAG_ALWAYS (ECHOE | ECHOK | ECHOKE)
#define LFLAG_DONE (ISIG | ICANON | ECHO | ECHONL | NOFLSH | TOSTOP | ECHOCTL | IEXTEN)

/* ioctl commands; between TCSETS and TCSETSF lies TCSETSW */
enum { TCGETS = 0x5401, TCSETS, TCSETSF = 0x5404, TCSBRK = 0x5409, TCFLSH = 0x540b };
enum { TIOCSCTTY = 0x540e, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ = 0x5413, TIOCSWINSZ };
enum { TIOCNOTTY = 0x5422, TIOCGSID = 0x5429 };

enum { TCIFLUSH, TCOFLUSH, TCIOFLUSH }; /* of TCFLSH */
