/*
 * port.h - where the kernel's own text goes: to the person (the console) and to the program that
 * started the machine (the control port). The driver that has the lines registers itself.
 */
#pragma once

#include "core/base/types.h"

enum log_line { CONSOLE, CONTROL };

/* Write; to nowhere, if there is no such port. Called with the console's or the records' lock held
 * and interrupts off. */
typedef void log_port_t(enum log_line line, const char *text, size_t length);

/* From now on by @write; what came before is in the log only. */
void log_set_port(log_port_t *write);
log_port_t log_port_write;
