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
 * The guest rings by `pushq %rax; outb %al, $0xf4`. An answer is what is in the mailbox then, and
 * the next operation is there only afterwards: nobody works ahead. The first ring is the machine's
 * own, before anything of the submission has run. All others have to come from the same place, with
 * the stack as deep as then: so an operation ends only when all that was called for it has
 * returned, and none of its work is left for the next ones to pay. For the same reason nobody may
 * change the machine's code or its pages, or do what is no business of a table's (ordinary.h).
 *
 * For each operation the objects are counted of which something was read or written: what a table
 * says of its steps is held against that.
 *
 * Instructions are counted by translated block as it is entered. Memory is counted in lines that
 * were read or written since the table was created, without those of the objects that it was given.
 */
#include "ordinary.h"
#include "watched.h"

/* Thousands are many for one operation, and ten millions for a hundred thousand operations. */
#define MOST_INSTRUCTIONS 20000000
#define MOST_IN_ALL 200000000
#define OF_THE_LOOP 6 /* instructions between two rings that are no operation's: serve() */

/* Beside enum end; lab 5 has those from 31 on. */
enum end_of_table { END_RINGS = 41, END_CHANGES, END_UNUSUAL };

struct seen {
	uint64_t answer;
	uint32_t instructions, steps, compares, lines;
	uint32_t objects, unused; /* how many were looked at in this operation */
};

static uint64_t executed; /* instructions since the last operation was handed over */
static uint64_t before;	  /* and before that */
static uint32_t lines, rings, objects, operation;
static uint32_t last_use[(GUEST_MEMORY - OBJECTS) / LINE]; /* of an object: its operation */
static uint8_t used[GUEST_MEMORY / LINE];
static struct kept kept;	  /* after the first ring */
static uint64_t bell, bell_stack; /* where the machine rings, and where it pushes before that */
static uint64_t pushed_before, pushed_to; /* the last pushq %rax since then */

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
		.instructions = (uint32_t)executed - OF_THE_LOOP,
		.steps = mailbox->steps,
		.compares = mailbox->compares,
		.lines = lines,
		.objects = objects,
	};

	if (mailbox->stopped)
		end(END_STOPPED + (int)(mailbox->stopped % 8));
	fwrite(&seen, sizeof(seen), 1, stdout);
}

/* Is it the machine that rings, and is nothing of the submission still under way? */
static bool is_machine(uint64_t here)
{
	bool pushed = pushed_before == here;

	pushed_before = 0;
	if (!bell) {
		bell = here;
		bell_stack = pushed_to;
	}
	return pushed && here == bell && pushed_to == bell_stack;
}

static void rung(unsigned int cpu, void *here)
{
	struct mailbox *mailbox;
	struct asked next;

	(void)cpu;
	if (!ram)
		map_ram();
	mailbox = (struct mailbox *)(ram + MAILBOX);
	if (!mailbox->stopped && !is_machine((uintptr_t)here))
		end(END_RINGS);
	if (rings || mailbox->stopped)
		write_down(mailbox);
	else
		kept = mailbox->kept;
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
	operation++;
	objects = 0;
	before += executed;
	executed = 0;
}

static void pushes(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *next)
{
	(void)cpu;
	(void)info;
	pushed_before = (uintptr_t)next;
	pushed_to = address;
}

static void is_unusual(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (rings)
		end(END_UNUSUAL);
}

static void touched(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);
	uint64_t at;

	(void)cpu;
	(void)data;
	if (qemu_plugin_mem_is_store(info) &&
	    is_kept(&kept, address, 1u << qemu_plugin_mem_size_shift(info)))
		end(END_CHANGES);
	if (!physical || qemu_plugin_hwaddr_is_io(physical))
		return;
	at = qemu_plugin_hwaddr_phys_addr(physical) / LINE;
	if (at < sizeof(used) && !used[at]) {
		used[at] = 1;
		lines++;
	}
	if (at < OBJECTS / LINE || at >= sizeof(used))
		return;
	objects += last_use[at - OBJECTS / LINE] < operation;
	last_use[at - OBJECTS / LINE] = operation;
}

static void see_memory(struct qemu_plugin_insn *one, accessed_t function, void *data)
{
	qemu_plugin_register_vcpu_mem_cb(one, function, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
					 data);
}

static void watch(struct qemu_plugin_insn *instruction)
{
	struct bytes bytes = bytes_of(instruction);
	const uintptr_t here = qemu_plugin_insn_vaddr(instruction);

	if (bytes.size == 2 && bytes.byte[0] == 0xe6 && bytes.byte[1] == 0xf4)
		call_at(instruction, rung, (void *)here);
	else if (!is_ordinary(&bytes))
		call_at(instruction, is_unusual, NULL);
	if (is_halt(&bytes))
		call_at(instruction, halted, NULL);
	if (bytes.size == 1 && bytes.byte[0] == 0x50)
		see_memory(instruction, pushes, (void *)(here + 1));
	see_memory(instruction, touched, NULL);
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
