/*
 * feed.h - what the CPUs of the guest do, as the caches and clocks are told it: accesses,
 * instructions, marks. coherentsim.c, which sees them, includes this, once, and says what is
 * modelled; tally.h has who is charged.
 */
#pragma once

#include "../guest.h"

#include "../../../../core/lock/turn_event.h"
#include "clocks.h"
#include "mesi.h"
#include "tally.h"

#define DEEPEST 8

/* What a CPU is in the midst of: a region of the kernel's; in an interrupt another. */
struct frame {
	enum region region;
	bool aside, waiting;
	bool gives, reads;    /* the lock, at the next write to its line; for reading */
	unsigned naming;      /* so many reads that tell something are still to come */
	enum turn_event told; /* by these */
	uint64_t lock, class; /* physical; of struct lock_class in the guest */
};

static struct cpu {
	struct frame stack[DEEPEST + 1];
	unsigned depth, waits; /* waits: frames that are waiting */
	bool halted, done;
	struct translations translations;
} cpus[MOST_CPUS];

static struct mesi_shape shape;
static struct costs costs;
static struct mesi *mesi;
static struct clocks *clocks;
static char out[4096];
static unsigned latest; /* the CPU that has the turn */

static bool in_job, by_program; /* between init's marks; a program has had marks of its own */
static bool from_mark;		/* nothing is simulated before a program's first mark */
static bool simulating, counting;

static struct frame *frame_of(struct cpu *cpu)
{
	return &cpu->stack[cpu->depth];
}

