/*
 * cachesim.c - a plugin for QEMU: the memory caches of a processor, fed with every access of the
 * guest to its memory. lab/run/cachesim/simulation.py builds it and reads what it writes.
 *
 * Arguments: out=FILE, perhaps from=mark, then for each of up to five processors model=on, a
 * level=BYTES/WAYS/LINE for each level, the first level first, and perhaps code=BYTES/WAYS/LINE and
 * tlb=ENTRIES/WAYS/... three times. The caches are those of model.h, for one CPU. They are indexed
 * and tagged with physical addresses: so a line is the same line whichever process uses it, and the
 * first levels of the presets, whose ways are no larger than a page, are indexed the same with
 * either.
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
 * goes on. Its lines are fetched as it is entered, too, all for the region that it begins in.
 *
 * An access costs the host a call and one comparison if it changes no order in the caches
 * (model.h, struct recent). That is why these paths are made once for each kind.
 *
 * Versions of QEMU from 9 on count inline by another function, so there a callback does it.
 */
#include "guest.h"
#include "regions.h"

#if PLUGIN_VERSION == 1
#define LONGEST 8 /* bytes of one access */
#else
#define LONGEST 16
#endif

/* ---- physical addresses -------------------------------------------------------------------- */

static struct translations translations = {.generation = FIRST_GENERATION};

static void forget_translations(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	forget_translations_of(&translations);
	models_forget_addresses(&models);
}

/* The processor is given other page tables. */
static void switch_tables(unsigned int cpu, void *data)
{
	forget_translations(cpu, data);
	models_switch(&models);
}

/* ---- what is executed ---------------------------------------------------------------------- */

/* Where it is memory: what is not known to be the latest of its set, or of its page. */
static __attribute__((noinline)) bool access_line(struct counts *counts, qemu_plugin_meminfo_t info,
						  uint64_t address)
{
	uint64_t physical = translate(&translations, info, address);

	if (physical == NO_MEMORY)
		return false;
	models_access(&models, counts, address, physical);
	return true;
}

/* It may reach into the next line, which may be in another page. */
static __attribute__((noinline)) void access_next(struct counts *counts, qemu_plugin_meminfo_t info,
						  uint64_t address, unsigned line_bits)
{
	uint64_t last = address + (1ull << qemu_plugin_mem_size_shift(info)) - 1;

	if ((last ^ address) >> line_bits)
		access_line(counts, info, last);
}

/* @line_bits, @pages: of the models, known where this is inlined. */
static inline __attribute__((always_inline)) void access_memory(struct counts *counts,
								struct often *often,
								qemu_plugin_meminfo_t info,
								uint64_t address,
								unsigned line_bits, bool pages)
{
	uint64_t line = 1ull << line_bits;

	if (!models_know(&models, address, line_bits, pages) && !access_line(counts, info, address))
		return;
	often->accesses++;
	if ((address & (line - 1)) > line - LONGEST && address & (LONGEST - 1))
		access_next(counts, info, address, line_bits);
}

#define ACCESS(name, counts, often, line_bits, pages)                                              \
	static void name(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,           \
			 void *data)                                                               \
	{                                                                                          \
		(void)cpu;                                                                         \
		(void)data;                                                                        \
		if (simulating)                                                                    \
			access_memory(counts, &(often), info, address, line_bits, pages);          \
		else if (wants_host)                                                               \
			translate(&translations, info, address);                                   \
	}

ACCESS(kernel_32, of_kernel, kernel, 5, false)
ACCESS(user_32, of_user, user, 5, false)
ACCESS(kernel_64, of_kernel, kernel, 6, false)
ACCESS(user_64, of_user, user, 6, false)
ACCESS(kernel_any, of_kernel, kernel, models.lines.key_bits, false)
ACCESS(user_any, of_user, user, models.lines.key_bits, false)
ACCESS(kernel_32_pages, of_kernel, kernel, 5, true)
ACCESS(user_32_pages, of_user, user, 5, true)
ACCESS(kernel_any_pages, of_kernel, kernel, models.lines.key_bits, true)
ACCESS(user_any_pages, of_user, user, models.lines.key_bits, true)

static accessed_t access_of(bool of_the_kernel)
{
	if (models.has_pages && models.lines.key_bits == 5)
		return of_the_kernel ? kernel_32_pages : user_32_pages;
	if (models.has_pages)
		return of_the_kernel ? kernel_any_pages : user_any_pages;
	if (models.lines.key_bits == 5)
		return of_the_kernel ? kernel_32 : user_32;
	if (models.lines.key_bits == 6)
		return of_the_kernel ? kernel_64 : user_64;
	return of_the_kernel ? kernel_any : user_any;
}

/* Lines of instructions that a block has in one page, by where the host has them. */
struct fetch {
	uint64_t address, host;
	size_t bytes;
};

static void fetch_lines(struct counts *counts, const struct fetch *fetch)
{
	uint64_t line = 1ull << models.code_lines.key_bits;
	uint64_t physical = fetch->host + host_to_physical;
	uint64_t end = physical + fetch->bytes;

	if (!knows_host) {
		untranslated++;
		return;
	}
	models_fetch_page(&models, counts, fetch->address, physical);
	if (!models.has_code)
		return;
	for (physical &= ~(line - 1); physical < end; physical += line)
		models_fetch(&models, counts, physical);
}

static void kernel_fetch(unsigned int cpu, void *fetch)
{
	(void)cpu;
	if (simulating)
		fetch_lines(of_kernel, fetch);
}

static void user_fetch(unsigned int cpu, void *fetch)
{
	(void)cpu;
	if (simulating)
		fetch_lines(of_user, fetch);
}

