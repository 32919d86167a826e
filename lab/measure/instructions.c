/*
 * instructions.c - a plugin for QEMU: how many instructions a job took, those of programs and those
 * of the kernel apart. lab/measure/instructions.py builds it and reads what it writes.
 *
 * Arguments: out=FILE. When the guest executes SIGN_TO_COUNTER(1) of user/init.c, counting begins;
 * at SIGN_TO_COUNTER(2) "USER KERNEL" is written to FILE. Instructions are counted by translated
 * block as it is entered, to the one or the other by its address: both kernels live in the upper
 * half. So of a block that a fault leaves in its midst, all counts; a fault is rare against blocks,
 * and it is the same for both kernels.
 */
#include <stdio.h>
#include <string.h>

#include "../run/qemu/plugin.h"

/* nopl 0x4357000N(%rax), without its lowest byte */
static const unsigned char sign[] = {0x0f, 0x1f, 0x80};
static const unsigned char sign_end[] = {0x00, 0x57, 0x43};

static uint64_t counts[2]; /* user, kernel; one CPU under -icount */
static char out[4096];

static void count_user(unsigned int cpu, void *instructions)
{
	(void)cpu;
	counts[0] += (uintptr_t)instructions;
}

static void count_kernel(unsigned int cpu, void *instructions)
{
	(void)cpu;
	counts[1] += (uintptr_t)instructions;
}

static void begin(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	counts[0] = counts[1] = 0;
}

static void end(unsigned int cpu, void *data)
{
	FILE *file = fopen(out, "w");

	(void)cpu;
	(void)data;
	if (file) {
		fprintf(file, "%llu %llu\n", (unsigned long long)counts[0],
			(unsigned long long)counts[1]);
		fclose(file);
	}
}

/* 1 or 2 for a sign, else 0. */
static int sign_of(const struct qemu_plugin_insn *instruction)
{
	const unsigned char *bytes = qemu_plugin_insn_haddr(instruction);

	if (qemu_plugin_insn_size(instruction) != 7 || !bytes ||
	    memcmp(bytes, sign, sizeof(sign)) || memcmp(bytes + 4, sign_end, sizeof(sign_end)))
		return 0;
	return bytes[3] == 1 || bytes[3] == 2 ? bytes[3] : 0;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	bool kernel = qemu_plugin_tb_vaddr(block) >> 63;
	size_t instructions = qemu_plugin_tb_n_insns(block);

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(block, kernel ? count_kernel : count_user,
					     QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)instructions);
	for (size_t i = 0; i < instructions && !kernel; i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		int number = sign_of(instruction);

		if (number)
			qemu_plugin_register_vcpu_insn_exec_cb(instruction,
							       number == 1 ? begin : end,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			snprintf(out, sizeof(out), "%s", argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return out[0] ? 0 : -1;
}
