/*
 * attack.c - asks a submission for keys that break a function: the function's numbers come on
 * standard input, blocks and names go to standard output. For the sandbox
 * (lab/grade/flood/asked.py).
 *
 * What is written is judged by computing the function of it, outside; so nothing here is guarded.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/base/types.h"
#include "hash/shared.h"
#include "lab/grade/function/pipe.h"

#include SUBMISSION

#define COUNT 1024
#define NAME_BYTES 256

enum kind { PRODUCT, FOLDED, TOP, NAMES, FLOOD };

struct question {
	u64 kind, first, second, bits;
};

static u64 blocks[COUNT];
static char names[COUNT][NAME_BYTES];

static void answer(const struct question *asked)
{
	const unsigned bits = (unsigned)asked->bits;

	memset(blocks, 0, sizeof(blocks));
	memset(names, 0, sizeof(names));
	if (asked->kind == PRODUCT)
		product_blocks(asked->first, (unsigned)asked->second, bits, blocks, COUNT);
	else if (asked->kind == FOLDED)
		folded_blocks((unsigned)asked->first, (unsigned)asked->second, bits, blocks, COUNT);
	else if (asked->kind == TOP)
		top_blocks(asked->first, bits, blocks, COUNT);
	else if (asked->kind == NAMES)
		multiplied_names((u32)asked->first, names, COUNT);
	else
		flood_names(names, COUNT);
}

int main(void)
{
	struct question asked;

	while (read(STDIN_FILENO, &asked, sizeof(asked)) == (ssize_t)sizeof(asked)) {
		answer(&asked);
		if (!(asked.kind < NAMES ? pipe_give(blocks, sizeof(blocks))
					 : pipe_give(names, sizeof(names))))
			return 1;
	}
	return 0;
}
