/*
 * watched.h - what plugins for QEMU have in common that watch a guest with a mailbox (witness.c,
 * and interleave.c of lockless/): its memory, which they map as well, how they end it, and what an
 * instruction is that would never come back.
 */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../run/qemu/instruction.h"
#include "mailbox.h"

/* Statuses of the machine; END_STOPPED and up: by an enum stopped. */
enum end { END_NO_MEMORY = 20, END_ENDLESS, END_HALTED, END_STOPPED };

static uint8_t *ram; /* after map_ram() */
static char ram_name[4096];

static void end(int status)
{
	fflush(stdout);
	_exit(status);
}

/* The file is there once the guest runs. */
static void map_ram(void)
{
	int file = open(ram_name, O_RDWR);

	if (file >= 0)
		ram = mmap(NULL, GUEST_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file < 0 || ram == MAP_FAILED)
		end(END_NO_MEMORY);
}

/* Would @bytes there change what nobody changes? */
static bool is_kept(const struct kept *kept, uint64_t address, unsigned bytes)
{
	return (address < kept->text_end && address + bytes > kept->text) ||
	       (address < kept->pages_end && address + bytes > kept->pages);
}

static void call_at(struct qemu_plugin_insn *one, executed_t function, void *data)
{
	qemu_plugin_register_vcpu_insn_exec_cb(one, function, QEMU_PLUGIN_CB_NO_REGS, data);
}

static bool is_halt(const struct bytes *bytes)
{
	size_t i = 0;

	while (i < bytes->size && is_prefix(bytes->byte[i]))
		i++;
	return i + 1 == bytes->size && bytes->byte[i] == 0xf4;
}

/* To be called at that: no interrupt would ever wake the guest. */
static void halted(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	end(END_HALTED);
}

/* What qemu_plugin_install() is to do: ram=FILE is read, and @translated sees each block. */
static int watch_guest(qemu_plugin_id_t id, int argc, char **argv, translated_t translated)
{
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "ram=", 4))
			snprintf(ram_name, sizeof(ram_name), "%s", argv[i] + 4);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return ram_name[0] ? 0 : -1;
}
