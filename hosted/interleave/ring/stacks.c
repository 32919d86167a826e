/*
 * stacks.c - interleavings: who called whom, and how that is printed.
 *
 * All stacks there have been form a tree: a node is a call from a place, out of the node of its
 * caller. A task's stack is the number of a node, which an access keeps for when it is asked about.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log/assert.h"
#include "hosted/interleave/ring/ring.h"

#define NODES 65536 /* a power of 2 */

static struct node {
	u32 parent, pc;
} nodes[NODES]; /* 0 is the bottom of all stacks */
static u32 node_count;
static u16 node_index[2 * NODES]; /* hashed; 0: free */

void stacks_enter(u32 call_pc)
{
	u32 parent = running->node;

	for (u32 i = (parent * 31 + call_pc) * 2654435761u >> 7;; i++) {
		u16 *index = &node_index[i % ARRAY_SIZE(node_index)];

		if (!*index) {
			if (node_count == NODES - 1)
				ring_fail("too many different stacks");
			*index = (u16)++node_count;
			nodes[*index] = (struct node){parent, call_pc};
		}
		if (nodes[*index].parent == parent && nodes[*index].pc == call_pc) {
			running->node = *index;
			return;
		}
	}
}

void stacks_leave(void)
{
	running->node = nodes[running->node].parent;
}

void stacks_get(u32 node, u32 pc, struct ring_stack *stack)
{
	unsigned n = 0;

	memset(stack, 0, sizeof(*stack));
	stack->pc[n++] = pc;
	for (; node && n < RING_DEPTH; node = nodes[node].parent)
		stack->pc[n++] = nodes[node].pc;
}

/*
 * The first @depth frames of @stack as lines "function at file:line", inlined functions before who
 * has them. An address is of what follows the call: one before it is asked for.
 */
void stacks_names(const struct ring_stack *stack, unsigned depth, char *text, size_t size)
{
	char command[64 + 12 * RING_DEPTH], function[256], place[512];
	size_t used = (size_t)snprintf(command, sizeof(command), "addr2line -f -i -e /proc/%d/exe",
				       (int)getpid());
	FILE *pipe;

	*text = 0;
	for (unsigned i = 0; i < depth && i < RING_DEPTH && stack->pc[i]; i++)
		used += (size_t)snprintf(command + used, sizeof(command) - used, " %#x",
					 stack->pc[i] - 1);
	used = 0;
	pipe = popen(command, "r");
	while (pipe && used < size && fgets(function, sizeof(function), pipe) &&
	       fgets(place, sizeof(place), pipe)) {
		char *at = strrchr(place, '/');

		while (at && at > place && at[-1] != '/') /* one folder is enough */
			at--;
		function[strcspn(function, "\n")] = 0;
		place[strcspn(place, " \n")] = 0;
		used += (size_t)snprintf(text + used, size - used, "%s at %s\n", function,
					 at ?: place);
	}
	if (pipe)
		pclose(pipe);
}

void stacks_print(const struct ring_stack *stack)
{
	char text[8192], *rest = text, *line;

	stacks_names(stack, RING_DEPTH, text, sizeof(text));
	while ((line = strsep(&rest, "\n")) && *line)
		fprintf(stderr, "    %s\n", line);
}

void stacks_show_tasks(void)
{
	struct ring_stack stack;

	ring_active = false;
	for (struct fiber *fiber = fibers; fiber < fibers + RING_TASKS; fiber++) {
		if (!fiber->task || !fiber->node)
			continue;
		fprintf(stderr, "  task %u%s:\n", fiber->number,
			fiber == running ? ", running" : "");
		stacks_get(fiber->node, fiber->last_pc, &stack);
		stacks_print(&stack);
	}
}
