/*
 * elf.c - mapping ELF64 programs: static, static position-independent, and those with an
 * interpreter (ld.so).
 *
 * Segments become private file mappings, what lies beyond the file's part anonymous ones. A file's
 * numbers are a stranger's: each is checked before use, and mm_map() checks the ranges.
 */
#include <arch/elf.h>

#include "kernel/core/string.h"
#include "kernel/core/uaccess.h"
#include "kernel/proc/exec.h"
#include "mm/mman.h"
#include "mm/slab.h"

#define ET_EXEC 2
#define ET_DYN 3
#define PT_LOAD 1
#define PT_INTERP 3
#define PT_PHDR 6
#define PF_X 1
#define PF_W 2
#define PF_R 4
#define SEGMENTS_MAX 128

#define page_down(x) round_down((u64)(x), (u64)PAGE_SIZE)
#define page_up(x) round_up((u64)(x), (u64)PAGE_SIZE)

static int read_exactly(struct file *file, void *buffer, size_t n, u64 offset)
{
	ssize_t got = kernel_read(file, buffer, n, (loff_t)offset);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -ENOEXEC;
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
	if ((segment->flags & (PF_W | PF_X)) == (PF_W | PF_X))
		return -EACCES;
	return 0;
}

static int read_image(struct file *file, struct elf_image *image)
{
	struct elf_header *header = &image->header;
	int error = read_exactly(file, header, sizeof(*header), 0);
	size_t size;

	if (error)
		return error;
	/* 64-bit, little-endian, version 1 */
	if (memcmp(header->ident, "\177ELF\2\1\1", 7) || header->machine != ARCH_ELF_MACHINE ||
	    (header->type != ET_EXEC && header->type != ET_DYN) ||
	    header->phentsize != sizeof(struct elf_segment) || !header->phnum ||
	    header->phnum > SEGMENTS_MAX || header->phoff >> 62)
		return -ENOEXEC;
	size = header->phnum * sizeof(struct elf_segment);
	image->segments = kmalloc(size, GFP_KERNEL);
	if (!image->segments)
		return -ENOMEM;
	error = read_exactly(file, image->segments, size, header->phoff);
	for (unsigned i = 0; !error && i < header->phnum; i++)
		error = check_segment(&image->segments[i]);
	return error;
}

/* Lowest and highest address, page aligned; -ENOEXEC when nothing is to be loaded. */
static int image_extent(const struct elf_image *image, u64 *low, u64 *high)
{
	const struct elf_segment *segment;

	*low = ~0ULL;
	*high = 0;
	for (unsigned i = 0; i < image->header.phnum; i++) {
		segment = &image->segments[i];
		if (segment->type != PT_LOAD || !segment->memsz)
			continue;
		*low = min(*low, page_down(segment->vaddr));
		*high = max(*high, page_up(segment->vaddr + segment->memsz));
	}
	return *high > *low ? 0 : -ENOEXEC;
}

static unsigned segment_protection(const struct elf_segment *segment)
{
	return (segment->flags & PF_R ? PROT_READ : 0) | (segment->flags & PF_W ? PROT_WRITE : 0) |
	       (segment->flags & PF_X ? PROT_EXEC : 0);
}

static int map_segment(struct mm *mm, struct file *file, const struct elf_segment *segment,
		       u64 bias)
{
	u64 start = page_down(segment->vaddr) + bias, file_end, end;
	unsigned protection = segment_protection(segment);
	s64 result;

	file_end = segment->filesz ? page_up(segment->vaddr + segment->filesz) + bias : start;
	end = page_up(segment->vaddr + segment->memsz) + bias;
	if (file_end > start) {
		result = mm_map(mm, start, file_end - start, protection, MAP_PRIVATE | MAP_FIXED,
				file, page_down(segment->offset));
		if (result < 0)
			return (int)result;
	}
	if (end > file_end) {
		result = mm_map(mm, file_end, end - file_end, protection,
				MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0);
		if (result < 0)
			return (int)result;
	}
	return 0;
}

static int map_image(struct mm *mm, struct file *file, struct elf_image *image)
{
	int error = 0;

	for (unsigned i = 0; !error && i < image->header.phnum; i++) {
		if (image->segments[i].type == PT_LOAD && image->segments[i].memsz)
			error = map_segment(mm, file, &image->segments[i], image->bias);
	}
	return error;
}

