/*
 * serial.c - 16550 UARTs: COM1 carries the console, COM2 the control port.
 *
 * Output is polled: one look at the line status when the transmit FIFO may be full, then a burst of
 * 16 bytes. There is no transmit interrupt: a virtual UART takes bytes at once, and a burst costs
 * fewer instructions than an interrupt. Callers hold the console lock (printk.c), the control
 * port's (export.c) or the terminal's, so ports need none.
 */
#include <arch/io.h>
#include <arch/irq.h>

#include "kernel/core/export.h"
#include "kernel/core/kernel.h"
#include "kernel/drivers/drivers.h"

#define COM1 0x3f8
#define COM1_IRQ 4
#define COM2 0x2f8

/* Registers and their bits: National Semiconductor PC16550D data sheet, table 2. */
enum { UART_DATA, INTERRUPT_ENABLE, FIFO_CONTROL, LINE_CONTROL, MODEM_CONTROL, UART_LINE_STATUS };
enum { UART_SCRATCH = 7 };
enum { IER_RECEIVE = 0x01, FCR_ENABLE_AND_CLEAR = 0x07, LCR_8N1 = 0x03, LCR_DIVISOR = 0x80 };
enum { MCR_DTR_RTS_OUT2 = 0x0b, LSR_DATA_READY = 0x01, LSR_TRANSMIT_EMPTY = 0x20 };

#define FIFO_BYTES 16
#define POLLS_MAX 10000000 /* then the byte is lost: a wedged UART must not wedge the kernel */

static void serial_write(u16 port, const char *text, size_t length)
{
	while (length) {
		size_t burst = min_t(size_t, length, FIFO_BYTES);
		unsigned polls = 0;

		while (!(inb(port + UART_LINE_STATUS) & LSR_TRANSMIT_EMPTY) && ++polls < POLLS_MAX)
			cpu_relax();
		length -= burst;
		outsb(port + UART_DATA, text, burst);
		text += burst;
	}
}

static void com1_write(const char *text, size_t length)
{
	serial_write(COM1, text, length);
}

static void com2_write(const char *text, size_t length)
{
	serial_write(COM2, text, length);
}

/* 115200 baud, 8 bits, no parity; false if there is no UART at @port. */
static bool serial_setup(u16 port)
{
	outb(0x5a, port + UART_SCRATCH);
	if (inb(port + UART_SCRATCH) != 0x5a)
		return false;
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_DIVISOR | LCR_8N1, port + LINE_CONTROL);
	outb(1, port + UART_DATA);
	outb(0, port + INTERRUPT_ENABLE);
	outb(LCR_8N1, port + LINE_CONTROL);
	outb(FCR_ENABLE_AND_CLEAR, port + FIFO_CONTROL);
	outb(MCR_DTR_RTS_OUT2, port + MODEM_CONTROL);
	return true;
}

void serial_early_init(void)
{
	if (serial_setup(COM1))
		console_output = com1_write;
	if (serial_setup(COM2))
		control_output = com2_write;
}

void serial_listen(void (*arrived)(void *unused))
{
	irq_request_isa(COM1_IRQ, arrived, NULL);
	outb(IER_RECEIVE, COM1 + INTERRUPT_ENABLE);
}

int serial_read(void)
{
	bool ready = console_output == com1_write && inb(COM1 + UART_LINE_STATUS) & LSR_DATA_READY;

	return ready ? inb(COM1 + UART_DATA) : -1;
}
