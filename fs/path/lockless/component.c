/* component.c - the words by which the end of a text is found in eight bytes at a time. */
#include "fs/path/lockless/component.h"

const struct component_bytes component_bytes = {
	.ones = ~0ULL / 255, .tops = ~0ULL / 255 * 0x80, .slashes = ~0ULL / 255 * '/'};
