/*
 * termios.h - Linux's numbers for terminals (asm-generic/termbits.h, ioctls.h), which programs are
 * compiled with, and its struct termios as the ioctls copy it. Only what the line discipline does;
 * the settings of a line (speed, parity, breaks) are kept for the program and mean nothing.
 */
#pragma once

#include "kernel/core/kernel.h"

#define NCCS 19

struct ktermios {
	u32 c_iflag, c_oflag, c_cflag, c_lflag;
	u8 c_line;
	u8 c_cc[NCCS];
};
_Static_assert(sizeof(struct ktermios) == 36, "struct termios of the Linux ABI");

/* With the speeds as numbers (TCGETS2 ...), as newer C libraries ask for it. */
struct ktermios2 {
	struct ktermios termios;
	u32 c_ispeed, c_ospeed;
};
_Static_assert(sizeof(struct ktermios2) == 44, "struct termios2 of the Linux ABI");
#define LINE_SPEED 115200 /* what a virtual line runs at is nobody's choice */

struct winsize {
	u16 ws_row, ws_col, ws_xpixel, ws_ypixel;
};

/* c_cc; the characters after VSTART are those of Linux: 0 is off */
enum { VINTR, VQUIT, VERASE, VKILL, VEOF, VTIME, VMIN, VSTART = 8, VSTOP, VSUSP, VEOL, VREPRINT };
enum { VWERASE = 14, VLNEXT, VEOL2 };
#define VDISABLED 0

/* c_iflag; missing are ISTRIP, IUCLC and IXANY, which read back as off */
enum { INLCR = 0x40, IGNCR = 0x80, ICRNL = 0x100, IXON = 0x400, IMAXBEL = 0x2000, IUTF8 = 0x4000 };
#define IFLAG_MISSING 0xa20u

/* c_oflag: all others read back as off */
enum { OPOST = 1, ONLCR = 4 };

/* c_cflag: B115200 CS8 CREAD HUPCL CLOCAL */
#define CFLAG_DEFAULT (0x1002 | 0x30 | 0x80 | 0x400 | 0x800)

/* c_lflag; missing are XCASE, ECHOPRT, FLUSHO, PENDIN and EXTPROC */
enum { ISIG = 1, ICANON = 2, ECHO = 8, ECHOE = 0x10, ECHOK = 0x20, ECHONL = 0x40, NOFLSH = 0x80 };
enum { TOSTOP = 0x100, ECHOCTL = 0x200, ECHOKE = 0x800, IEXTEN = 0x8000 };
#define LFLAG_MISSING 0x15404u

/* ioctl commands; between TCSETS and TCSETSF lies TCSETSW */
enum { TCGETS = 0x5401, TCSETS, TCSETSF = 0x5404, TCSBRK = 0x5409, TCXONC, TCFLSH };
enum { TIOCSCTTY = 0x540e, TIOCGPGRP, TIOCSPGRP, TIOCOUTQ, TIOCGWINSZ = 0x5413, TIOCSWINSZ };
enum { TIOCNOTTY = 0x5422, TIOCGETD = 0x5424, TCSBRKP, TIOCGSID = 0x5429 };
#define TCGETS2 0x802c542a
#define TCSETS2 0x402c542b
#define TCSETSF2 0x402c542d

/* TCFLSH and TCXONC arguments */
enum { TCIFLUSH, TCOFLUSH, TCIOFLUSH };
enum { TCOOFF, TCOON, TCIOFF, TCION };
