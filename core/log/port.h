/*
 * port.h - where the kernel's own text goes: to the person (the console) and to the program that
 * started the machine (the control port). The driver that has the lines sets log_port_write.
 */
#pragma once

#include "core/base/types.h"

enum log_line { CONSOLE, CONTROL };

/* Write. Called with the console's or the records' lock held and interrupts off. The driver sets it
 * before anything is said (kernel_main()). */
typedef void log_port_t(enum log_line line, const char *text, size_t length);
extern log_port_t *log_port_write;
