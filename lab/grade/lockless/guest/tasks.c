/*
 * tasks.c - the machine in which several tasks use a table at a time. As in machine.c of lab 4, who
 * has nothing to do rings and finds in his box what he is asked; but for ASK_RUN it is the tasks
 * that are asked, and interleave.c, outside, says after each instruction which of them goes on.
 */
#include "table.h"
#include "tasks.h"

void serve(void);
void contexts_enter(void);
extern const char contexts_begin[], contexts_step[], contexts_end[];
extern const char __executable_start[], etext[], tables_begin[], tables_end[];

static void ring(void)
{
	__asm__ volatile("outb %%al, $0xf4" ::: "memory");
}

static uint64_t memory_given; /* bytes */

void *machine_memory(uint64_t bytes)
{
	if (bytes > OBJECTS - TABLE_MEMORY - memory_given)
		return 0;
	memory_given += bytes;
	return (void *)(TABLE_MEMORY + memory_given - bytes);
}

void machine_stop(enum stopped why)
{
	((struct mailbox *)MAILBOX)->stopped = why;
	for (;;)
		ring();
}

void machine_wait(void)
{
	__asm__ volatile("outb %%al, $0xf5" ::: "memory");
}

static uint64_t answer_to(const struct asked *asked)
{
	struct object *object = (struct object *)asked->object;
	uint32_t steps = 0, compares = 0;

	switch (asked->kind) {
	case ASK_CREATE:
		table_create(asked->bucket);
		return 0;
	case ASK_INSERT:
		table_insert(asked, object);
		return 0;
	case ASK_FIND:
		return (uint64_t)table_find(asked, &steps, &compares);
	case ASK_REMOVE:
		table_remove(asked, object);
		return 0;
	default:
		return 0;
	}
}

static void task(struct box *box)
{
	for (;;) {
		struct asked asked;

		ring();
		asked = box->asked;
		box->answer = answer_to(&asked);
	}
}

/* As if task() had been interrupted at its first instruction. */
static void begin_task(unsigned number)
{
	uint64_t top = STACKS + (uint64_t)number * STACK_BYTES, *frame = (uint64_t *)top - 21;

	for (unsigned i = 0; i < 15; i++)
		frame[i] = 0;
	frame[9] = BOXES + (number - 1) * sizeof(struct box); /* %rdi */
	frame[15] = (uint64_t)task;
	frame[16] = 8;
	frame[17] = 0x102; /* the trap flag */
	frame[18] = top - 8;
	frame[19] = 0;
	((uint64_t *)CONTEXTS)[number] = (uint64_t)frame;
}

/* Vector 1 leads to contexts_step; all others end the machine. */
static void catch_steps(void)
{
	static uint64_t gates[4] __attribute__((aligned(16)));
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) table = {sizeof(gates) - 1, (uint64_t)gates};
	uint64_t to = (uint64_t)contexts_step;

	gates[2] = (to & 0xffff) | 8ull << 16 | 0x8e00ull << 32 | (to >> 16 & 0xffff) << 48;
	gates[3] = to >> 32;
	__asm__ volatile("lidt %0" : : "m"(table));
}

void serve(void)
{
	struct mailbox *mailbox = (struct mailbox *)MAILBOX;

	if (table_object_bytes > LINE)
		machine_stop(STOPPED_PANIC);
	catch_steps();
	*(struct steps *)STEPS = (struct steps){
		.begin = (uint64_t)contexts_begin,
		.end = (uint64_t)contexts_end,
		.step = (uint64_t)contexts_step,
		.enter = (uint64_t)contexts_enter,
		.kept =
			{
				.text = (uint64_t)__executable_start,
				.text_end = (uint64_t)etext,
				.pages = (uint64_t)tables_begin,
				.pages_end = (uint64_t)tables_end,
			},
	};
	for (;;) {
		struct asked asked;

		ring();
		asked = mailbox->asked;
		if (asked.kind != ASK_RUN && asked.kind != ASK_GO_ON) {
			mailbox->answer = answer_to(&asked);
			continue;
		}
		for (unsigned i = 1; i <= TASKS && asked.kind == ASK_RUN; i++)
			begin_task(i);
		contexts_enter();
	}
}
