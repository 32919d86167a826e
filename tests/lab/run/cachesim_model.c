/* The processors of the memory-cache simulation for a test that has addresses of its own: a shared
 * object. */
#include "../../../lab/run/cachesim/model.h"

#define NUMBERS 19 /* of a processor: levels; bytes, ways, line of each, and of code; six of TLBs  \
		    */
enum kind { ACCESS, FETCH, FORGET, SWITCH, CLEAR };

static bool make(struct model *model, const uint64_t numbers[NUMBERS])
{
	const uint64_t *code = numbers + 10, *tlb = numbers + 13;
	unsigned sizes[6];

	for (unsigned i = 0; i < numbers[0]; i++)
		if (!model_add(model, numbers[1 + 3 * i], (unsigned)numbers[2 + 3 * i],
			       (unsigned)numbers[3 + 3 * i]))
			return false;
	if (code[0] && !model_add_code(model, code[0], (unsigned)code[1], (unsigned)code[2]))
		return false;
	for (unsigned i = 0; i < 6; i++)
		sizes[i] = (unsigned)tlb[i];
	return !tlb[0] || model_add_tlbs(model, sizes);
}

static void one(struct models *models, struct counts *counts, enum kind kind, uint64_t address,
		uint64_t physical)
{
	switch (kind) {
	case ACCESS:
		if (!models_know(models, address, models->lines.key_bits, models->has_pages))
			models_access(models, counts, address, physical);
		break;
	case FETCH:
		models_fetch_page(models, counts, address, physical);
		if (models->has_code)
			models_fetch(models, counts, physical);
		break;
	case FORGET:
		models_forget_addresses(models);
		break;
	case SWITCH:
		models_switch(models);
		break;
	case CLEAR:
		models_clear(models);
		break;
	}
}

static void release(struct model *model)
{
	for (unsigned i = 0; i < LEVELS; i++) {
		free(model->level[i].tags);
		free(model->both[i].tags);
	}
	free(model->code.tags);
	free(model->data_pages.tags);
	free(model->large_data_pages.tags);
	free(model->code_pages.tags);
}

/*
 * Do @number things in empty caches of @processors, and write what missed in each to @misses.
 * Returns 0, or -1 where such caches cannot be.
 */
int simulate(unsigned processors, const uint64_t (*geometry)[NUMBERS], size_t number,
	     const uint64_t (*things)[3], struct misses *misses)
{
	static struct models models;
	struct counts counts = {0};
	int result = 0;

	memset(&models, 0, sizeof(models));
	models.number = processors;
	for (unsigned i = 0; i < processors && !result; i++)
		if (!make(&models.model[i], geometry[i]))
			result = -1;
	if (!result)
		models_ready(&models);
	for (size_t i = 0; i < number && !result; i++)
		one(&models, &counts, (enum kind)things[i][0], things[i][1], things[i][2]);
	memcpy(misses, counts.misses, processors * sizeof(*misses));
	for (unsigned i = 0; i < processors; i++)
		release(&models.model[i]);
	return result;
}
