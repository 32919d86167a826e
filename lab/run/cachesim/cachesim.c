/*
 * cachesim.c - a plugin for QEMU: the memory caches of a processor, fed with every access of the
 * guest to its memory. lab/run/cachesim/simulation.py builds it and reads what it writes.
 *
 * Arguments: out=FILE, then a level=BYTES/WAYS/LINE for each level, the first level first, and
 * perhaps from=mark. The caches are those of model.h, one set of them, for one CPU. They are
 * indexed and tagged with physical addresses: so a line is the same line whichever process uses it,
 * and the first levels of the presets, whose ways are no larger than a page, are indexed the same
 * with either.
 *
 * What is counted is decided by marks, instructions that do nothing but be seen here:
 *
 *	nopl 0x4357000N(%rax)		init (user/init.c): the job begins (1), has ended (2)
 *	nopl 0xc4c4ffNN(%rax,%rax)	a program (user/region.h): count from here (0), stop (1)
 *	nopl 0xc4c4RRNN(%rax,%rax)	the kernel (hash/cache.h): region RR begins (0), ends (1)
 *
 * The job's accesses are counted from its begin to its end, with empty caches at first. If a
 * program has a mark of its own, what was counted until then is forgotten, and only what lies
 * between such marks counts: each such part by itself, and all together. The caches are kept up to
 * date throughout, or with from=mark empty until the first mark. At the job's end the counts of all
 * regions are written to FILE.
 *
 * An access belongs to the innermost region that has begun and not ended, else to the kernel or to
 * programs, by the address of the instruction. Regions may nest: handling an interrupt is one, too.
 *
 * Instructions are counted a translated block at a time, as it is entered, and after each mark
 * anew. So of a block that a fault leaves in its midst all counts, and again what follows when it
 * goes on.
 *
 * Versions of QEMU from 9 on count inline by another function, so there a callback does it.
 */
#include "../qemu/plugin.h"
#include "model.h"

#define PAGE_BITS 12
#define PAGE_MASK ((1ull << PAGE_BITS) - 1)
#define LONGEST 16 /* bytes of one access */

/* Regions of the kernel's marks, then what is outside of all. */
enum region { PAGE, BUFFER, INODE, DENTRY, INTERRUPT, MARKED, KERNEL = MARKED, USER, REGIONS };
static const char *const region_names[REGIONS] = {"page",      "buffer", "inode", "dentry",
						  "interrupt", "kernel", "user"};
#define DEEPEST 8
#define MOST_PARTS 1024

static struct model model;
static char out[4096];

static struct counts regions[REGIONS], not_counted;

/* What was counted between a program's marks: each time by itself, the first MOST_PARTS of them,
 * and all times together. */
struct part {
	struct counts regions[REGIONS];
};

static struct part parts[MOST_PARTS], sum;
static size_t count_of_parts;
static struct counts *of_kernel = &not_counted, *of_user = &not_counted; /* where accesses count */
static uint64_t kernel_instructions, user_instructions; /* since the last change of these two */

static bool in_job, by_program; /* between init's marks; a program has had marks of its own */
static bool from_mark;		/* the caches stay empty until a program's first mark */
static bool simulating;		/* accesses go to the caches */
static bool counting;
static enum region stack[DEEPEST + 1] = {KERNEL}; /* of regions that have begun */
static unsigned depth;
static uint64_t unbalanced,
	untranslated; /* marks without their partner; accesses without address */

/* ---- regions ------------------------------------------------------------------------------- */

/* Give the instructions since the last call to who executed them, and look who is next. */
static void change_region(void)
{
	of_kernel->instructions += kernel_instructions;
	of_user->instructions += user_instructions;
	kernel_instructions = user_instructions = 0;
	of_kernel = counting ? &regions[stack[depth]] : &not_counted;
	of_user = counting ? &regions[USER] : &not_counted;
}

