/*
 * elf.c - mapping ELF64 programs: static, static position-independent, and those with an
 * interpreter (ld.so).
 *
 * Segments become private file mappings, what lies beyond the file's part anonymous ones. A file's
 * numbers are a stranger's: each is checked before use, and mm_map() checks the ranges.
 */
#include <arch/elf.h>

#include "kernel/proc/exec.h"
#include "mm/mman.h"

enum { ET_EXEC = 2, ET_DYN, PT_LOAD = 1, PT_INTERP = 3, PF_X = 1, PF_W = 2, PF_R = 4 };
#define SEGMENTS_MAX 128
#define BRK_RANDOM_BITS 13 /* pages: 32 MB */

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

static int read_exactly(struct file *file, void *buffer, size_t n, u64 offset)
{
	ssize_t got = kernel_read(file, buffer, n, (loff_t)offset);

	return got < 0 ? (int)got : (size_t)got == n ? 0 : -ENOEXEC;
}

/* Does it make sense, with all sums below the top of user memory? */
static int check_segment(const struct elf_segment *segment)
{
	if (segment->type != PT_LOAD)
		return 0;
	if (segment->filesz > segment->memsz || segment->vaddr >= USER_TOP ||
	    segment->memsz >= USER_TOP || segment->offset >> 62 ||
	    (segment->vaddr ^ segment->offset) & (PAGE_SIZE - 1))
		return -ENOEXEC;
	return (segment->flags & (PF_W | PF_X)) == (PF_W | PF_X) ? -EACCES : 0;
}

/* The header and, kmalloc'ed, the segments. */
static int read_image(struct file *file, struct elf_header *header, struct elf_segment **segments)
{
	int error = read_exactly(file, header, sizeof(*header), 0);
	size_t size;

	if (error)
		return error;
	/* 64-bit, little-endian, version 1 */
	if (memcmp(header->ident, "\177ELF\2\1\1", 7) || header->machine != ARCH_ELF_MACHINE ||
	    (header->type != ET_EXEC && header->type != ET_DYN) ||
	    header->phentsize != sizeof(**segments) || !header->phnum ||
	    header->phnum > SEGMENTS_MAX || header->phoff >> 62)
		return -ENOEXEC;
	size = header->phnum * sizeof(**segments);
	*segments = kmalloc(size, GFP_KERNEL);
	if (!*segments)
		return -ENOMEM;
	error = read_exactly(file, *segments, size, header->phoff);
	for (unsigned i = 0; !error && i < header->phnum; i++)
		error = check_segment(&(*segments)[i]);
	return error;
}

static int map_segment(struct program *program, struct file *file,
		       const struct elf_segment *segment, u64 bias)
{
	unsigned protection = (segment->flags & PF_R ? PROT_READ : 0) |
			      (segment->flags & PF_W ? PROT_WRITE : 0) |
			      (segment->flags & PF_X ? PROT_EXEC : 0);
	u64 start = page_down(segment->vaddr) + bias, data_end, file_end, end;
	s64 result = 0;
	u8 *rest;

	data_end = segment->vaddr + segment->filesz + bias;
	file_end = segment->filesz ? page_up(data_end) : start;
	end = page_up(segment->vaddr + segment->memsz) + bias;
	program->window_page = ~0ULL;
	if (file_end > start)
		result = mm_map(program->mm, start, file_end - start, protection,
				MAP_PRIVATE | MAP_FIXED, file, page_down(segment->offset));
	if (result >= 0 && end > file_end)
		result = mm_map(program->mm, file_end, end - file_end, protection,
				MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0);
	if (result < 0)
		return (int)result;
	/* What follows the file's part in its last page. */
	if (segment->memsz > segment->filesz && file_end > data_end && (segment->flags & PF_W)) {
		rest = program_byte(program, data_end);
		if (!rest)
			return -EFAULT;
		memset(rest, 0, file_end - data_end);
	}
	return 0;
}

