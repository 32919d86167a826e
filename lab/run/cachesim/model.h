/*
 * model.h - the memory caches of the simulated processors, and their translation buffers (TLBs).
 *
 * A model is one processor. Each level is set-associative with true LRU. A miss in one level is
 * looked up in the next, and the line comes into all levels that missed, reads and writes alike
 * (write-allocate). The levels are neither inclusive nor exclusive: what one drops stays in the
 * others. Written lines are not told from others, so writing them back costs nothing.
 *
 * With a first level for instructions a model has what is behind twice: once for data alone, as if
 * instructions came from nowhere, and once for both. So one run tells what either would be. A TLB
 * changes nothing in the caches: its misses are counted beside them.
 *
 * Several models may be fed at a time. What is most recently used in its set in every one of them
 * is a hit that changes nothing, and is told by one comparison (struct recent).
 * docs/lab/simulated/cache-simulation.md says what is not modelled.
 *
 * A set is an array of tags, the most recently used first; 0 is an empty place. Plain C without a
 * word of QEMU: cachesim.c includes it, and so does tests/lab/run/cachesim_model.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 3
#define MODELS 5
#define PAGE_BITS 12
#define LARGE_PAGE_BITS 21

struct level {
	uint32_t *tags; /* ways of them a set */
	unsigned ways, line_bits, set_bits;
	uint64_t set_mask;
};

/* Keeps pages: a tag has the virtual and the physical one. */
struct tlb {
	uint64_t *tags;
	unsigned ways;
	uint64_t set_mask;
};

struct model {
	struct level level[LEVELS]; /* for data: the first is for it alone */
	unsigned levels;
	struct level code;	   /* the first level for instructions; no ways: there is none */
	struct level both[LEVELS]; /* from 1 on: the levels behind, if instructions come in, too */
	struct tlb data_pages, large_data_pages, code_pages; /* no ways: there are none */
};

/* What missed in one model. */
struct misses {
	uint64_t data[LEVELS];	      /* accesses, in levels of data alone */
	uint64_t code[LEVELS];	      /* fetches: in the first level for them, then in both[] */
	uint64_t beside_code[LEVELS]; /* accesses that missed the first level, in both[] */
	uint64_t data_pages, code_pages;
};

/* What happened in one region. */
struct counts {
	uint64_t lookups, accesses, instructions;
	struct misses misses[MODELS];
};

/* ---- one level ----------------------------------------------------------------------------- */

static unsigned log_2(uint64_t number)
{
	return 63 - (unsigned)__builtin_clzll(number);
}

/* Sets and line must be powers of two. false: they are not, or there is no memory. */
static bool level_make(struct level *level, uint64_t bytes, unsigned ways, unsigned line)
{
	uint64_t sets = ways && line ? bytes / ways / line : 0;

	if (!sets || sets & (sets - 1) || line & (line - 1) || sets * ways * line != bytes)
		return false;
	*level = (struct level){.ways = ways,
				.line_bits = log_2(line),
				.set_bits = log_2(sets),
				.set_mask = sets - 1,
				.tags = calloc(sets * ways, sizeof(*level->tags))};
	return level->tags;
}

static void level_clear(struct level *level)
{
	if (level->ways)
		memset(level->tags, 0, (level->set_mask + 1) * level->ways * sizeof(*level->tags));
}

static inline uint32_t *level_set(const struct level *level, uint64_t line)
{
	return level->tags + (line & level->set_mask) * level->ways;
}

/* 2^36 bytes are far more than a machine's 16 GB: the tag of a line of 16 bytes or more fits. */
static inline uint32_t level_tag(const struct level *level, uint64_t line)
{
	return (uint32_t)(line >> level->set_bits) + 1;
}

/* The line of @physical becomes the first of its set, whose last one goes unless it was there.
 * true: it was. */
static inline bool level_use(const struct level *level, uint64_t physical)
{
	uint64_t line = physical >> level->line_bits;
	uint32_t *set = level_set(level, line), tag = level_tag(level, line), moved = set[0];
	unsigned way = 0, ways = level->ways;

	if (moved == tag)
		return true;
	while (++way < ways) {
		uint32_t here = set[way];

		set[way] = moved;
		if (here == tag)
			break;
		moved = here;
	}
	set[0] = tag;
	return way < ways;
}

/* ---- translation buffers ------------------------------------------------------------------- */

