/*
 * coherentsim.c - a plugin for QEMU: the memory caches and clocks of a machine with several CPUs,
 *fed with every access of the guest to its memory. lab/run/cachesim/simulation.py builds it.
 *
 * Arguments: out=FILE, perhaps from=mark, cpus=N, group=N, line=BYTES, first=BYTES/WAYS, second=
 *and perhaps third= likewise, cost=SECOND/THIRD/MEMORY/NEAR/FAR/UPGRADE/BUS (clocks.h). The caches
 *are those of mesi.h, the time that of clocks.h; addresses are physical.
 *
 * QEMU must run the CPUs in one thread (--icount). What is counted is decided by marks, as in
 * cachesim.c; beside those
 *
 *	nopl 0xc4c4ff02(%rax,%rax)	a program (user/region.h): this CPU has done its part
 *	nopl 0xc4c4feNN(%rax,%rax)	the kernel with SHORT_TURNS (core/lock/turn_event.h)
 *
 * A program's start sets all clocks to 0. When it stops, a part has taken what the slowest clock
 * says: of the CPUs that have said to be done, if any has, each as it stood then.
 *
 * A CPU's clock stands still between TURN_ASIDE and TURN_BACK, and what is accessed there is not
 * simulated; nor is what who waits for a lock does between TURN_TRY and TURN_TAKEN. When the lock
 *is taken the clock goes to where its holder gave it back, and the lock's line is fetched, once. So
 * waiting is as good as it can be: nobody who looks at a lock takes its line from the holder.
 *
 * A CPU that has nothing to do, and executes something again, goes on at the clock of the CPU that
 * had the turn before, which woke it.
 *
 * An instruction with a lock prefix, or xchg with memory, fetches its line for writing at once; of
 * others the read and the write are two accesses. Instructions are counted a translated block at a
 * time, as it is entered, and after each mark anew. Instructions come from nowhere, pages are
 * translated for nothing.
 */
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

/* One of the reads by which the kernel tells an address. Of the byte turn_ahead the first is seen
 * when it has been done: what is written there now is what the second one finds. */