static void count_kernel(unsigned int cpu, void *instructions)
{
	(void)cpu;
	kernel.instructions += (uintptr_t)instructions;
}

static void count_user(unsigned int cpu, void *instructions)
{
	(void)cpu;
	user.instructions += (uintptr_t)instructions;
}

static void kernel_mark(unsigned int cpu, void *data)
{
	uintptr_t mark = (uintptr_t)data, region = mark >> 8 & 0xff;

	(void)cpu;
	if (mark & 1)
		end_region(region);
	else
		begin_region(region);
	kernel.instructions += mark >> 32;
}

static void user_mark(unsigned int cpu, void *data)
{
	uintptr_t mark = (uintptr_t)data;

	(void)cpu;
	if ((mark & 0xff00) == 0xff00)
		program_mark(mark & 1);
	else
		job_mark(mark & 3);
	user.instructions += mark >> 32;
}

/* ---- what is translated -------------------------------------------------------------------- */

static bool knows_mark(unsigned region, unsigned number, bool of_kernel)
{
	return number < 2 && (of_kernel ? region < MARKED : region == 0xff);
}

/* What is to be called after an instruction for what it changes; NULL: nothing. */
static executed_t called_after(const struct qemu_plugin_insn *instruction)
{
	switch (changes_translations(instruction)) {
	case CHANGES_TRANSLATIONS:
		return forget_translations;
	case SWITCHES_TABLES:
		return switch_tables;
	default:
		return NULL;
	}
}

static void watch(struct qemu_plugin_insn *instruction, bool of_kernel)
{
	executed_t change = of_kernel ? called_after(instruction) : NULL;

	if (change)
		qemu_plugin_register_vcpu_insn_exec_cb(instruction, change, QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	qemu_plugin_register_vcpu_mem_cb(instruction, access_of(of_kernel), QEMU_PLUGIN_CB_NO_REGS,
					 QEMU_PLUGIN_MEM_RW, NULL);
}

static void count_instructions(struct qemu_plugin_tb *block, bool of_kernel, size_t number)
{
	uint64_t *counter = of_kernel ? &kernel.instructions : &user.instructions;

	if (qemu_plugin_register_vcpu_tb_exec_inline)
		qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, counter,
							 number);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(block, of_kernel ? count_kernel : count_user,
						     QEMU_PLUGIN_CB_NO_REGS, (void *)number);
}

/* Blocks are translated some ten thousand times; what is given away here is never taken back. */
static void fetch_from(struct qemu_plugin_tb *block, bool of_kernel, struct fetch found)
{
	static struct fetch *room;
	static size_t left;

	if (!left) {
		left = 4096;
		room = malloc(left * sizeof(*room));
		if (!room) {
			fprintf(stderr, "cachesim: no memory\n");
			exit(1);
		}
	}
	room[--left] = found;
	qemu_plugin_register_vcpu_tb_exec_cb(block, of_kernel ? kernel_fetch : user_fetch,
					     QEMU_PLUGIN_CB_NO_REGS, &room[left]);
}

/* The block's bytes, which lie in two pages at most; so does an instruction. */
static void watch_fetches(struct qemu_plugin_tb *block, bool of_kernel)
{
	struct fetch fetch = {0};

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
		struct code code = code_of(instruction);
		uint64_t address = qemu_plugin_insn_vaddr(instruction);
		uint64_t host = (uintptr_t)code.bytes;

		if (!host)
			return;
		if (of_kernel && address >= IMAGE && !image_at_host)
			image_at_host = host - (address - IMAGE);
		if (fetch.bytes && (fetch.address ^ address) >> PAGE_BITS) {
			fetch_from(block, of_kernel, fetch);
			fetch.bytes = 0;
		}
		if (!fetch.bytes)
			fetch = (struct fetch){.address = address, .host = host};
		fetch.bytes = host + code.size - fetch.host;
	}
	if (fetch.bytes)
		fetch_from(block, of_kernel, fetch);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	static const struct watched watched = {knows_mark, kernel_mark, user_mark, watch};
	bool of_kernel = qemu_plugin_tb_vaddr(block) >> 63;

	(void)id;
	count_instructions(block, of_kernel, watch_block(&watched, block, of_kernel));
	if (models.has_code || models.has_pages)
		watch_fetches(block, of_kernel);
}

/* Of the model whose arguments come. */
static bool take_size(struct model *model, const char *argument)
{
	unsigned long long bytes;
	unsigned ways, line, tlb[6];

	if (sscanf(argument, "level=%llu/%u/%u", &bytes, &ways, &line) == 3)
		return model_add(model, bytes, ways, line) && line >= 16;
	if (sscanf(argument, "code=%llu/%u/%u", &bytes, &ways, &line) == 3)
		return model_add_code(model, bytes, ways, line);
	return sscanf(argument, "tlb=%u/%u/%u/%u/%u/%u", &tlb[0], &tlb[1], &tlb[2], &tlb[3],
		      &tlb[4], &tlb[5]) == 6 &&
	       model_add_tlbs(model, tlb);
}

static bool take_argument(const char *argument)
{
	if (!strncmp(argument, "out=", 4))
		return snprintf(out, sizeof(out), "%s", argument + 4) < (int)sizeof(out);
	if (!strcmp(argument, "from=mark"))
		return from_mark = true;
	if (!strcmp(argument, "model=on"))
		return models.number++ < MODELS;
	return models.number && take_size(&models.model[models.number - 1], argument);
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
	models_ready(&models);
	wants_host = models.has_code || models.has_pages;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return out[0] && models.number && models.model[0].levels ? 0 : -1;
}
