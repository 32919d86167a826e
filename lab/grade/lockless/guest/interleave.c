/*
 * interleave.c - a plugin for QEMU: the ring of interleavings for a table that nobody is to be
 * trusted with. It hands tasks their operations one by one, says after every instruction which
 * task goes on, and writes down when each operation began and ended and what came back; beside that
 * what no lookup may do. lab/grade/lockless/machine.py reads it.
 *
 * Argument: ram=FILE, the guest's memory. On standard input: the bits of the table, then programs
 * (struct program with its operations); each is run by many schedules. Records (struct seen) go to
 * standard output. The machine ends with status 0 when all was run; other ends: enum end
 * (watched.h), enum end_of_tasks.
 *
 * The guest's tasks run with the trap flag. Each instruction outside of contexts.S has to be
 * followed by contexts_step: who turns that off, or changes the machine's own memory, ends it. So
 * nothing is done between two points at which we choose.
 */
#include <stdlib.h>

#include "../../table/guest/ordinary.h"
#include "halves.h"
#include "lists.h"
#include "schedules.h"

#define MOST_INSTRUCTIONS 30000 /* of one operation, while nobody else does anything */
#define MOST_AT_FIRST 20000000	/* of creating a table */
#define MOST_OF_A_FIND 2000	/* the same of a lookup: a right one takes 200 */
#define MOST_IN_ALL 500000000
#define MOST_ROUNDS 1000 /* in which all who are inside of an operation wait */
#define MOST_FAULTS 4	 /* of a kind that are written down for a program */

static struct list *main_list;
static struct program program;
static uint32_t faults[FAULTS];
static uint32_t segment, done_accesses, done_operations;
static unsigned current; /* task; TASKS: context 0 */
static bool in_tasks, in_step, step_is_due, created, finding;
static bool in_between;		 /* context 0 is at work, and the tasks will go on */
static uint32_t repeats;	 /* of the last two operations that come in between */
static uint64_t executed, alone; /* instructions in a row, of one operation */
static unsigned helped;		 /* a bit for each who changes, and whose operation is waited for */
static uint32_t rounds;
static struct steps steps; /* after the first ring */

static void fault(enum fault kind)
{
	if (faults[kind]++ < MOST_FAULTS)
		write_down(SEEN_FAULT + kind, current, clock_now, tasks[current % TASKS].next, 0);
}

/* ---- programs and runs ----------------------------------------------------------------------- */

static void begin_run(void)
{
	before.next = after.next = between.next = repeats = 0;
	main_list = &before;
	for (struct list *list = tasks; list < tasks + TASKS; list++) {
		list->next = 0;
		list->accesses = 0;
		list->busy = list->waits = list->touched = list->wrote = false;
		list->over = !list->count;
	}
	memset(late, 0, sizeof(late));
	segment_count = 0; /* one after the other */
	if (run)
		draw_schedule(&program, tasks[0].count == 1, tasks[2].count > 0);
	segment = done_accesses = done_operations = rounds = helped = 0;
	write_down(SEEN_SCHEDULE, segment_count, 0, 0, 0);
	fwrite(segments, sizeof(segments[0]), segment_count, stdout);
}

static bool next_program(void)
{
	if (fread(&program, sizeof(program), 1, stdin) != 1)
		return false;
	read_list(&before, program.count[0]);
	read_list(&after, program.count[1]);
	for (int i = 0; i < TASKS; i++)
		read_list(&tasks[i], program.count[2 + i]);
	read_list(&between, program.count[2 + TASKS]);
	memset(faults, 0, sizeof(faults));
	drawn_from = program.seed;
	run = 0;
	return true;
}

/* The next run; false: there is none. */
static bool next_run(void)
{
	if (!run)
		for (int i = 0; i < TASKS; i++)
			places[i] = tasks[i].accesses;
	if (++run < program.schedules)
		return true;
	programs++;
	return next_program();
}

/* ---- who goes on ----------------------------------------------------------------------------- */

static bool can_go_on(unsigned task)
{
	return !tasks[task].over && !tasks[task].waits;
}

/* Is what the current task does part of the segment that was drawn? Others may stand in for it. */
static bool in_turn(void)
{
	return segment < segment_count && segments[segment].task == current;
}

/* Who can go on of those in the midst of an operation, who changes first; TASKS: nobody. */
static unsigned inside(void)
{
	for (unsigned i = TASKS; i-- > 0;)
		if (can_go_on(i) && tasks[i].touched)
			return i;
	return TASKS;
}

/* Is there what context 0 has to do in between? Not while who looks may have a lock: it would wait
 * for ever. */
static bool between_is_due(void)
{
	return between.next < between.count && !tasks[0].wrote;
}

