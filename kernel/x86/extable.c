/*
 * extable.c - the instructions that are allowed to fault on a program's address, and boot's
 * patching of stac and clac into them.
 */
#include <arch/uaccess.h>

#include "kernel/core/errno.h"
#include "kernel/core/string.h"
#include "kernel/x86/x86.h"

struct extable_entry {
	s32 instruction, fixup; /* each relative to its own place */
};

extern struct extable_entry extable_start[], extable_end[];
extern s32 stac_sites_start[], stac_sites_end[], clac_sites_start[], clac_sites_end[];

static u64 target(const s32 *relative)
{
	return (u64)(uintptr_t)relative + (s64)*relative;
}

/* By instruction address, for the binary search. The linker's order is nearly sorted: insertion. */
void extable_init(void)
{
	struct extable_entry *entry, *at;

	for (entry = extable_start + 1; entry < extable_end; entry++) {
		u64 instruction = target(&entry->instruction), fixup = target(&entry->fixup);

		for (at = entry; at > extable_start && target(&at[-1].instruction) > instruction;
		     at--) {
			at->instruction =
				(s32)(target(&at[-1].instruction) - (uintptr_t)&at->instruction);
			at->fixup = (s32)(target(&at[-1].fixup) - (uintptr_t)&at->fixup);
		}
		at->instruction = (s32)(instruction - (uintptr_t)&at->instruction);
		at->fixup = (s32)(fixup - (uintptr_t)&at->fixup);
	}
}

static const struct extable_entry *extable_find(u64 ip)
{
	size_t low = 0, high = (size_t)(extable_end - extable_start);

	while (low < high) {
		size_t middle = (low + high) / 2;
		u64 instruction = target(&extable_start[middle].instruction);

		if (instruction == ip)
			return &extable_start[middle];
		if (instruction < ip)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool extable_covers(u64 ip)
{
	return extable_find(ip) != NULL;
}

/* The faulting instruction has a fixup: go on there, true. */
bool extable_fixup(struct registers *registers)
{
	const struct extable_entry *entry = extable_find(registers->ip);

	if (!entry)
		return false;
	registers->ip = target(&entry->fixup);
	return true;
}

static void patch(const s32 *site, const s32 *end, u8 last)
{
	for (; site < end; site++) {
		u8 *code = (u8 *)(uintptr_t)target(site);

		code[1] = 0x01;
		code[2] = last;
	}
}

/* Before the text is write-protected. 0f 01 cb: stac, 0f 01 ca: clac. */
void uaccess_patch_smap(void)
{
	if (!cpu_features.smap)
		return;
	patch(stac_sites_start, stac_sites_end, 0xcb);
	patch(clac_sites_start, clac_sites_end, 0xca);
}

#define ONES 0x0101010101010101UL
#define HIGHS 0x8080808080808080UL

/* One word of a program's memory; false on a fault. Access must be open. */
static __always_inline bool read_word(u64 *word, const char *from)
{
	u64 value;

	__asm__ __volatile__ goto("1: movq (%1), %0\n\t" __EXTABLE("1b", "%l2")
				  : "=r"(value)
				  : "r"(from)
				  : "memory"
				  : fault);
	*word = value;
	return true;
fault:
	return false;
}

static __always_inline bool read_byte(char *byte, const char *from)
{
	u32 value;

	__asm__ __volatile__ goto("1: movzbl (%1), %0\n\t" __EXTABLE("1b", "%l2")
				  : "=r"(value)
				  : "r"(from)
				  : "memory"
				  : fault);
	*byte = (char)value;
	return true;
fault:
	return false;
}

/* A word at a time; where a word would cross into a page that is not there, byte by byte. */
s64 arch_strncpy_from_user(char *dst, const char *src, size_t n)
{
	s64 result = -EFAULT;
	size_t i = 0;
	u64 word;

	if ((s64)(uintptr_t)src < 0)
		return -EFAULT;
	__asm__ __volatile__(__STAC ::: "memory");
	for (; i + 8 <= n && read_word(&word, src + i); i += 8) {
		u64 zeros = (word - ONES) & ~word & HIGHS;

		__builtin_memcpy(dst + i, &word, 8);
		if (zeros) {
			result = (s64)(i + ((unsigned)__builtin_ctzl(zeros) >> 3));
			goto out;
		}
	}
	for (; i < n; i++) {
		if (!read_byte(&dst[i], src + i))
			goto out;
		if (!dst[i]) {
			result = (s64)i;
			goto out;
		}
	}
	result = (s64)n;
out:
	__asm__ __volatile__(__CLAC ::: "memory");
	return result;
}
