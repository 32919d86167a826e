/*
 * counts.c - a plugin for QEMU: how many instructions the guest executes for each question of
 * asker.c, and beside. lab/grade/paths/machine.py reads it.
 *
 * Argument: out=FILE. Between region_start() and region_stop() lies a question. For each one FILE
 * has a number of 32 bits, little-endian: its instructions; and, as the last one, those of all that
 * lay beside from the first question on to the last, in thousands; or 2^32 - 1, if marks came that
 * are not the program's. Instructions are counted by translated block as it is entered: what a
 * question takes is known to within a few. One CPU.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../run/qemu/instruction.h"

extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
					   void (*callback)(qemu_plugin_id_t id, void *data),
					   void *data);

enum { START = 0x1ff00, STOP = 0x1ff01 };

static uint64_t executed, at_start, beside, at_stop;
static uint64_t places[2]; /* where the program has its two marks */
static bool asked, within, odd;
static FILE *out;

/* What a mark's callback is given. */
struct mark {
	uint64_t place;
	bool stop;
};

static void count(unsigned int cpu, void *number)
{
	(void)cpu;
	executed += (uintptr_t)number;
}

static void put(uint64_t value)
{
	uint32_t word = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;

	fwrite(&word, sizeof(word), 1, out);
}

/* The two come in turn, and each from one place of the program. */
static bool is_odd(const struct mark *mark)
{
	uint64_t *place = &places[mark->stop];

	if (!*place)
		*place = mark->place;
	return within != mark->stop || *place != mark->place || mark->place >> 47;
}

static void marked(unsigned int cpu, void *data)
{
	const struct mark *mark = data;

	(void)cpu;
	odd |= is_odd(mark);
	within = !mark->stop;
	if (mark->stop) {
		put(executed - at_start);
		at_stop = executed;
		return;
	}
	if (asked)
		beside += executed - at_stop;
	asked = true;
	at_start = executed;
}

static void watch(struct qemu_plugin_insn *instruction)
{
	uint32_t number = region_mark_of(instruction);
	struct mark *mark;

	if (number != START && number != STOP)
		return;
	mark = malloc(sizeof(*mark)); /* for good: there are not many */
	if (!mark)
		abort();
	*mark = (struct mark){qemu_plugin_insn_vaddr(instruction), number == STOP};
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, marked, QEMU_PLUGIN_CB_NO_REGS, mark);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t number = qemu_plugin_tb_n_insns(block);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, count, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)number);
	for (size_t i = 0; i < number; i++)
		watch(qemu_plugin_tb_get_insn(block, i));
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	put(odd ? UINT32_MAX : beside / 1000);
	fclose(out);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "wb");
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
