/* lexical.c - texts shortened by ".." (fs/path/lexical/lexical.h), for test_lexical.py. */
#include "fs/path/lexical/lexical.c"

const struct component_bytes component_bytes = {
	.ones = ~0ULL / 255, .tops = ~0ULL / 255 * 0x80, .slashes = ~0ULL / 255 * '/'};

void begin(char *text)
{
	lexical_begin(text);
}