/* Whose turn it is by the schedule, also if he waits; TASKS: it has come to its end. */
static unsigned drawn(void)
{
	for (; segment < segment_count; segment++, done_accesses = done_operations = 0) {
		struct segment *one = &segments[segment];

		if (one->task == BETWEEN && done_operations < one->operations && between_is_due())
			return BETWEEN;
		if (one->task < TASKS && !tasks[one->task].over && done_accesses < one->accesses &&
		    done_operations < one->operations)
			return one->task;
	}
	return TASKS;
}

/*
 * TASKS: all are done, or it is context 0's turn (in_between). Who waits keeps his turn: only until
 * the one he waits for comes out of an operation does that one go on instead. So nobody's waiting
 * lets others do all that they have to do before him.
 */
static unsigned choose(void)
{
	unsigned turn, other;
	bool all_over = true;

	for (unsigned i = 0; i < TASKS; i++)
		if (helped & 1u << i && can_go_on(i))
			return i;
	turn = drawn();
	in_between = turn == BETWEEN;
	if (in_between)
		return TASKS;
	if (turn == TASKS && current < TASKS && !tasks[current].over)
		turn = current;
	if (turn < TASKS && can_go_on(turn))
		return turn;
	other = turn < TASKS ? inside() : TASKS;
	if (other < TASKS)
		return other;
	for (unsigned i = 0; i < TASKS; i++) {
		if (turn == TASKS && can_go_on(i))
			return i;
		all_over = all_over && tasks[i].over;
	}
	in_between = all_over && between_is_due();
	if (all_over)
		return TASKS;
	if (++rounds > MOST_ROUNDS)
		end(END_DEADLOCK);
	for (unsigned i = 0; i < TASKS; i++)
		tasks[i].waits = false;
	return choose();
}

static void go_on(bool from_main)
{
	unsigned chosen = choose();
	uint32_t *next = at(NEXT);

	if (chosen < TASKS)
		second_half(chosen);
	if (chosen == current && !from_main) {
		*next = 0;
		return;
	}
	alone = 0;
	current = chosen;
	*next = chosen == TASKS ? 1 : chosen + 2;
	finding = chosen < TASKS && tasks[chosen].busy &&
		  tasks[chosen].asked[tasks[chosen].next - 1].kind == ASK_FIND;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void task_rang(void)
{
	struct list *list = &tasks[current];
	struct box *box = (struct box *)at(BOXES) + current;

	if (list->busy) {
		finish(list, 1 + current, box->answer);
		done_operations += in_turn();
		helped &= ~(1u << current);
		for (unsigned i = 0; i < TASKS; i++)
			tasks[i].waits = false;
	}
	list->over = !hand_over(list, &box->asked);
	finding = !list->over && box->asked.kind == ASK_FIND;
	alone = 0;
}

/* The next of what comes in between; false: so many have been done, or all. */
static bool hand_over_between(struct mailbox *mailbox)
{
	if (between.busy) {
		finish(&between, 2 + TASKS, mailbox->answer);
		done_operations++;
	}
	if (segment < segment_count && done_operations >= segments[segment].operations)
		return false;
	if (hand_over(&between, &mailbox->asked))
		return true;
	if (repeats / 2 == again(&program))
		return false;
	mailbox->asked = between.asked[between.count - 2 + repeats++ % 2];
	return true;
}

static void main_rang(void)
{
	struct mailbox *mailbox = at(MAILBOX);

	if (!created) {
		created = true;
		memcpy(&steps, at(STEPS), sizeof(steps));
		mailbox->asked = (struct asked){.kind = ASK_CREATE};
		read_in(&mailbox->asked.bucket, sizeof(mailbox->asked.bucket));
		return;
	}
	if (!main_list) {
		if (!next_program())
			end(0);
		begin_run();
	}
	if (in_between) {
		in_between = hand_over_between(mailbox);
		if (!in_between)
			mailbox->asked = (struct asked){.kind = ASK_GO_ON};
		return;
	}
	if (main_list->busy)
		finish(main_list, main_list == &before ? 0 : 1 + TASKS, mailbox->answer);
	if (hand_over(main_list, &mailbox->asked))
		return;
	if (main_list == &before) {
		main_list = &after;
		mailbox->asked = (struct asked){.kind = ASK_RUN};
		return;
	}
	if (!next_run())
		end(0);
	begin_run();
	if (!hand_over(main_list, &mailbox->asked))
		mailbox->asked = (struct asked){.kind = ASK_RUN};
}

/* ---- what the plugin is told ----------------------------------------------------------------- */

/* Somebody looks and waits: those who change come to the end of what they are in the midst of. */
static void looks_and_waits(void)
{
	fault(FAULT_WAITS);
	tasks[current].waited = true;
	for (unsigned i = 1; i < TASKS; i++)
		if (tasks[i].touched)
			helped |= 1u << i;
}

static void executes(unsigned int cpu, void *address)
{
	const uint64_t here = (uintptr_t)address;
	const bool was_due = step_is_due;

	(void)cpu;
	if (++executed > MOST_IN_ALL)
		end(END_ENDLESS);
	if (was_due && here != steps.step)
		end(END_UNSTEPPED);
	read_first.bytes = 0;
	in_step = here >= steps.begin && here < steps.end;
	step_is_due = in_tasks && !in_step;
	if (created && here == steps.enter && !in_tasks) {
		current = TASKS;
		go_on(true);
		in_tasks = current < TASKS;
	} else if (here == steps.step && was_due) {
		go_on(false);
		in_tasks = current < TASKS;
	} else if (step_is_due || !in_tasks) {
		alone++;
		if (finding && in_tasks && alone == MOST_OF_A_FIND)
			looks_and_waits();
		if (alone > (in_tasks ? MOST_INSTRUCTIONS : MOST_AT_FIRST))
			end(END_ENDLESS);
	}
}

static void rang(unsigned int cpu, void *data)
{
	uint32_t stopped;

	(void)cpu;
	(void)data;
	if (!ram)
		map_ram();
	stopped = ((const struct mailbox *)at(MAILBOX))->stopped;
	if (stopped)
		end(END_STOPPED + (int)(stopped % 8));
	if (in_tasks) {
		task_rang();
	} else {
		alone = 0;
		main_rang();
	}
}

/*
 * Is there anybody whom the current task can be waiting for? Who changes may have a lock that
 * others want as long as he is inside of an operation. Who looks has none, unless he has written in
 * this lookup, and so he waits for none before; then he has lost points for it.
 */
static bool may_wait(void)
{
	if (finding && !tasks[current].wrote)
		return false;
	for (unsigned i = 0; i < TASKS; i++)
		if (i != current && (i ? tasks[i].touched : tasks[i].wrote))
			return true;
	return false;
}

static void waits(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!in_tasks)
		end(END_STOPPED + STOPPED_LOCKED);
	tasks[current].waits = may_wait();
	if (!tasks[current].waits && !tasks[current].met)
		end(END_IDLE);
	tasks[current].met = false; /* if he is gone already, once, and it is no reason to stop */
	if (finding)
		looks_and_waits();
}

