/* The caches of the memory-cache simulation for a test that has addresses of its own: a shared
 * object. */
#include "../../../lab/run/cachesim/model.h"

/*
 * Access @number addresses in empty caches of @levels levels (bytes, ways, line each), and write
 * what missed in each to @misses. Returns 0, or -1 where such caches cannot be.
 */
int simulate(unsigned levels, const uint64_t (*geometry)[3], size_t number,
	     const uint64_t *addresses, uint64_t *misses)
{
	struct model model = {0};
	struct counts counts = {0};
	int result = 0;

	for (unsigned i = 0; i < levels && !result; i++)
		if (!model_add(&model, geometry[i][0], (unsigned)geometry[i][1],
			       (unsigned)geometry[i][2]))
			result = -1;
	model_clear(&model);
	for (size_t i = 0; i < number && !result; i++)
		model_access(&model, &counts, addresses[i]);
	memcpy(misses, counts.misses, sizeof(counts.misses));
	for (unsigned i = 0; i < LEVELS; i++)
		free(model.level[i].tags);
	return result;
}
