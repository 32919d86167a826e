/*
 * guest.h - what the plugins of the memory-cache simulation know of the guest beside its accesses:
 * which physical page a page of addresses is, where the host has the guest's memory and an
 * instruction, and what that changes; and the walk through a translated block. Included once by a
 * plugin.
 */
#pragma once

#include "../qemu/instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUEST_PAGE_BITS 12
#define GUEST_PAGE_MASK ((1ull << GUEST_PAGE_BITS) - 1)
#define IMAGE 0xffffffff80000000ull /* the kernel's image lies from here on, in one piece */

/* Accesses and fetches whose physical address is not known. */
static uint64_t untranslated;

/* ---- physical addresses -------------------------------------------------------------------- */

/*
 * Which physical page a page of addresses is, to one CPU. QEMU is asked once, until an instruction
 * is executed after which it may be another: whatever changes what the processor may keep of its
 * page tables, and the return from a fault that was handled. An entry is right if its key has the
 * present generation.
 */
#define KEPT 16384
#define FIRST_GENERATION (1ull << 52)
struct translations {
	struct translation {
		uint64_t key, page;
	} kept[KEPT];
	uint64_t generation; /* FIRST_GENERATION at first */
};

static void forget_translations_of(struct translations *translations)
{
	translations->generation += FIRST_GENERATION;
	if (!translations->generation) {
		memset(translations->kept, 0, sizeof(translations->kept));
		translations->generation = FIRST_GENERATION;
	}
}

/*
 * Of an instruction QEMU tells where the host has it, not its physical address. The two are a fixed
 * distance apart, since the guest's memory is one piece of the host's. It is learnt from an access
 * to the kernel's image, which is one piece of either.
 */
static uint64_t image_at_host;	    /* where the host would have IMAGE; 0: not known yet */
static uint64_t host_to_physical;   /* to be added */
static bool knows_host, wants_host; /* before anything is simulated */

static void learn_host(uint64_t address, uint64_t physical)
{
	uint64_t distance = physical - (address - IMAGE + image_at_host);

	if (address < IMAGE || !image_at_host)
		return;
	if (knows_host && distance != host_to_physical)
		untranslated++; /* then it is no distance, and fetches are not to be trusted */
	host_to_physical = distance;
	knows_host = true;
	wants_host = false;
}

#define NO_MEMORY (~0ull) /* a device's registers, or QEMU does not know */

static __attribute__((noinline)) uint64_t ask(struct translations *translations,
					      qemu_plugin_meminfo_t info, uint64_t address)
{
	struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, address);
	uint64_t page = address >> GUEST_PAGE_BITS;
	struct translation *translation = &translations->kept[page % KEPT];

	if (!found) {
		untranslated++;
		return NO_MEMORY;
	}
	if (qemu_plugin_hwaddr_is_io(found))
		return NO_MEMORY;

	uint64_t physical = qemu_plugin_hwaddr_phys_addr(found);

	learn_host(address, physical);
	translation->key = page | translations->generation;
	translation->page = physical & ~GUEST_PAGE_MASK;
	return physical;
}

static inline uint64_t translate(struct translations *translations, qemu_plugin_meminfo_t info,
				 uint64_t address)
{
	uint64_t page = address >> GUEST_PAGE_BITS;
	const struct translation *translation = &translations->kept[page % KEPT];

	if (translation->key == (page | translations->generation))
		return translation->page | (address & GUEST_PAGE_MASK);
	return ask(translations, info, address);
}

/* ---- instructions -------------------------------------------------------------------------- */

struct code {
	const unsigned char *bytes;
	size_t size; /* of which there are so many; the rest lies in another page */
};

static struct code code_of(const struct qemu_plugin_insn *instruction)
{
	size_t size = qemu_plugin_insn_size(instruction);
	size_t room = GUEST_PAGE_MASK + 1 - (qemu_plugin_insn_vaddr(instruction) & GUEST_PAGE_MASK);
	const unsigned char *bytes = qemu_plugin_insn_haddr(instruction);

	if (!bytes)
		return (struct code){NULL, 0};
	return (struct code){bytes, size < room ? size : room};
}

/* May the processor see other pages after it? A write to a control register, invlpg, invpcid,
 * iretq. Prefixes are skipped; to take one for another costs a question to QEMU. */
enum change { CHANGES_NOTHING, CHANGES_TRANSLATIONS, SWITCHES_TABLES };

static enum change changes_translations(const struct qemu_plugin_insn *instruction)
{
	struct code code = code_of(instruction);
	const unsigned char *bytes = code.bytes;

	while (code.size && (*bytes == 0x66 || (*bytes & 0xf0) == 0x40)) {
		bytes++;
		code.size--;
	}
	if (code.size && *bytes == 0xcf)
		return CHANGES_TRANSLATIONS;
	if (code.size < 3 || *bytes != 0x0f)
		return CHANGES_NOTHING;
	if (bytes[1] == 0x22)
		return (bytes[2] >> 3 & 7) == 3 ? SWITCHES_TABLES : CHANGES_TRANSLATIONS;
	if ((bytes[1] == 0x01 && (bytes[2] >> 3 & 7) == 7) ||
	    (bytes[1] == 0x38 && bytes[2] == 0x82))
		return CHANGES_TRANSLATIONS;
	return CHANGES_NOTHING;
}

/* ---- what is translated -------------------------------------------------------------------- */

/*
 * What a plugin wants of blocks. Instructions are counted a block at a time as it is entered, and
 * after each mark anew. So kernel_mark and user_mark get a mark's number, and in the upper half how
 * many instructions of its block follow it, up to and with the next mark.
 */
struct watched {
	bool (*knows)(unsigned region, unsigned number, bool of_kernel); /* of region_mark_of() */
	executed_t kernel_mark, user_mark;
	void (*instruction)(struct qemu_plugin_insn *instruction, bool of_kernel);
};

/* The number of a mark, with a bit above its two bytes, or 0 for any other instruction. */
static uintptr_t mark_of(const struct watched *watched, const struct qemu_plugin_insn *instruction,
			 bool of_kernel)
{
	uint32_t mark = region_mark_of(instruction);

	if (mark)
		return watched->knows(mark >> 8 & 0xff, mark & 0xff, of_kernel) ? mark : 0;
	mark = of_kernel ? 0 : job_mark_of(instruction);
	return mark ? 0x10000u | mark : 0;
}

/* Returns how many instructions @block has up to and with its first mark. */
static size_t watch_block(const struct watched *watched, struct qemu_plugin_tb *block,
			  bool of_kernel)
{
	executed_t marked = of_kernel ? watched->kernel_mark : watched->user_mark;
	size_t following = 0;

	/* Backwards: what follows a mark is known when it is met. */
	for (size_t i = qemu_plugin_tb_n_insns(block); i-- > 0; following++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uintptr_t mark = mark_of(watched, instruction, of_kernel);

		if (mark) {
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, marked, QEMU_PLUGIN_CB_NO_REGS,
				(void *)((mark & 0xffff) | following << 32));
			following = 0;
		}
		watched->instruction(instruction, of_kernel);
	}
	return following;
}