static bool tlb_make(struct tlb *tlb, unsigned entries, unsigned ways)
{
	unsigned sets = ways ? entries / ways : 0;

	if (!sets || sets & (sets - 1) || sets * ways != entries)
		return false;
	*tlb = (struct tlb){
		.ways = ways, .set_mask = sets - 1, .tags = calloc(entries, sizeof(*tlb->tags))};
	return tlb->tags;
}

/* As level_use(). @page is virtual, @frame physical. */
static inline bool tlb_use(const struct tlb *tlb, uint64_t page, uint64_t frame)
{
	uint64_t *set = tlb->tags + (page & tlb->set_mask) * tlb->ways, moved = set[0];
	uint64_t upper = 1ull << 63 | (frame & ((1ull << 26) - 1)) << 37;
	uint64_t tag = upper | (page & ((1ull << 37) - 1));
	unsigned way = 0, ways = tlb->ways;

	if (moved == tag)
		return true;
	while (++way < ways) {
		uint64_t here = set[way];

		set[way] = moved;
		if (here == tag)
			break;
		moved = here;
	}
	set[0] = tag;
	return way < ways;
}

/* The processor has other page tables: pages of programs, the lower half of addresses, are
 * forgotten, those of the kernel, which are global, are not. @all: those, too. */
static void tlb_forget(struct tlb *tlb, bool all)
{
	uint64_t upper = all ? 0 : 1ull << 35; /* of a page of 4 KB; none of 2 MB is a program's */

	for (uint64_t set = 0; tlb->ways && set <= tlb->set_mask; set++) {
		uint64_t *tags = tlb->tags + set * tlb->ways;
		unsigned kept = 0;

		for (unsigned way = 0; way < tlb->ways; way++)
			if (tags[way] & upper)
				tags[kept++] = tags[way];
		memset(tags + kept, 0, (tlb->ways - kept) * sizeof(*tags));
	}
}

/* ---- one processor ------------------------------------------------------------------------- */

/*
 * One more level of so many bytes, behind those that are there; a line is at least as long as that
 * of the level before. false: it cannot be, or there is no memory.
 */
static bool model_add(struct model *model, uint64_t bytes, unsigned ways, unsigned line)
{
	struct level *level = &model->level[model->levels];

	if (model->levels == LEVELS || !level_make(level, bytes, ways, line))
		return false;
	if (model->levels && level->line_bits < level[-1].line_bits)
		return false;
	model->levels++;
	return true;
}

/* The first level for instructions, when all others are there. */
static bool model_add_code(struct model *model, uint64_t bytes, unsigned ways, unsigned line)
{
	if (model->levels < 2 || !level_make(&model->code, bytes, ways, line) ||
	    model->code.line_bits > model->level[1].line_bits)
		return false;
	for (unsigned i = 1; i < model->levels; i++) {
		const struct level *level = &model->level[i];
		unsigned length = 1u << level->line_bits;

		if (!level_make(&model->both[i],
				((level->set_mask + 1) * level->ways) << level->line_bits,
				level->ways, length))
			return false;
	}
	return true;
}

/* Entries and ways of the TLB of data in pages of 4 KB, of that in pages of 2 MB, of code. */
static bool model_add_tlbs(struct model *model, const unsigned sizes[6])
{
	return tlb_make(&model->data_pages, sizes[0], sizes[1]) &&
	       tlb_make(&model->large_data_pages, sizes[2], sizes[3]) &&
	       tlb_make(&model->code_pages, sizes[4], sizes[5]);
}

/* Empty caches. */
static void model_clear(struct model *model)
{
	for (unsigned i = 0; i < model->levels; i++) {
		level_clear(&model->level[i]);
		level_clear(&model->both[i]);
	}
	level_clear(&model->code);
	tlb_forget(&model->data_pages, true);
	tlb_forget(&model->large_data_pages, true);
	tlb_forget(&model->code_pages, true);
}

/* The line of @physical is read or written. */
static inline void model_access(const struct model *model, struct misses *misses, uint64_t physical)
{
	if (level_use(&model->level[0], physical))
		return;
	misses->data[0]++;
	for (unsigned i = 1; i < model->levels && !level_use(&model->level[i], physical); i++)
		misses->data[i]++;
	if (!model->code.ways)
		return;
	for (unsigned i = 1; i < model->levels && !level_use(&model->both[i], physical); i++)
		misses->beside_code[i]++;
}