static void begin_region(unsigned region)
{
	if (depth == DEEPEST) {
		unbalanced++;
		return;
	}
	stack[++depth] = region;
	change_region();
	of_kernel->lookups++;
}

static void end_region(unsigned region)
{
	if (!depth || stack[depth] != region) {
		unbalanced++;
		return;
	}
	depth--;
	change_region();
}

static void count_from_here(void)
{
	counting = true;
	change_region();
}

static void stop_counting(void)
{
	counting = false;
	change_region();
}

static void add_counts(struct counts *to, const struct counts *more)
{
	to->lookups += more->lookups;
	to->accesses += more->accesses;
	to->instructions += more->instructions;
	for (unsigned level = 0; level < model.levels; level++)
		to->misses[level] += more->misses[level];
}

/* A program's part has ended: put it by, and begin with nothing again. */
static void end_part(void)
{
	if (count_of_parts < MOST_PARTS)
		memcpy(parts[count_of_parts++].regions, regions, sizeof(regions));
	for (unsigned i = 0; i < REGIONS; i++)
		add_counts(&sum.regions[i], &regions[i]);
	memset(regions, 0, sizeof(regions));
}

/* The members of an object, all regions of a part. */
static void write_part(FILE *file, const struct part *part)
{
	for (unsigned i = 0; i < REGIONS; i++) {
		const struct counts *counts = &part->regions[i];

		fprintf(file,
			"%s\"%s\": {\"lookups\": %llu, \"accesses\": %llu, \"instructions\": %llu",
			i ? ", " : "", region_names[i], (unsigned long long)counts->lookups,
			(unsigned long long)counts->accesses,
			(unsigned long long)counts->instructions);
		for (unsigned level = 0; level < model.levels; level++)
			fprintf(file, ", \"l%u_misses\": %llu", level + 1,
				(unsigned long long)counts->misses[level]);
		fprintf(file, "}");
	}
}

/* What was counted since the last part's end is of the job, or of a part that never ended. */
static void write_counts(void)
{
	FILE *file = fopen(out, "w");

	if (!file)
		return;
	for (unsigned i = 0; i < REGIONS; i++)
		add_counts(&sum.regions[i], &regions[i]);
	fprintf(file,
		"{\"by_program\": %s, \"unbalanced\": %llu, \"untranslated\": %llu, \"parts\": [",
		by_program ? "true" : "false", (unsigned long long)unbalanced,
		(unsigned long long)untranslated);
	for (size_t i = 0; i < count_of_parts; i++) {
		fprintf(file, "%s{", i ? ", " : "");
		write_part(file, &parts[i]);
		fprintf(file, "}");
	}
	fprintf(file, "], ");
	write_part(file, &sum);
	fprintf(file, "}\n");
	fclose(file);
}

static void job_mark(unsigned number)
{
	if (number == 1 && !in_job) {
		in_job = true;
		model_clear(&model);
		if (!from_mark) {
			simulating = true;
			count_from_here();
		}
	} else if (number == 2 && in_job) {
		in_job = simulating = false;
		stop_counting();
		write_counts();
	}
}

static void program_mark(unsigned number)
{
	if (!in_job)
		return;
	if (!by_program) {
		by_program = simulating = true;
		stop_counting();
		memset(regions, 0, sizeof(regions));
	}
	if (number == 0) {
		count_from_here();
	} else if (counting) {
		stop_counting();
		end_part();
	}
}

/* ---- physical addresses -------------------------------------------------------------------- */

/*
 * Which physical page a page of addresses is. QEMU is asked once, until an instruction is executed
 * after which it may be another: whatever changes what the processor may keep of its page tables,
 * and the return from a fault that was handled. An entry is right if its key has the present
 * generation.
 */
#define KEPT 4096
static struct translation {
	uint64_t key, page;
} translations[KEPT];
static uint64_t generation = 1ull << 52;

static void forget_translations(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	generation += 1ull << 52;
	if (!generation) {
		memset(translations, 0, sizeof(translations));
		generation = 1ull << 52;
	}
}

