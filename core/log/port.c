/*
 * port.c - the driver behind the console and the control port. See port.h.
 */
#include "core/log/port.h"

static log_port_t *port; /* NULL: none yet */

void log_set_port(log_port_t *write)
{
	port = write;
}

void log_port_write(enum log_line line, const char *text, size_t length)
{
	if (port)
		port(line, text, length);
}