/* An instruction of the line of @physical is fetched. */
static inline void model_fetch(const struct model *model, struct misses *misses, uint64_t physical)
{
	if (!model->code.ways || level_use(&model->code, physical))
		return;
	misses->code[0]++;
	for (unsigned i = 1; i < model->levels && !level_use(&model->both[i], physical); i++)
		misses->code[i]++;
}

/* Both halves' pages of 4 KB, but for the kernel's map of all memory, which has pages of 2 MB
 * (arch/x86/memory/mmu.c), as Linux's has. */
static inline bool is_in_large_page(uint64_t address)
{
	return address >> 47 == 0x1ffff && address < 0xffffff8000000000ull;
}

static inline void model_access_page(const struct model *model, struct misses *misses,
				     uint64_t address, uint64_t physical)
{
	const struct tlb *tlb = &model->data_pages;
	unsigned bits = PAGE_BITS;

	if (!tlb->ways)
		return;
	if (is_in_large_page(address)) {
		tlb = &model->large_data_pages;
		bits = LARGE_PAGE_BITS;
	}
	misses->data_pages += !tlb_use(tlb, address >> bits, physical >> bits);
}

static inline void model_fetch_page(const struct model *model, struct misses *misses,
				    uint64_t address, uint64_t physical)
{
	if (model->code_pages.ways)
		misses->code_pages +=
			!tlb_use(&model->code_pages, address >> PAGE_BITS, physical >> PAGE_BITS);
}

/* ---- what has just been used --------------------------------------------------------------- */

/*
 * Keys, lines or pages, that have been used last of all that share a set with them, in each model:
 * to use such a one again is a hit and changes no order. A key's place is made of bits that number
 * the sets of every model, and so of two keys that share a set in one of them the later one has
 * taken the earlier one's place. What is translated keeps the lowest 12 bits, so a key may be made
 * of a virtual address where none but these make the place, as long as translations stay.
 */
#define MOST_RECENT 128
struct recent {
	uint64_t key[MOST_RECENT];
	uint64_t mask;
	unsigned key_bits, place_bits; /* of an address: below these it does not count */
};

/* @highest: no bit from there on may make the place. */
static void recent_begin(struct recent *recent, unsigned highest)
{
	recent->key_bits = 63;
	recent->place_bits = 0;
	recent->mask = highest;
}

/* One more cache whose @line bits are followed by @set bits: the places are of what all have. */
static void recent_add(struct recent *recent, unsigned line, unsigned set)
{
	if (line < recent->key_bits)
		recent->key_bits = line;
	if (line > recent->place_bits)
		recent->place_bits = line;
	if (line + set < recent->mask)
		recent->mask = line + set;
}

static void recent_forget(struct recent *recent)
{
	memset(recent->key, 0xff, sizeof(recent->key)); /* no address begins so */
}

static void recent_end(struct recent *recent)
{
	unsigned end = (unsigned)recent->mask;
	unsigned bits = end > recent->place_bits ? end - recent->place_bits : 0;

	recent->mask = (1ull << bits) - 1;
	if (recent->mask >= MOST_RECENT)
		recent->mask = MOST_RECENT - 1;
	recent_forget(recent);
}

static inline uint64_t *recent_place(struct recent *recent, uint64_t address)
{
	return &recent->key[address >> recent->place_bits & recent->mask];
}

/* @key_bits: those of @recent. Compiled with EVERY_ACCESS nothing is known, and all goes the long
 * way: to the same counts, as a test has it. */
static inline bool recent_has(struct recent *recent, uint64_t address, unsigned key_bits)
{
#ifdef EVERY_ACCESS
	(void)recent, (void)address, (void)key_bits;
	return false;
#else
	return *recent_place(recent, address) == address >> key_bits;
#endif
}

static inline void recent_use(struct recent *recent, uint64_t address)
{
	*recent_place(recent, address) = address >> recent->key_bits;
}

/* ---- all models ---------------------------------------------------------------------------- */

struct models {
	struct model model[MODELS];
	unsigned number;
	bool has_code, has_pages;
	struct recent lines, pages; /* of accesses, by virtual address */
	struct recent code_lines;   /* of fetches, by physical address */
	struct recent code_pages;   /* of fetches, by virtual address */
};