/* Does what @cpu does take no time, and change no cache? */
static bool is_apart(struct cpu *cpu)
{
	const struct frame *frame = frame_of(cpu);

	return !simulating || frame->aside || frame->waiting || cpu->done;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* One access of CPU @number, charged to @tally. */
static struct delay touch(unsigned number, struct tally *tally, uint64_t address, uint64_t physical,
			  bool write, struct mesi_result *result)
{
	struct delay delay;

	*result = mesi_access(mesi, number, physical, write);
	delay = clocks_access(clocks, number, physical, result);
	if (!counting)
		return delay;
	tally_access(tally, result);
	tally->stall += delay.cycles - delay.for_line - delay.for_bus;
	tally->for_line += delay.for_line;
	tally->for_bus += delay.for_bus;
	if (result->invalidated || result->found >= FOUND_NEAR)
		count_hot(physical >> mesi_line_bits(mesi), address);
	return delay;
}

/* Is this CPU ahead of one that has something to do, and waits for no lock? */
static uint8_t is_ahead(unsigned number)
{
	uint64_t own = clocks_now(clocks, number);

	if (!counting || cpus[number].done)
		return 0;
	for (unsigned other = 0; other < shape.cpus; other++)
		if (!cpus[other].halted && !cpus[other].done && !cpus[other].waits &&
		    clocks_now(clocks, other) < own)
			return 1;
	return 0;
}

/* Where on the host the byte of the kernel's image at @address is, or NULL: it is none of it. The
 * image ends before IMAGE_MOST, and every machine has as much memory. */
#define IMAGE_MOST (32u << 20)
static uint8_t *in_image(uint64_t address)
{
	if (!image_at_host || address - IMAGE >= IMAGE_MOST)
		return NULL;
	return (uint8_t *)(uintptr_t)(image_at_host + (address - IMAGE));
}

/* One of the reads by which the kernel tells an address. Of the byte turn_ahead the first is seen
 * when it has been done: what is written there now is what the second one finds. */
static void told(unsigned number, struct frame *frame, uint64_t address, uint64_t physical)
{
	frame->naming--;
	if (frame->told == TURN_LOCK && frame->naming)
		frame->lock = physical;
	else if (frame->told == TURN_LOCK)
		frame->class = address;
	else if (frame->naming && in_image(address))
		*in_image(address) = is_ahead(number);
}

static void gave(unsigned number, struct frame *frame)
{
	clocks_give_lock(clocks, number, frame->lock, frame->reads);
	frame->gives = false;
}

/* How an instruction accesses memory, and whose it is. */
enum { OF_USER = 1, LOCKED = 2 };

static void access_line(unsigned number, qemu_plugin_meminfo_t info, uint64_t address,
			uintptr_t how)
{
	struct cpu *cpu = &cpus[number];
	struct frame *frame = frame_of(cpu);
	uint64_t physical = translate(&cpu->translations, info, address);
	bool store = qemu_plugin_mem_is_store(info);
	struct tally *tally = &now.regions[how & OF_USER ? USER : frame->region];
	struct mesi_result result;

	if (physical == NO_MEMORY)
		return;
	if (frame->naming && !store && !(how & OF_USER)) {
		told(number, frame, address, physical);
		return;
	}
	if (is_apart(cpu))
		return;
	touch(number, tally, address, physical, store || how & LOCKED, &result);
	if (counting) {
		tally->accesses++;
		tally->locked += how & LOCKED && !store;
	}
	if (frame->gives && store &&
	    physical >> mesi_line_bits(mesi) == frame->lock >> mesi_line_bits(mesi))
		gave(number, frame);
}

static void accessed(unsigned int number, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	uint64_t last = address + (1ull << qemu_plugin_mem_size_shift(info)) - 1;

	if (!simulating && !wants_host && !frame_of(&cpus[number])->naming)
		return;
	access_line(number, info, address, (uintptr_t)data);
	if ((last ^ address) >> mesi_line_bits(mesi) && !is_apart(&cpus[number]))
		access_line(number, info, last, (uintptr_t)data);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void run(unsigned number, enum region region, uint64_t instructions)
{
	if (is_apart(&cpus[number]))
		return;
	clocks_run(clocks, number, instructions);
	if (counting)
		now.regions[region].instructions += instructions;
}

/* @number executes something: the turn is its. */
static void take_turn(unsigned number)
{
	if (cpus[number].halted) {
		cpus[number].halted = false;
		if (simulating)
			clocks_sleep_until(clocks, number, clocks_now(clocks, latest));
	}
	if (latest != number && counting)
		now.turns++;
	latest = number;
}

static void kernel_block(unsigned int number, void *instructions)
{
	take_turn(number);
	run(number, frame_of(&cpus[number])->region, (uintptr_t)instructions);
}

static void user_block(unsigned int number, void *instructions)
{
	take_turn(number);
	run(number, USER, (uintptr_t)instructions);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void begin_region(struct cpu *cpu, enum region region)
{
	if (cpu->depth == DEEPEST) {
		unbalanced++;
		return;
	}
	cpu->stack[++cpu->depth] = (struct frame){.region = region};
	if (counting && !cpu->done)
		now.regions[region].lookups++;
}

static void end_region(struct cpu *cpu, enum region region)
{
	struct frame *frame = frame_of(cpu);

	if (!cpu->depth || frame->region != region) {
		unbalanced++;
		return;
	}
	/* A lookup may end with what it is about to give back. */
	if (region != INTERRUPT && (frame->gives || frame->aside || frame->waiting))
		unbalanced++;
	cpu->depth--;
}

static void set_waiting(struct cpu *cpu, struct frame *frame, bool waiting)
{
	cpu->waits += (unsigned)waiting - (unsigned)frame->waiting;
	frame->waiting = waiting;
}

static void lock_taken(unsigned number, struct frame *frame, bool reads)
{
	struct cpu *cpu = &cpus[number];
	struct tally *tally = &now.regions[frame->region];
	struct mesi_result result;
	struct delay delay;
	uint64_t waited;

	if (!frame->waiting)
		return;
	set_waiting(cpu, frame, false);
	if (is_apart(cpu))
		return;
	waited = clocks_take_lock(clocks, number, frame->lock, reads);
	delay = touch(number, tally, frame->class, frame->lock, true, &result);
	if (!counting)
		return;

	struct lock_tally *lock = lock_tally_of(frame->class);

	tally->for_lock += waited;
	tally->locked++;
	lock->taken++;
	lock->waited += waited > 0;
	lock->for_lock += waited;
	lock->transfers += result.found >= FOUND_NEAR || result.upgraded;
	lock->stall += delay.cycles;
}

static void turn_mark(unsigned number, enum turn_event event)
{
	struct cpu *cpu = &cpus[number];
	struct frame *frame = frame_of(cpu);

	switch (event) {
	case TURN_ASIDE:
	case TURN_BACK:
		frame->aside = event == TURN_ASIDE;
		break;
	case TURN_LOCK:
	case TURN_MAY_END:
		frame->naming = 2;
		frame->told = event;
		break;
	case TURN_TRY:
		frame->aside = false;
		set_waiting(cpu, frame, true);
		break;
	case TURN_TAKEN:
	case TURN_TAKEN_READING:
		lock_taken(number, frame, event == TURN_TAKEN_READING);
		break;
	case TURN_SLEEP:
		set_waiting(cpu, frame, false);
		break;
	case TURN_GIVE:
	case TURN_GIVE_READING:
		frame->aside = false;
		frame->gives = !is_apart(cpu);
		frame->reads = event == TURN_GIVE_READING;
		break;
	case TURN_HALT:
		cpu->halted = true;
		break;
	}
}

static void kernel_mark(unsigned int number, void *data)
{
	uintptr_t mark = (uintptr_t)data, region = mark >> 8 & 0xff;

	if (region == 0xfe)
		turn_mark(number, (enum turn_event)(mark & 0xff));
	else if (mark & 1)
		end_region(&cpus[number], (enum region)region);
	else
		begin_region(&cpus[number], (enum region)region);
	run(number, frame_of(&cpus[number])->region, mark >> 32);
}

/* "?": nothing that a class could be called by, so that there was none. */
static const char *class_name(uint64_t address)
{
	const uint8_t *class = in_image(address);
	const char *text;
	uint64_t name;

	if (!class)
		return "?";
	memcpy(&name, class, sizeof(name));
	if (!name)
		return "(unnamed)";
	text = (const char *)in_image(name);
	for (const char *at = text; at && *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			return "?";
	return text ? text : "?";
}

static void write_counts(void)
{
	FILE *file = fopen(out, "w");

	if (!file)
		return;
	fprintf(file,
		"{\"cpus\": %u, \"by_program\": %s, \"unbalanced\": %llu, \"untranslated\": %llu, "
		"\"parts\": [",
		shape.cpus, by_program ? "true" : "false", (unsigned long long)unbalanced,
		(unsigned long long)untranslated);
	for (size_t i = 0; i < count_of_parts; i++) {
		fputs(i ? ", " : "", file);
		write_part(file, &parts[i], shape.cpus, class_name);
	}
	fprintf(file, "], \"whole\": ");
	write_part(file, &sum, shape.cpus, class_name);
	fprintf(file, ", ");
	write_lines(file, mesi_line_bits(mesi));
	fprintf(file, "}\n");
	fclose(file);
}

/* From here on all is counted, from clocks of 0. */
static void start_counting(void)
{
	counting = true;
	now = (struct part){0};
	clocks_reset(clocks);
	for (unsigned cpu = 0; cpu < shape.cpus; cpu++)
		cpus[cpu].done = false;
}

static void stop_counting(void)
{
	counting = false;
	for (unsigned cpu = 0; cpu < shape.cpus; cpu++) {
		if (!cpus[cpu].done)
			now.clocks[cpu] = clocks_now(clocks, cpu);
		cpus[cpu].done = false;
	}
	end_part();
}

static void job_mark(unsigned number)
{
	if (number == 1 && !in_job) {
		in_job = true;
		if (!from_mark) {
			simulating = true;
			start_counting();
		}
	} else if (number == 2 && in_job) {
		if (counting)
			stop_counting();
		in_job = simulating = false;
		if (!by_program)
			count_of_parts = 0; /* the whole is the job */
		write_counts();
	}
}

static void program_mark(unsigned cpu, unsigned number)
{
	if (!in_job)
		return;
	if (number == 2) {
		if (counting && !cpus[cpu].done) {
			cpus[cpu].done = true;
			now.done |= (uint16_t)(1u << cpu);
			now.clocks[cpu] = clocks_now(clocks, cpu);
		}
	} else if (number == 0) {
		by_program = simulating = true;
		start_counting();
	} else if (counting && by_program) {
		stop_counting();
	}
}

static void user_mark(unsigned int number, void *data)
{
	uintptr_t mark = (uintptr_t)data;

	if ((mark & 0xff00) == 0xff00)
		program_mark(number, mark & 3);
	else
		job_mark(mark & 3);
	run(number, USER, mark >> 32);
}
