/*
 * counts.c - a plugin for QEMU: how many instructions the guest executes for each question of
 * asker.c, and beside. lab/grade/paths/machine.py reads it.
 *
 * Argument: out=FILE. Between region_start() and region_stop() lies a question. For each one FILE
 * has two numbers of 32 bits, little-endian: its instructions; and its tag, which is where the
 * program writes behind the mark (12 bits), and how often region_done() was executed before it
 * began (10 bits) and before it ended (10 bits). At last come those of all that lay beside from the
 * first question on to the last, in thousands, or 2^32 - 1, if marks came that are not the
 * program's; and 0. Instructions are counted by translated block as it is entered: what a question
 * takes is known to within a few.
 *
 * Each CPU is counted by itself; QEMU runs them in turn, in one thread. A program that changes its
 * CPU within a question, or leaves it to another, is rare: such a question is left out, or counts
 * for more than it took. What lies beside is known with one CPU alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../../run/qemu/instruction.h"

extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
					   void (*callback)(qemu_plugin_id_t id, void *data),
					   void *data);

enum { MARKS = 0x1ff00, START = 0, STOP, PAUSE, NR_MARKS };
enum { MOST_CPUS = 16, NO_TAG = 0xfff };

static struct cpu {
	uint64_t executed, at_start;
	uint32_t tag, pauses; /* of the question that it is in */
	bool within;
} cpus[MOST_CPUS];
static uint64_t beside, at_stop;
static uint64_t places[NR_MARKS]; /* where the program has its marks */
static uint32_t pauses;		  /* PAUSE marks until now */
static bool asked, odd, several;
static FILE *out;

/* What a mark's callback is given. */
struct mark {
	uint64_t place;
	unsigned which;
};

static void count(unsigned int cpu, void *number)
{
	if (cpu >= MOST_CPUS)
		abort();
	several |= cpu > 0;
	cpus[cpu].executed += (uintptr_t)number;
}

static void put(uint64_t value)
{
	uint32_t word = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;

	fwrite(&word, sizeof(word), 1, out);
}

/* Each comes from one place of the program; with one CPU a question begins when none is there, and
 * ends when one is. */
static bool is_odd(const struct mark *mark, bool within)
{
	uint64_t *place = &places[mark->which];

	if (!*place)
		*place = mark->place;
	if (*place != mark->place || mark->place >> 47)
		return true;
	return !several && mark->which != PAUSE && within != (mark->which == STOP);
}

static void begin(struct cpu *cpu)
{
	if (asked && !several)
		beside += cpu->executed - at_stop;
	asked = true;
	cpu->within = true;
	cpu->tag = NO_TAG;
	cpu->pauses = pauses;
	cpu->at_start = cpu->executed;
}

static void end(struct cpu *cpu)
{
	if (!cpu->within)
		return;
	put(cpu->executed - cpu->at_start);
	put(cpu->tag | (cpu->pauses & 1023) << 12 | (pauses & 1023) << 22);
	at_stop = cpu->executed;
	cpu->within = false;
}

static void marked(unsigned int number, void *data)
{
	const struct mark *mark = data;
	struct cpu *cpu = &cpus[number];

	odd |= is_odd(mark, cpu->within);
	if (mark->which == START)
		begin(cpu);
	else if (mark->which == STOP)
		end(cpu);
	else
		pauses++;
}

static void tagged(unsigned int number, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)info;
	(void)data;
	cpus[number].tag = address & NO_TAG;
}

/* @next: the instruction behind it, or NULL. */
static void watch(struct qemu_plugin_insn *instruction, struct qemu_plugin_insn *next)
{
	uint32_t which = region_mark_of(instruction) - MARKS;
	struct mark *mark;

	if (which >= NR_MARKS)
		return;
	mark = malloc(sizeof(*mark)); /* for good: there are not many */
	if (!mark)
		abort();
	*mark = (struct mark){qemu_plugin_insn_vaddr(instruction), which};
	qemu_plugin_register_vcpu_insn_exec_cb(instruction, marked, QEMU_PLUGIN_CB_NO_REGS, mark);
	if (which == START && next)
		qemu_plugin_register_vcpu_mem_cb(next, tagged, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_W, NULL);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t number = qemu_plugin_tb_n_insns(block);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, count, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)number);
	for (size_t i = 0; i < number; i++)
		watch(qemu_plugin_tb_get_insn(block, i),
		      i + 1 < number ? qemu_plugin_tb_get_insn(block, i + 1) : NULL);
}

static void ended(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	put(odd ? UINT32_MAX : beside / 1000);
	put(0);
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
