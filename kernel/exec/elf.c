/*
 * elf.c - ELF64 programs: static, static position-independent, or with an interpreter, ld.so. See
 * program.h.
 *
 * Segments become private file mappings, what lies beyond the file's part anonymous ones. A file's
 * numbers are a stranger's: each is checked before use, and mm_map() checks the ranges.
 */
#include <arch/elf.h>

#include "core/memory/slab.h"
#include "fs/file/file.h"
#include "kernel/exec/program.h"
#include "mm/space/vm.h"

#define SEGMENTS_MAX 128
#define BRK_RANDOM_BITS 13 /* pages */
#define PIE_RANDOM_BITS 28

#define page_down(x) round_down((u64)(x), (u64)PAGE_SIZE)

enum { ET_EXEC = 2, ET_DYN, PT_LOAD = 1, PT_INTERP = 3, PF_X = 1, PF_W = 2, PF_R = 4 };

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_segment {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};
static_assert(sizeof(struct elf_segment) == ELF_SEGMENT_SIZE, "as in the file");

/* The program's file, or its interpreter's. */
struct image {
	struct elf_header header;
	struct elf_segment *segments;	 /* kmalloc'ed */
	const struct elf_segment *named; /* the one with an interpreter's name, or NULL */
	u64 low, high;			 /* what is loaded, in whole pages */
	u64 phdr;			 /* where in it the program headers are */
	u64 align;			 /* what all of it wants, at least a page */
	u64 bias;			 /* to be added to all addresses */
};
DEFINE_FREE(image, struct image, kfree(variable->segments))

static bool is_loaded(const struct elf_segment *segment)
{
	return segment->type == PT_LOAD && segment->memsz;
}

/* Read the header and the segments, each of which makes sense: all sums are below the top of user
 * memory. -ENOEXEC: it is not an ELF of this machine; ... */
static int read_image(struct file *file, struct image *image)
{
	const struct elf_header *header = &image->header;

	TRY(read_exactly(file, &image->header, sizeof(*header), 0));
	/* 64-bit, little-endian, version 1 */
	if (memcmp(header->ident, "\177ELF\2\1\1", 7) || header->machine != ARCH_ELF_MACHINE ||
	    (header->type != ET_EXEC && header->type != ET_DYN) ||
	    header->phentsize != sizeof(struct elf_segment) || !header->phnum ||
	    header->phnum > SEGMENTS_MAX || header->phoff >> 62)
		return -ENOEXEC;

	size_t size = header->phnum * sizeof(struct elf_segment);
	const struct elf_segment *segment = image->segments = TRY_PTR(kmalloc(size, GFP_KERNEL));

	TRY(read_exactly(file, image->segments, size, header->phoff));
	image->low = ~0ULL;
	image->align = PAGE_SIZE;
	for (; segment < image->segments + header->phnum; segment++) {
		if (segment->type == PT_INTERP && !image->named)
			image->named = segment;
		if (!is_loaded(segment))
			continue;
		if (segment->filesz > segment->memsz || segment->vaddr >= USER_TOP ||
		    segment->memsz >= USER_TOP || segment->offset >> 62 ||
		    (segment->filesz && (segment->vaddr ^ segment->offset) & (PAGE_SIZE - 1)))
			return -ENOEXEC;
		if (is_power_of_2(segment->align))
			image->align = max(image->align, segment->align);
		if (header->phoff - segment->offset < segment->filesz)
			image->phdr = header->phoff - segment->offset + segment->vaddr;
		image->low = min(image->low, page_down(segment->vaddr));
		image->high = max(image->high, page_up(segment->vaddr + segment->memsz));
	}
	return image->low < image->high ? 0 : -ENOEXEC;
}

static unsigned protection_of(const struct elf_segment *segment)
{
	unsigned protection = 0;

	if (segment->flags & PF_R)
		protection |= PROT_READ;
	if (segment->flags & PF_W)
		protection |= PROT_WRITE;
	if (segment->flags & PF_X)
		protection |= PROT_EXEC;
	return protection;
}

static int map_segment(struct program *program, struct file *file,
		       const struct elf_segment *segment, u64 bias)
{
	unsigned protection = protection_of(segment);
	u64 start = page_down(segment->vaddr) + bias;
	u64 data_end = segment->vaddr + segment->filesz + bias;
	u64 file_end = segment->filesz ? page_up(data_end) : start;
	u64 end = page_up(segment->vaddr + segment->memsz) + bias;

	if (file_end > start)
		TRY(mm_map(program->mm, start, file_end - start, protection,
			   MAP_PRIVATE | MAP_FIXED, file, page_down(segment->offset)));
	if (end > file_end)
		TRY(mm_map(program->mm, file_end, end - file_end, protection,
			   MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0));
	/* What follows the file's part in its last page. */
	if (segment->memsz > segment->filesz && file_end > data_end && (segment->flags & PF_W)) {
		u8 *rest = TRY_PTR(program_byte(program, data_end));

		memset(rest, 0, file_end - data_end);
	}
	return 0;
}

/* Map what @file's @image says; if it may lie anywhere at @place (0: where there is room). */
static int map_image(struct program *program, struct file *file, struct image *image, u64 place)
{
	const struct elf_segment *segment = image->segments;

	if (image->header.type == ET_DYN && !place) /* for the whole; segments replace it */
		place = (u64)TRY(mm_map(program->mm, 0, image->high - image->low, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0));
	if (image->header.type == ET_DYN)
		image->bias = place - image->low;
	for (; segment < image->segments + image->header.phnum; segment++)
		if (is_loaded(segment))
			TRY(map_segment(program, file, segment, image->bias));
	program->start = image->header.entry + image->bias;
	return 0;
}

static int load_interpreter(struct program *program, const char *name)
{
	struct image image __free(image) = {0};
	struct file *file __free(fput) = NULL;

	TRY(exec_open(name, &file));
	TRY(read_image(file, &image));
	TRY(map_image(program, file, &image, 0));
	file->mode &= ~FMODE_EXEC; /* only the program itself is busy from now on, as on Linux */
	allow_write_access(file->inode);
	program->base = image.bias;
	return 0;
}

int load_program(struct program *program)
{
	struct mm *mm = program->mm;
	struct image image __free(image) = {0};
	char *name = program->header; /* of the interpreter: the header has been read */

	TRY(read_image(program->file, &image));
	TRY(map_image(program, program->file, &image,
		      round_down(ARCH_PIE_BASE + random_pages(program, PIE_RANDOM_BITS),
				 image.align)));
	program->phdr = image.phdr + image.bias;
	program->phnum = image.header.phnum;
	program->entry = program->start;
	mm->brk_start = image.high + image.bias + random_pages(program, BRK_RANDOM_BITS);
	mm->brk_end = mm->brk_start;
	if (!image.named)
		return 0;

	u64 length = image.named->filesz;

	if (length < 2 || length > EXEC_HEADER)
		return -ENOEXEC;
	TRY(read_exactly(program->file, name, length, image.named->offset));
	if (name[length - 1])
		return -ENOEXEC;

	int error = load_interpreter(program, name);

	return error == -ENOEXEC ? -ELIBBAD : error;
}
