/*
 * machine.c - the machine in which a table is asked, one operation after the other: it rings, finds
 * the next one in the mailbox, answers there and rings again. What rings is an instruction that
 * witness.c waits for, outside.
 *
 * Nothing here guards against the submission, which has the whole machine to itself. But it knows
 * of no operation before it has answered the one before; and a ring that is not serve()'s own, or
 * for which the stack is not what it was at the first one, ends the machine.
 */
#include "table.h"

void serve(void);
void prepare(void);
void answer_next(void);
extern const char __executable_start[], etext[], tables_begin[], tables_end[];

void *machine_memory(uint64_t bytes)
{
	return bytes <= OBJECTS - TABLE_MEMORY ? (void *)TABLE_MEMORY : 0;
}

void machine_stop(enum stopped why)
{
	((struct mailbox *)MAILBOX)->stopped = why;
	for (;;)
		__asm__ volatile("outb %%al, $0xf4" ::: "memory");
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
		return table_walk(steps, compares);
	}
}

void prepare(void)
{
	((struct mailbox *)MAILBOX)->kept = (struct kept){
		.text = (uint64_t)__executable_start,
		.text_end = (uint64_t)etext,
		.pages = (uint64_t)tables_begin,
		.pages_end = (uint64_t)tables_end,
	};
	if (table_object_bytes > LINE)
		machine_stop(STOPPED_PANIC);
}

void answer_next(void)
{
	struct mailbox *mailbox = (struct mailbox *)MAILBOX;
	struct asked asked = mailbox->asked;
	uint32_t steps = 0, compares = 0;

	mailbox->answer = answer_to(&asked, &steps, &compares);
	mailbox->steps = steps;
	mailbox->compares = compares;
}

/* What it pushes before it rings shows how deep the stack is. */
void __attribute__((naked)) serve(void)
{
	__asm__("subq $8, %rsp\n\t"
		"call prepare\n"
		"1:\tpushq %rax\n\t"
		"outb %al, $0xf4\n\t"
		"popq %rax\n\t"
		"call answer_next\n\t"
		"jmp 1b");
}
