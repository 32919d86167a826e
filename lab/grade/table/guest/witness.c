/*
 * witness.c - a plugin for QEMU: it hands the guest one operation after the other and writes down
 * what comes back, with what the guest cannot know or change: how many instructions it took, and
 * how much memory it has used so far. lab/grade/table/machine.py reads it.
 *
 * Argument: ram=FILE, the guest's memory, which the plugin maps as well. Operations (struct asked)
 * come on standard input; for each answer a struct seen goes to standard output. When there are no
 * more the machine ends, with status 0. So it does if the guest resets it; other ends: enum end
 * (watched.h).
 *
 * The guest rings by `outb %al, $0xf4`, wherever that stands. An answer is what is in the mailbox
 * then, and the next operation is there only afterwards: nobody works ahead. Instructions are
 * counted by translated block as it is entered. Memory is counted in lines that were read or
 * written since the table was created, without those of the objects that it was given.
 */
#include "watched.h"

/* Thousands are many for one operation, and ten millions for a hundred thousand operations. */
#define MOST_INSTRUCTIONS 20000000
#define MOST_IN_ALL 200000000

struct seen {
	uint64_t answer;
	uint32_t instructions, steps, compares, lines;
};

static uint64_t executed; /* instructions since the last operation was handed over */
static uint64_t before;	  /* and before that */
static uint32_t lines, rings;
static uint8_t used[GUEST_MEMORY / LINE];

static void count(unsigned int cpu, void *number)
{
	(void)cpu;
	executed += (uintptr_t)number;
	if (executed > MOST_INSTRUCTIONS || before + executed > MOST_IN_ALL)
		end(END_ENDLESS);
}

static void write_down(const struct mailbox *mailbox)
{
	struct seen seen = {
		.answer = mailbox->answer,
		.instructions = (uint32_t)executed,
		.steps = mailbox->steps,
		.compares = mailbox->compares,
		.lines = lines,
	};

	if (mailbox->stopped)
		end(END_STOPPED + (int)(mailbox->stopped % 8));
	fwrite(&seen, sizeof(seen), 1, stdout);
}

static void rung(unsigned int cpu, void *data)
{
	struct mailbox *mailbox;
	struct asked next;

	(void)cpu;
	(void)data;
	if (!ram)
		map_ram();
	mailbox = (struct mailbox *)(ram + MAILBOX);
	if (rings || mailbox->stopped)
		write_down(mailbox);
	if (rings == 1) { /* the table is there: its memory counts from now on */
		memset(used, 0, sizeof(used));
		lines = 0;
	}
	rings += rings < 2;
	if (fread(&next, sizeof(next), 1, stdin) != 1)
		end(0);
	mailbox->asked = next;
	if (next.kind == ASK_INSERT && next.object < GUEST_MEMORY)
		used[next.object / LINE] = 1;
	before += executed;
	executed = 0;
}

static void touched(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);
	uint64_t at;

	(void)cpu;
	(void)data;
	if (!physical || qemu_plugin_hwaddr_is_io(physical))
		return;
	at = qemu_plugin_hwaddr_phys_addr(physical) / LINE;
	if (at < sizeof(used) && !used[at]) {
		used[at] = 1;
		lines++;
	}
}

static void watch(struct qemu_plugin_insn *instruction)
{
	struct bytes bytes = bytes_of(instruction);

	if (bytes.size == 2 && bytes.byte[0] == 0xe6 && bytes.byte[1] == 0xf4)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, rung, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (is_halt(&bytes))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, halted, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, touched, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, NULL);
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

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	return watch_guest(id, argc, argv, translated);
}
