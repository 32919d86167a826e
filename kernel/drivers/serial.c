/*
 * serial.c - 16550 UARTs: COM1 carries the console, COM2 the control port.
 *
 * Output is polled: one look at the line status when the transmit FIFO may be full, then a burst of
 * 16 bytes. There is no transmit interrupt: a virtual UART takes bytes at once, and a burst costs
 * fewer instructions than an interrupt. Input of COM1 comes by interrupt and goes to the terminal.
 * Callers hold the console lock (printk.c) or the control port's (export.c), so ports need none.
 */
#include "kernel/core/export.h"
#include "kernel/drivers/drivers.h"
#include "kernel/drivers/tty.h"

#include <arch/io.h>
#include <arch/irq.h>

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

static bool com1_present;

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
	com1_present = serial_setup(COM1);
	if (com1_present)
		console_output = com1_write;
	if (serial_setup(COM2))
		control_output = com2_write;
}

/* Both the interrupt and a reader that made room take bytes from the UART: in turn, to keep their
 * order. */
static DEFINE_SPINLOCK(com1_input_lock);

/*
 * Take what the UART holds, as long as the terminal has room. A UART that is left full keeps its
 * interrupt line up, and since the line is edge-triggered there is no further interrupt: the sender
 * has to wait, until the terminal calls this again.
 */
static void com1_drain(void *unused)
{
	unsigned long flags;

	spin_lock_irqsave(&com1_input_lock, flags);
	while ((inb(COM1 + UART_LINE_STATUS) & LSR_DATA_READY) && !tty_throttled(&console_tty))
		tty_receive(&console_tty, inb(COM1 + UART_DATA));
	spin_unlock_irqrestore(&com1_input_lock, flags);
}

void serial_init(void)
{
	int error;

	if (!com1_present)
		return;
	error = irq_request_isa(COM1_IRQ, com1_drain, NULL);
	if (error) {
		pr_err("serial: no interrupt (%d): the console takes no input\n", error);
		return;
	}
	console_tty.resume_input = com1_drain;
	outb(IER_RECEIVE, COM1 + INTERRUPT_ENABLE);
	com1_drain(NULL); /* what was typed before: its edge is past */
}
