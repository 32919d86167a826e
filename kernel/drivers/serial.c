/*
 * serial.c - the serial ports: 16550 UARTs. COM1 carries the console, COM2 the control port.
 *
 * Output is polled: one look at the line status when the transmit FIFO may be full, then a burst of
 * 16 bytes. There is no transmit interrupt: a virtual UART takes bytes at once, and a burst costs
 * fewer instructions than an interrupt. core/log calls us with the console's or the records' lock
 * held, the terminal with its own, so ports need none.
 *
 * Input of the console is left in the UART until somebody has room for it: the terminal
 * (kernel/tty), which asks to be told of its interrupt. The UART keeps its edge-triggered line up
 * while it holds anything.
 */
#include <arch/io.h>

#include "core/kernel.h"
#include "core/log/port.h"
#include "kernel/drivers/drivers.h"

#define COM1 0x3f8
#define COM1_IRQ 4
#define COM2 0x2f8

static u16 ports[2]; /* of enum log_line; 0: there is no UART */

/* Registers and their bits: National Semiconductor PC16550D data sheet, table 2. */
enum { UART_DATA, INTERRUPT_ENABLE, FIFO_CONTROL, LINE_CONTROL, MODEM_CONTROL, UART_LINE_STATUS };
enum { UART_SCRATCH = 7 };
enum { IER_RECEIVE = 0x01, FCR_ENABLE_AND_CLEAR = 0x07, LCR_8N1 = 0x03, LCR_DIVISOR = 0x80 };
enum { MCR_DTR_RTS_OUT2 = 0x0b, LSR_DATA_READY = 0x01, LSR_TRANSMIT_EMPTY = 0x20 };

#define FIFO_BYTES 16
#define POLLS_MAX 10000000 /* then the byte is lost: a wedged UART must not wedge the kernel */

static void serial_write(enum log_line line, const char *text, size_t length)
{
	u16 port = ports[line];

	while (port && length) {
		size_t burst = min_t(size_t, length, FIFO_BYTES);
		unsigned polls = 0;

		while (!(inb(port + UART_LINE_STATUS) & LSR_TRANSMIT_EMPTY) && ++polls < POLLS_MAX)
			cpu_relax();
		length -= burst;
		outsb(port + UART_DATA, text, burst);
		text += burst;
	}
}

/* 115200 baud, 8 bits, no parity. @port, or 0 if there is no UART. */
static u16 serial_setup(u16 port)
{
	outb(0x5a, port + UART_SCRATCH);
	if (inb(port + UART_SCRATCH) != 0x5a)
		return 0;
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_DIVISOR | LCR_8N1, port + LINE_CONTROL);
	outb(1, port + UART_DATA);
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_8N1, port + LINE_CONTROL);
	outb(FCR_ENABLE_AND_CLEAR, port + FIFO_CONTROL);
	outb(MCR_DTR_RTS_OUT2, port + MODEM_CONTROL);
	return port;
}

void serial_early_init(void)
{
	ports[CONSOLE] = serial_setup(COM1);
	ports[CONTROL] = serial_setup(COM2);
	log_port_write = serial_write;
}

bool serial_read(u8 *c)
{
	if (!ports[CONSOLE] || !(inb(COM1 + UART_LINE_STATUS) & LSR_DATA_READY))
		return false;
	*c = inb(COM1 + UART_DATA);
	return true;
}

void serial_on_input(void (*arrived)(void *unused))
{
	irq_request_isa(COM1_IRQ, arrived, NULL);
	outb(IER_RECEIVE, COM1 + INTERRUPT_ENABLE);
}