static void told(unsigned number, struct frame *frame, uint64_t address, uint64_t physical)
{
	frame->naming--;
	if (frame->told == TURN_LOCK && frame->naming)
		frame->lock = physical;
	else if (frame->told == TURN_LOCK)
		frame->class = address;
	else if (frame->naming && image_at_host && address >= IMAGE)
		*(uint8_t *)(uintptr_t)(image_at_host + (address - IMAGE)) = is_ahead(number);
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

/* A mark's number, and in the upper half how many instructions of its block follow it, up to and
 * with the next mark. */
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

static const char *class_name(uint64_t address)
{
	uint64_t name;

	if (address < IMAGE || !image_at_host)
		return "?";
	memcpy(&name, (const void *)(uintptr_t)(image_at_host + (address - IMAGE)), sizeof(name));
	return name < IMAGE ? "(unnamed)"
			    : (const char *)(uintptr_t)(image_at_host + (name - IMAGE));
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

/* ---- what is translated ---------------------------------------------------------------------- */

static void forget_translations(unsigned int number, void *data)
{
	(void)data;
	forget_translations_of(&cpus[number].translations);
}

/* The low half of a mark's number, or 0 for any other instruction. */
static uint32_t mark_of(const struct qemu_plugin_insn *instruction, bool kernel)
{
	uint32_t mark = region_mark_of(instruction, kernel);
	unsigned region = mark >> 8 & 0xff, number = mark & 0xff;

	if (mark && kernel)
		return (region < MARKED && number < 2) || (region == 0xfe && number <= TURN_HALT)
			       ? mark
			       : 0;
	if (mark)
		return region == 0xff && number < 3 ? mark : 0;
	mark = kernel ? 0 : job_mark_of(instruction);
	return mark ? 0x10000u | mark : 0;
}

/* Does it read and write memory in one? A lock prefix, or xchg, which needs none. */
static bool is_locked(const struct qemu_plugin_insn *instruction)
{
	struct code code = code_of(instruction);
	const unsigned char *bytes = code.bytes;

	for (; code.size > 1; bytes++, code.size--) {
		if (*bytes == 0xf0)
			return true;
		if (*bytes == 0x86 || *bytes == 0x87)
			return bytes[1] < 0xc0;
		/* Prefixes: segments, sizes, rep, REX. */
		if ((*bytes & 0xe7) != 0x26 && (*bytes & 0xfc) != 0x64 && (*bytes & 0xfe) != 0xf2 &&
		    (*bytes & 0xf0) != 0x40)
			return false;
	}
	return false;
}

static bool is_halt(const struct qemu_plugin_insn *instruction)
{
	struct code code = code_of(instruction);

	return code.size == 1 && *code.bytes == 0xf4;
}

static void watch(struct qemu_plugin_insn *instruction, bool of_kernel)
{
	uintptr_t how = (of_kernel ? 0 : OF_USER) | (is_locked(instruction) ? LOCKED : 0);

	if (of_kernel && changes_translations(instruction) != CHANGES_NOTHING)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, forget_translations,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, accessed, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, (void *)how);
}

static void learn_image(const struct qemu_plugin_insn *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction);

	if (host && address >= IMAGE && !image_at_host)
		image_at_host = host - (address - IMAGE);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	bool of_kernel = qemu_plugin_tb_vaddr(block) >> 63;
	uintptr_t following = 0;

	(void)id;
	/* Backwards: what follows a mark is known when it is met. */
	for (size_t i = qemu_plugin_tb_n_insns(block); i-- > 0;) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uintptr_t mark = mark_of(instruction, of_kernel);

		if (of_kernel)
			learn_image(instruction);
		if (mark) {
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, of_kernel ? kernel_mark : user_mark,
				QEMU_PLUGIN_CB_NO_REGS,
				(void *)((mark & 0xffff) | following << 32));
			following = 0;
		}
		following++;
		watch(instruction, of_kernel);
	}
	/* A CPU that halts does not wake by it. */
	if (!of_kernel || !is_halt(qemu_plugin_tb_get_insn(block, 0)))
		qemu_plugin_register_vcpu_tb_exec_cb(block, of_kernel ? kernel_block : user_block,
						     QEMU_PLUGIN_CB_NO_REGS, (void *)following);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool take_level(const char *argument, const char *name, struct mesi_level *level)
{
	unsigned long long bytes;
	size_t length = strlen(name);

	if (strncmp(argument, name, length) ||
	    sscanf(argument + length, "=%llu/%u", &bytes, &level->ways) != 2)
		return false;
	level->bytes = bytes;
	return true;
}

static bool take_argument(const char *argument)
{
	if (!strncmp(argument, "out=", 4))
		return snprintf(out, sizeof(out), "%s", argument + 4) < (int)sizeof(out);
	if (!strcmp(argument, "from=mark"))
		return from_mark = true;
	if (!strncmp(argument, "cost=", 5))
		return sscanf(argument + 5, "%u/%u/%u/%u/%u/%u/%u", &costs.second, &costs.third,
			      &costs.memory, &costs.near, &costs.far, &costs.upgrade,
			      &costs.bus) == 7;
	return sscanf(argument, "cpus=%u", &shape.cpus) == 1 ||
	       sscanf(argument, "group=%u", &shape.group) == 1 ||
	       sscanf(argument, "line=%u", &shape.line) == 1 ||
	       take_level(argument, "first", &shape.first) ||
	       take_level(argument, "second", &shape.second) ||
	       take_level(argument, "third", &shape.third);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!take_argument(argv[i])) {
			fprintf(stderr, "coherentsim: what is '%s'?\n", argv[i]);
			return -1;
		}
	mesi = mesi_make(&shape);
	clocks = mesi ? clocks_make(&costs, mesi_line_bits(mesi)) : NULL;
	if (!clocks || !out[0]) {
		fprintf(stderr, "coherentsim: there are no such caches, or no out=FILE\n");
		return -1;
	}
	for (unsigned cpu = 0; cpu < MOST_CPUS; cpu++) {
		cpus[cpu].stack[0].region = KERNEL;
		cpus[cpu].translations.generation = FIRST_GENERATION;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
