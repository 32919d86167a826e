/*
 * instructions.c - a plugin for QEMU: how many instructions a job took, and how many locked ones,
 * those of programs and those of the kernel apart. lab/measure/instructions.py builds it and reads
 * what it writes.
 *
 * Arguments: out=FILE. When the guest executes SIGN_TO_COUNTER(1) of user/init.c, counting begins;
 * at SIGN_TO_COUNTER(2) it ends. Between the two a program may mark parts of its own (region_start
 * and region_stop of user/region.h). FILE gets a line for each part as it ends, then the job's:
 *
 *	part USER KERNEL		locked instructions
 *	job USER KERNEL USER KERNEL	locked instructions, then all
 *
 * Each is the program's or the kernel's by its address: both kernels live in the upper half.
 *
 * All instructions are counted by translated block as it is entered. So of a block that a fault
 * leaves in its midst, all counts; a fault is rare against blocks, and it is the same for both
 * kernels. Locked instructions (instruction.h says which they are) are counted one by one, as each
 * begins: one that faults counts again when it is executed again.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../run/qemu/instruction.h"

enum whose { USER, KERNEL, KINDS };

/* One CPU under -icount. */
static uint64_t instructions[KINDS];
static uint64_t locked[KINDS], before_part[KINDS];
static bool in_part;
static FILE *out; /* open from the job's begin to its end */
static char out_name[4096];

static void count_user(unsigned int cpu, void *number)
{
	(void)cpu;
	instructions[USER] += (uintptr_t)number;
}

static void count_kernel(unsigned int cpu, void *number)
{
	(void)cpu;
	instructions[KERNEL] += (uintptr_t)number;
}

static void count_locked(unsigned int cpu, void *counter)
{
	(void)cpu;
	++*(uint64_t *)counter;
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* A line of @what and the locked instructions since @before, which is left open. */
static void write_locked(const char *what, const uint64_t before[KINDS])
{
	fprintf(out, "%s %" PRIu64 " %" PRIu64, what, locked[USER] - before[USER],
		locked[KERNEL] - before[KERNEL]);
}

static void begin_job(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	memset(instructions, 0, sizeof(instructions));
	memset(locked, 0, sizeof(locked));
	in_part = false;
	if (!out)
		out = fopen(out_name, "w");
}

static void end_job(unsigned int cpu, void *data)
{
	static const uint64_t begin[KINDS];

	(void)cpu;
	(void)data;
	if (!out)
		return;
	write_locked("job", begin);
	fprintf(out, " %" PRIu64 " %" PRIu64 "\n", instructions[USER], instructions[KERNEL]);
	fclose(out);
	out = NULL;
}

static void begin_part(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	in_part = true;
	memcpy(before_part, locked, sizeof(locked));
}

static void end_part(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	if (!out || !in_part)
		return;
	in_part = false;
	write_locked("part", before_part);
	fputc('\n', out);
}

/* What a mark of programs calls; NULL: it is no mark, or one of another plugin. */
static executed_t called_by_mark(const struct qemu_plugin_insn *instruction)
{
	switch (job_mark_of(instruction)) {
	case 1:
		return begin_job;
	case 2:
		return end_job;
	}
	switch (region_mark_of(instruction)) {
	case 0x1ff00:
		return begin_part;
	case 0x1ff01:
		return end_part;
	}
	return NULL;
}

/* ---- what is translated ---------------------------------------------------------------------- */

static void watch(struct qemu_plugin_insn *instruction, bool kernel)
{
	executed_t marked = kernel ? NULL : called_by_mark(instruction);

	if (marked)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, marked, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	if (is_locked(bytes_of(instruction)))
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_locked,
						       QEMU_PLUGIN_CB_NO_REGS,
						       &locked[kernel ? KERNEL : USER]);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	bool kernel = qemu_plugin_tb_vaddr(block) >> 63;
	size_t number = qemu_plugin_tb_n_insns(block);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, kernel ? count_kernel : count_user,
					     QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)number);
	for (size_t i = 0; i < number; i++)
		watch(qemu_plugin_tb_get_insn(block, i), kernel);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			snprintf(out_name, sizeof(out_name), "%s", argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return out_name[0] ? 0 : -1;
}