/* When all models are there. */
static void models_ready(struct models *models)
{
	recent_begin(&models->lines, PAGE_BITS);
	recent_begin(&models->pages, 64);
	recent_begin(&models->code_lines, 64);
	recent_begin(&models->code_pages, 64);
	recent_add(&models->pages, PAGE_BITS, 64 - PAGE_BITS);
	recent_add(&models->code_pages, PAGE_BITS, 64 - PAGE_BITS);
	for (unsigned i = 0; i < models->number; i++) {
		const struct model *model = &models->model[i];

		recent_add(&models->lines, model->level[0].line_bits, model->level[0].set_bits);
		if (model->code.ways)
			recent_add(&models->code_lines, model->code.line_bits,
				   model->code.set_bits);
		if (model->data_pages.ways)
			recent_add(&models->pages, PAGE_BITS,
				   log_2(model->data_pages.set_mask + 1));
		if (model->code_pages.ways)
			recent_add(&models->code_pages, PAGE_BITS,
				   log_2(model->code_pages.set_mask + 1));
		models->has_code |= model->code.ways > 0;
		models->has_pages |= model->data_pages.ways > 0;
	}
	recent_end(&models->lines);
	recent_end(&models->pages);
	recent_end(&models->code_lines);
	recent_end(&models->code_pages);
}

/* Virtual addresses may be other physical ones from now on. */
static void models_forget_addresses(struct models *models)
{
	recent_forget(&models->lines);
	recent_forget(&models->pages);
	recent_forget(&models->code_pages);
}

static void models_clear(struct models *models)
{
	for (unsigned i = 0; i < models->number; i++)
		model_clear(&models->model[i]);
	models_forget_addresses(models);
	recent_forget(&models->code_lines);
}

/* Other page tables, after which translations are as good as forgotten. */
static void models_switch(struct models *models)
{
	for (unsigned i = 0; i < models->number; i++) {
		tlb_forget(&models->model[i].data_pages, false);
		tlb_forget(&models->model[i].code_pages, false);
	}
	models_forget_addresses(models);
}

/* Is the access to @address one that changes no order, and misses nothing? @line_bits: key_bits of
 * models->lines. @pages: there are TLBs, to which the same applies. */
static inline bool models_know(struct models *models, uint64_t address, unsigned line_bits,
			       bool pages)
{
	bool known = recent_has(&models->lines, address, line_bits);

	return pages ? known & recent_has(&models->pages, address, PAGE_BITS) : known;
}

/* Pages of 2 MB have sets of their own: none of them but the last is known to be the latest. */
static void models_access_page(struct models *models, struct counts *counts, uint64_t address,
			       uint64_t physical)
{
	struct recent *recent = &models->pages;

	if (is_in_large_page(address))
		for (uint64_t i = 0; i <= recent->mask; i++)
			if (is_in_large_page(recent->key[i] << PAGE_BITS))
				recent->key[i] = ~0ull;
	recent_use(recent, address);
	for (unsigned i = 0; i < models->number; i++)
		model_access_page(&models->model[i], &counts->misses[i], address, physical);
}

/* An access that is not known to change nothing. */
static void models_access(struct models *models, struct counts *counts, uint64_t address,
			  uint64_t physical)
{
	if (models->has_pages && !recent_has(&models->pages, address, PAGE_BITS))
		models_access_page(models, counts, address, physical);
	recent_use(&models->lines, address);
	for (unsigned i = 0; i < models->number; i++)
		model_access(&models->model[i], &counts->misses[i], physical);
}

/* The line of an instruction at @physical. */
static inline void models_fetch(struct models *models, struct counts *counts, uint64_t physical)
{
	struct recent *recent = &models->code_lines;

	if (recent_has(recent, physical, recent->key_bits))
		return;
	recent_use(recent, physical);
	for (unsigned i = 0; i < models->number; i++)
		model_fetch(&models->model[i], &counts->misses[i], physical);
}

static inline void models_fetch_page(struct models *models, struct counts *counts, uint64_t address,
				     uint64_t physical)
{
	if (recent_has(&models->code_pages, address, PAGE_BITS))
		return;
	recent_use(&models->code_pages, address);
	for (unsigned i = 0; i < models->number; i++)
		model_fetch_page(&models->model[i], &counts->misses[i], address, physical);
}
