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
#include "feed.h"

/* ---- what is translated ---------------------------------------------------------------------- */

static void forget_translations(unsigned int number, void *data)
{
	(void)data;
	forget_translations_of(&cpus[number].translations);
}

static bool knows_mark(unsigned region, unsigned number, bool of_kernel)
{
	if (!of_kernel)
		return region == 0xff && number < 3;
	return (region < MARKED && number < 2) || (region == 0xfe && number <= TURN_HALT);
}

static bool is_halt(const struct qemu_plugin_insn *instruction)
{
	struct code code = code_of(instruction);

	return code.size == 1 && *code.bytes == 0xf4;
}

static void learn_image(const struct qemu_plugin_insn *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(instruction);
	uint64_t host = (uintptr_t)qemu_plugin_insn_haddr(instruction);

	if (host && address >= IMAGE && !image_at_host)
		image_at_host = host - (address - IMAGE);
}

static void watch(struct qemu_plugin_insn *instruction, bool of_kernel)
{
	uintptr_t how = of_kernel ? 0 : OF_USER;

	if (of_kernel)
		learn_image(instruction);
	if (is_locked(bytes_of(instruction)))
		how |= LOCKED;
	if (of_kernel && changes_translations(instruction) != CHANGES_NOTHING)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, forget_translations,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, accessed, QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, (void *)how);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	static const struct watched watched = {knows_mark, kernel_mark, user_mark, watch};
	bool of_kernel = qemu_plugin_tb_vaddr(block) >> 63;
	uintptr_t first = watch_block(&watched, block, of_kernel);

	(void)id;
	/* A CPU that halts does not wake by it. */
	if (!of_kernel || !is_halt(qemu_plugin_tb_get_insn(block, 0)))
		qemu_plugin_register_vcpu_tb_exec_cb(block, of_kernel ? kernel_block : user_block,
						     QEMU_PLUGIN_CB_NO_REGS, (void *)first);
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
