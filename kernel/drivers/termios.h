/*
 * termios.h - Linux's numbers for terminals (asm-generic/termbits.h, ioctls.h), which programs are
 * compiled with, and its struct termios as the ioctls copy it.
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

/* c_cc */
#define VINTR 0
#define VQUIT 1
#define VERASE 2
#define VKILL 3
#define VEOF 4
#define VTIME 5
#define VMIN 6
#define VSWTC 7
#define VSTART 8
#define VSTOP 9
#define VSUSP 10
#define VEOL 11
#define VREPRINT 12
#define VDISCARD 13
#define VWERASE 14
#define VLNEXT 15
#define VEOL2 16
#define VDISABLED 0 /* a character of this value is off */

/* c_iflag */
#define ISTRIP 0x20
#define INLCR 0x40
#define IGNCR 0x80
#define ICRNL 0x100
#define IUCLC 0x200
#define IXON 0x400
#define IXANY 0x800
#define IMAXBEL 0x2000
#define IUTF8 0x4000

/* c_oflag */
#define OPOST 0x01
#define OLCUC 0x02
#define ONLCR 0x04
#define OCRNL 0x08
#define ONOCR 0x10
#define ONLRET 0x20
#define TABDLY 0x1800
#define TAB3 0x1800 /* tabs to spaces */

/* c_cflag */
#define B115200 0x1002
#define CS8 0x30
#define CREAD 0x80
#define HUPCL 0x400
#define CLOCAL 0x800

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

/* ioctl commands */
#define TCGETS 0x5401
#define TCSETS 0x5402
#define TCSETSW 0x5403
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
#define TCSETSW2 0x402c542c
#define TCSETSF2 0x402c542d

/* TCFLSH, TCXONC arguments */
#define TCIFLUSH 0
#define TCOFLUSH 1
#define TCIOFLUSH 2
#define TCOOFF 0
#define TCOON 1
#define TCIOFF 2
#define TCION 3