/* Note for /proc, brk() and the program itself where things lie. */
static void note_extents(struct program *program, const struct elf_header *header,
			 const struct elf_segment *segment, u64 bias)
{
	struct mm *mm = program->mm;
	u64 start = segment->vaddr + bias;

	if (header->phoff - segment->offset < segment->filesz)
		program->phdr = header->phoff - segment->offset + start;
	if (segment->flags & PF_X) {
		mm->code_start = min(mm->code_start, start);
		mm->code_end = max(mm->code_end, start + segment->filesz);
	} else if (segment->flags & PF_W) {
		mm->data_start = min(mm->data_start, start);
		mm->data_end = max(mm->data_end, start + segment->filesz);
	}
	mm->brk_end = max(mm->brk_end, page_up(start + segment->memsz));
}

static int load_interpreter(struct program *program, const struct elf_segment *segment)
{
	char *name = NULL;
	struct file *file;
	int error = -ENOEXEC;

	if (segment->filesz < 2 || segment->filesz > PATH_MAX)
		return error;
	name = kmalloc(segment->filesz + 8, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	error = read_exactly(program->file, name, segment->filesz, segment->offset);
	if (!error && name[segment->filesz - 1])
		error = -ENOEXEC;
	if (!error) {
		file = exec_open(name);
		error = IS_ERR(file) ? (int)PTR_ERR(file) : elf_load(program, file, true);
		if (!IS_ERR(file))
			fput(file);
	}
	kfree(name);
	return error;
}

/* The distance from the file's addresses to those in memory. A file of fixed addresses has none. */
static s64 choose_bias(struct program *program, u64 low, u64 high, bool interpreter)
{
	s64 place = (s64)(ARCH_PIE_BASE + random_pages(28));

	/* Reserve a place for the whole; the segments then replace it. */
	if (interpreter)
		place = mm_map(program->mm, 0, high - low, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			       NULL, 0);
	return place < 0 ? place : place - (s64)low;
}

static int load_segments(struct program *program, struct file *file,
			 const struct elf_header *header, const struct elf_segment *segments,
			 bool interpreter)
{
	const struct elf_segment *segment, *end = segments + header->phnum, *named = NULL;
	u64 low = ~0ULL, high = 0;
	s64 bias = 0;
	int error = 0;

	for (segment = segments; segment < end; segment++) {
		if (segment->type == PT_INTERP && !named)
			named = segment;
		if (segment->type != PT_LOAD || !segment->memsz)
			continue;
		low = min(low, page_down(segment->vaddr));
		high = max(high, page_up(segment->vaddr + segment->memsz));
	}
	if (high <= low)
		return -ENOEXEC;
	if (header->type == ET_DYN)
		bias = choose_bias(program, low, high, interpreter);
	if (bias < 0 && bias > -4096)
		return (int)bias;
	for (segment = segments; !error && segment < end; segment++) {
		if (segment->type != PT_LOAD || !segment->memsz)
			continue;
		error = map_segment(program, file, segment, (u64)bias);
		if (!interpreter)
			note_extents(program, header, segment, (u64)bias);
	}
	program->start = header->entry + (u64)bias;
	if (interpreter) {
		program->base = (u64)bias;
		return error;
	}
	program->entry = program->start;
	program->phnum = header->phnum;
	program->mm->brk_end += random_pages(BRK_RANDOM_BITS);
	program->mm->brk_start = program->mm->brk_end;
	return error || !named ? error : load_interpreter(program, named);
}

int elf_load(struct program *program, struct file *file, bool interpreter)
{
	struct elf_segment *segments = NULL;
	struct elf_header header;
	int error = read_image(file, &header, &segments);

	if (error == -ENOEXEC && interpreter)
		error = -ELIBBAD;
	if (!error)
		error = load_segments(program, file, &header, segments, interpreter);
	kfree(segments);
	return error;
}