/* Note for /proc and brk() where code and data lie. */
static void note_extents(struct program *program)
{
	const struct elf_image *image = &program->image;
	struct mm *mm = program->mm;
	u64 end = 0;

	mm->code_start = mm->data_start = ~0ULL;
	for (unsigned i = 0; i < image->header.phnum; i++) {
		const struct elf_segment *segment = &image->segments[i];
		u64 start = segment->vaddr + image->bias;

		if (segment->type == PT_PHDR)
			program->phdr = start;
		if (segment->type != PT_LOAD)
			continue;
		if (!program->phdr && image->header.phoff >= segment->offset &&
		    image->header.phoff - segment->offset < segment->filesz)
			program->phdr = image->header.phoff - segment->offset + start;
		if (segment->flags & PF_X) {
			mm->code_start = min(mm->code_start, start);
			mm->code_end = max(mm->code_end, start + segment->filesz);
		} else if (segment->flags & PF_W) {
			mm->data_start = min(mm->data_start, start);
			mm->data_end = max(mm->data_end, start + segment->filesz);
		}
		end = max(end, start + segment->memsz);
	}
	mm->brk_start = mm->brk_end = page_up(end);
}

/* The interpreter's path, from the segment that names it; NULL when there is none. */
static char *interpreter_name(struct program *program)
{
	const struct elf_image *image = &program->image;
	const struct elf_segment *segment = NULL;
	char *name;
	int error;

	for (unsigned i = 0; i < image->header.phnum && !segment; i++) {
		if (image->segments[i].type == PT_INTERP)
			segment = &image->segments[i];
	}
	if (!segment)
		return NULL;
	if (segment->filesz < 2 || segment->filesz > PATH_MAX)
		return ERR_PTR(-ENOEXEC);
	name = kmalloc(segment->filesz + 8, GFP_KERNEL);
	if (!name)
		return ERR_PTR(-ENOMEM);
	error = read_exactly(program->file, name, segment->filesz, segment->offset);
	if (!error && name[segment->filesz - 1])
		error = -ENOEXEC;
	if (error) {
		kfree(name);
		return ERR_PTR(error);
	}
	return name;
}

static int load_interpreter(struct program *program, const char *name)
{
	struct elf_image *image = &program->interpreter;
	struct file *file = exec_open(name);
	u64 low, high;
	s64 place;
	int error;

	if (IS_ERR(file))
		return (int)PTR_ERR(file);
	error = read_image(file, image);
	if (error == -ENOEXEC)
		error = -ELIBBAD;
	if (!error)
		error = image_extent(image, &low, &high);
	if (error)
		goto out;
	if (image->header.type == ET_DYN) {
		/* Reserve a place for the whole; the segments then replace it. */
		place = mm_map(program->mm, 0, high - low, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			       NULL, 0);
		if (place < 0) {
			error = (int)place;
			goto out;
		}
		image->bias = (u64)place - low;
	}
	error = map_image(program->mm, file, image);
	program->entry = image->header.entry + image->bias;
out:
	exec_close(file);
	return error;
}

int elf_load(struct program *program)
{
	struct elf_image *image = &program->image;
	char *interpreter;
	u64 low, high;
	int error = read_image(program->file, image);

	if (!error)
		error = image_extent(image, &low, &high);
	if (error)
		return error;
	interpreter = interpreter_name(program);
	if (IS_ERR(interpreter))
		return (int)PTR_ERR(interpreter);
	if (image->header.type == ET_DYN)
		image->bias = ARCH_PIE_BASE - low;
	error = map_image(program->mm, program->file, image);
	program->entry = image->header.entry + image->bias;
	note_extents(program);
	if (!error && interpreter)
		error = load_interpreter(program, interpreter);
	kfree(interpreter);
	return error;
}

static int clear_image_bss(const struct elf_image *image)
{
	for (unsigned i = 0; image->segments && i < image->header.phnum; i++) {
		const struct elf_segment *segment = &image->segments[i];
		u64 end = segment->vaddr + segment->filesz + image->bias;

		if (segment->type != PT_LOAD || segment->memsz <= segment->filesz ||
		    !segment->filesz || !(segment->flags & PF_W))
			continue;
		if (page_up(end) > end && clear_user((void *)end, page_up(end) - end))
			return -EFAULT;
	}
	return 0;
}

int elf_clear_bss(const struct program *program)
{
	int error = clear_image_bss(&program->image);

	return error ? error : clear_image_bss(&program->interpreter);
}

void elf_free(struct program *program)
{
	kfree(program->image.segments);
	kfree(program->interpreter.segments);
}