#define NO_MEMORY (~0ull) /* a device's registers, or QEMU does not know */

static __attribute__((noinline)) uint64_t ask(qemu_plugin_meminfo_t info, uint64_t address)
{
	struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, address);
	uint64_t page = address >> PAGE_BITS;
	struct translation *translation = &translations[page % KEPT];

	if (!found) {
		untranslated++;
		return NO_MEMORY;
	}
	if (qemu_plugin_hwaddr_is_io(found))
		return NO_MEMORY;

	uint64_t physical = qemu_plugin_hwaddr_phys_addr(found);

	translation->key = page | generation;
	translation->page = physical & ~PAGE_MASK;
	return physical;
}

static inline uint64_t translate(qemu_plugin_meminfo_t info, uint64_t address)
{
	uint64_t page = address >> PAGE_BITS;
	const struct translation *translation = &translations[page % KEPT];

	if (translation->key == (page | generation))
		return translation->page | (address & PAGE_MASK);
	return ask(info, address);
}

/* ---- what is executed ---------------------------------------------------------------------- */

static inline void access_memory(struct counts *counts, qemu_plugin_meminfo_t info,
				 uint64_t address)
{
	uint64_t line = 1ull << model.level[0].line_bits, physical = translate(info, address);

	if (physical == NO_MEMORY)
		return;
	counts->accesses++;
	model_access(&model, counts, physical);
	if ((address & (line - 1)) <= line - LONGEST)
		return;

	/* Perhaps it reaches into the next line, which may be in another page. */
	uint64_t last = address + (1ull << qemu_plugin_mem_size_shift(info)) - 1;

	if ((last ^ address) & ~(line - 1)) {
		physical = translate(info, last);
		if (physical != NO_MEMORY)
			model_access(&model, counts, physical);
	}
}

static void kernel_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			  void *data)
{
	(void)cpu;
	(void)data;
	if (simulating)
		access_memory(of_kernel, info, address);
}

static void user_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)cpu;
	(void)data;
	if (simulating)
		access_memory(of_user, info, address);
}

static void count_kernel(unsigned int cpu, void *instructions)
{
	(void)cpu;
	kernel_instructions += (uintptr_t)instructions;
}

static void count_user(unsigned int cpu, void *instructions)
{
	(void)cpu;
	user_instructions += (uintptr_t)instructions;
}

/* A mark's number, and in the upper half how many instructions of its block follow it, up to and
 * with the next mark. */
static void kernel_mark(unsigned int cpu, void *data)
{
	uintptr_t mark = (uintptr_t)data, region = mark >> 8 & 0xff;

	(void)cpu;
	if (mark & 1)
		end_region(region);
	else
		begin_region(region);
	kernel_instructions += mark >> 32;
}

static void user_mark(unsigned int cpu, void *data)
{
	uintptr_t mark = (uintptr_t)data;

	(void)cpu;
	if ((mark & 0xff00) == 0xff00)
		program_mark(mark & 1);
	else
		job_mark(mark & 3);
	user_instructions += mark >> 32;
}

/* ---- what is translated -------------------------------------------------------------------- */

struct code {
	const unsigned char *bytes;
	size_t size; /* of which there are so many; the rest lies in another page */
};

static struct code code_of(const struct qemu_plugin_insn *instruction)
{
	size_t size = qemu_plugin_insn_size(instruction);
	size_t room = PAGE_MASK + 1 - (qemu_plugin_insn_vaddr(instruction) & PAGE_MASK);
	const unsigned char *bytes = qemu_plugin_insn_haddr(instruction);

	if (!bytes)
		return (struct code){NULL, 0};
	return (struct code){bytes, size < room ? size : room};
}

/* The low half of a mark's number, or 0 for any other instruction. @kernel: one of the kernel's,
 * which lies in memory in one piece. */
