/*
 * machine.c - the machine in which a table is asked, one operation after the other: it rings, finds
 * the next one in the mailbox, answers there and rings again. What rings is an instruction that
 * witness.c waits for, outside.
 *
 * Nothing here guards against the submission, which has the whole machine to itself: it can ring
 * as well. But it knows of no operation before it has answered the one before.
 */
#include "table.h"

void serve(void);

static void ring(void)
{
	__asm__ volatile("outb %%al, $0xf4" ::: "memory");
}

void *machine_memory(uint64_t bytes)
{
	return bytes <= OBJECTS - TABLE_MEMORY ? (void *)TABLE_MEMORY : 0;
}

void machine_stop(enum stopped why)
{
	((struct mailbox *)MAILBOX)->stopped = why;
	for (;;)
		ring();
}

static uint64_t answer_to(const struct asked *asked, uint32_t *steps, uint32_t *compares)
{
	struct object *object = (struct object *)asked->object;

	switch (asked->kind) {
	case ASK_CREATE:
		table_create(asked->bucket);
		return 0;
	case ASK_INSERT:
		table_insert(asked, object);
		return 0;
	case ASK_FIND:
		return (uint64_t)table_find(asked, steps, compares);
	case ASK_REMOVE:
		table_remove(asked, object);
		return 0;
	default:
		return table_walk();
	}
}

void serve(void)
{
	struct mailbox *mailbox = (struct mailbox *)MAILBOX;

	if (table_object_bytes > LINE)
		machine_stop(STOPPED_PANIC);
	for (;;) {
		struct asked asked;
		uint32_t steps = 0, compares = 0;
		uint64_t answer;

		ring();
		asked = mailbox->asked;
		answer = answer_to(&asked, &steps, &compares);
		mailbox->answer = answer;
		mailbox->steps = steps;
		mailbox->compares = compares;
	}
}
