/*
 * termios.h - Linux's numbers for terminals (asm-generic/termbits.h, ioctls.h), which programs are
 * compiled with, and its struct termios as the ioctls copy it. Only what the line discipline does;
 * the settings of a line (speed, parity, breaks) are kept for the program and mean nothing.
 */
#pragma once

#include "kernel/core/types.h"

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

/* c_iflag */
#define INLCR 0x40
#define IGNCR 0x80
#define ICRNL 0x100
#define IXON 0x400
#define IMAXBEL 0x2000
#define IUTF8 0x4000
#define IFLAG_MISSING 0xa20 /* ISTRIP, IUCLC, IXANY: read back as off */

/* c_oflag: all others read back as off */
#define OPOST 0x01
#define ONLCR 0x04

/* c_cflag: B115200 CS8 CREAD HUPCL CLOCAL */
#define CFLAG_DEFAULT (0x1002 | 0x30 | 0x80 | 0x400 | 0x800)

/* c_lflag */
#define ISIG 0x01
#define ICANON 0x02
#define ECHO 0x08
#define ECHOE 0x10
#define ECHOK 0x20
#define ECHONL 0x40
#define NOFLSH 0x80
#define TOSTOP 0x100
#define ECHOCTL 0x200
#define ECHOKE 0x800
#define IEXTEN 0x8000
#define LFLAG_MISSING 0x15404 /* XCASE, ECHOPRT, FLUSHO, PENDIN, EXTPROC */

/* ioctl commands; between TCSETS and TCSETSF lies TCSETSW */
#define TCGETS 0x5401
#define TCSETS 0x5402
#define TCSETSF 0x5404
#define TCSBRK 0x5409
#define TCXONC 0x540a
#define TCFLSH 0x540b
#define TIOCSCTTY 0x540e
#define TIOCGPGRP 0x540f
#define TIOCSPGRP 0x5410
#define TIOCOUTQ 0x5411
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define TIOCNOTTY 0x5422
#define TIOCGETD 0x5424
#define TCSBRKP 0x5425
#define TIOCGSID 0x5429
#define TCGETS2 0x802c542a
#define TCSETS2 0x402c542b
#define TCSETSF2 0x402c542d

/* TCFLSH and TCXONC arguments */
enum { TCIFLUSH, TCOFLUSH, TCIOFLUSH };
enum { TCOOFF, TCOON, TCIOFF, TCION };