static uint32_t mark_of(const struct qemu_plugin_insn *instruction, bool kernel)
{
	static const unsigned char region[] = {0x0f, 0x1f, 0x84, 0x00}, high[] = {0xc4, 0xc4};
	static const unsigned char job[] = {0x0f, 0x1f, 0x80}, job_high[] = {0x00, 0x57, 0x43};
	struct code code = code_of(instruction);
	const unsigned char *bytes = code.bytes;

	if (kernel && bytes)
		code.size = qemu_plugin_insn_size(instruction);
	if (code.size == 8 && !memcmp(bytes, region, 4) && !memcmp(bytes + 6, high, 2)) {
		bool known = kernel ? bytes[5] < MARKED : bytes[5] == 0xff;

		return known && bytes[4] < 2 ? 0x10000u | bytes[5] << 8 | bytes[4] : 0;
	}
	if (code.size == 7 && !kernel && !memcmp(bytes, job, 3) && !memcmp(bytes + 4, job_high, 3))
		return bytes[3] == 1 || bytes[3] == 2 ? 0x10000u | bytes[3] : 0;
	return 0;
}

/* May the processor see other pages after it? A write to a control register, invlpg, invpcid,
 * iretq. Prefixes are skipped; to take one for another costs a question to QEMU. */
static bool changes_translations(const struct qemu_plugin_insn *instruction)
{
	struct code code = code_of(instruction);
	const unsigned char *bytes = code.bytes;

	while (code.size && (*bytes == 0x66 || (*bytes & 0xf0) == 0x40)) {
		bytes++;
		code.size--;
	}
	if (code.size && *bytes == 0xcf)
		return true;
	if (code.size < 3 || *bytes != 0x0f)
		return false;
	return bytes[1] == 0x22 || (bytes[1] == 0x01 && (bytes[2] >> 3 & 7) == 7) ||
	       (bytes[1] == 0x38 && bytes[2] == 0x82);
}

static void count_instructions(struct qemu_plugin_tb *block, bool kernel, size_t number)
{
	uint64_t *counter = kernel ? &kernel_instructions : &user_instructions;

	if (qemu_plugin_register_vcpu_tb_exec_inline)
		qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, counter,
							 number);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(block, kernel ? count_kernel : count_user,
						     QEMU_PLUGIN_CB_NO_REGS, (void *)number);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	bool kernel = qemu_plugin_tb_vaddr(block) >> 63;
	size_t following = 0;

	(void)id;
	/* Backwards: what follows a mark is known when it is met. */
	for (size_t i = qemu_plugin_tb_n_insns(block); i-- > 0;) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		uintptr_t mark = mark_of(instruction, kernel);

		if (mark) {
			qemu_plugin_register_vcpu_insn_exec_cb(
				instruction, kernel ? kernel_mark : user_mark,
				QEMU_PLUGIN_CB_NO_REGS,
				(void *)((mark & 0xffff) | following << 32));
			following = 0;
		} else if (kernel && changes_translations(instruction)) {
			qemu_plugin_register_vcpu_insn_exec_cb(instruction, forget_translations,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		}
		following++;
		qemu_plugin_register_vcpu_mem_cb(instruction, kernel ? kernel_access : user_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
	}
	count_instructions(block, kernel, following);
}

static bool take_argument(const char *argument)
{
	unsigned long long bytes;
	unsigned ways, line;

	if (!strncmp(argument, "out=", 4))
		return snprintf(out, sizeof(out), "%s", argument + 4) < (int)sizeof(out);
	if (!strcmp(argument, "from=mark"))
		return from_mark = true;
	return sscanf(argument, "level=%llu/%u/%u", &bytes, &ways, &line) == 3 &&
	       model_add(&model, bytes, ways, line) && line >= LONGEST;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
							       const void *info, int argc,
							       char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++)
		if (!take_argument(argv[i])) {
			fprintf(stderr, "cachesim: what is '%s'?\n", argv[i]);
			return -1;
		}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return out[0] && model.levels ? 0 : -1;
}
