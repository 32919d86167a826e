/*
 * panic.c - the end after a broken invariant: say what, where, and how we came here, then leave the
 * machine with a status that no job's exit can be confused with.
 */
#include "core/kernel.h"

static u32 panic_owner; /* 1 + the CPU that panics */
const struct panic_machine *panic_machine;

const struct registers *panic_registers;

void panic(const char *format, ...)
{
	static char text[300], escaped[400];
	u32 nobody = 0;
	va_list arguments;

	arch_irq_disable();
	if (!try_cmpxchg(&panic_owner, &nobody, cpu_id() + 1)) {
		if (nobody == cpu_id() + 1) /* a panic while panicking: no second report */
			panic_machine->leave();
		for (;;) /* another CPU has the floor, and stops us */
			cpu_relax();
	}
	panic_machine->stop_others();
	panicking = true;
	va_start(arguments, format);
	vscnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printk(KERN_EMERG "Kernel panic: %s\n", text);
	json_escape(escaped, sizeof(escaped), text, strlen(text));
	control_recordf("panic", "{\"message\":\"%s\",\"cpu\":%u}", escaped, cpu_id());
	if (current)
		printk(KERN_EMERG "CPU %u, task %d (%s)\n", cpu_id(), current->pid, current->comm);
	panic_machine->backtrace(panic_registers);
	control_end();
	panic_machine->leave();
}

void assert_failed(const char *what, const char *file, int line, const char *function)
{
	panic("assertion failed: %s (%s:%d, %s)", what, file, line, function);
}