/* Has its grace period ended: is no lookup under way that began before it was removed? */
static bool is_freed(uint64_t address)
{
	uint64_t since = *removed(address);

	if (!since)
		return false;
	for (struct list *list = tasks; (in_tasks || in_between) && list < tasks + TASKS; list++)
		if (list->busy && list->began < since &&
		    list->asked[list->next - 1].kind == ASK_FIND)
			return false;
	return true;
}

/* @locked: no other processor comes between what this instruction reads and what it writes. */
static void accesses(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *locked)
{
	const unsigned bytes = 1u << qemu_plugin_mem_size_shift(info);
	const bool writes = qemu_plugin_mem_is_store(info);

	(void)cpu;
	if (in_step || !created)
		return;
	if (writes && is_kept(&steps.kept, address, bytes))
		end(END_OWN);
	if (address >= OWN && address < OWN_END) {
		const uint64_t stack = STACKS + current * (uint64_t)STACK_BYTES;

		if (in_tasks && address - stack >= STACK_BYTES &&
		    (address - BOXES) / sizeof(struct box) != current)
			end(END_OWN);
		return;
	}
	if (is_freed(address)) {
		fault(FAULT_FREED);
		*removed(address) = 0; /* said once */
	}
	if (!in_tasks)
		return;
	tasks[current].accesses++;
	tasks[current].touched = true;
	done_accesses += in_turn();
	if (writes && !locked)
		put_off(current, address, bytes);
	else if (!writes && !locked && in_turn() && done_accesses == segments[segment].accesses)
		stop_half_way(address, bytes);
	if (!finding || !writes)
		return;
	tasks[current].wrote = true;
	fault(FAULT_WRITES);
}

/* Before the first ring it is the machine that sets itself up, and contexts.S has to return. */
static void is_extra(unsigned int cpu, void *address)
{
	const uint64_t here = (uintptr_t)address;

	(void)cpu;
	if (created && (here < steps.begin || here >= steps.end))
		end(END_EXTRA);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	size_t number = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (size_t i = 0; i < number; i++) {
		struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(block, i);
		const struct bytes bytes = bytes_of(one);
		void *address = (void *)(uintptr_t)qemu_plugin_insn_vaddr(one);

		call_at(one, executes, address);
		if (bytes.size == 2 && bytes.byte[0] == 0xe6 && bytes.byte[1] >> 1 == 0x7a)
			call_at(one, bytes.byte[1] == 0xf4 ? rang : waits, NULL);
		else if (!is_ordinary(&bytes))
			call_at(one, is_extra, address);
		if (is_halt(&bytes))
			call_at(one, halted, NULL);
		qemu_plugin_register_vcpu_mem_cb(one, accesses, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 is_locked(bytes) ? (void *)1 : NULL);
	}
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	return watch_guest(id, argc, argv, translated);
}
