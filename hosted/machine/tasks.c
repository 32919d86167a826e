/*
 * tasks.c - hosted: tasks as contexts of one thread. Nothing preempts them; schedule() is where
 * another may run. In between, disks complete requests. What happens next is drawn from disk_rng,
 * so a seed repeats it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "hosted/machine/hosted.h"
#include "hosted/machine/shared/tasks.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(save, bottom, size)                                         \
	((void)(save), (void)(bottom), (void)(size))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)(save))
#define __sanitizer_print_stack_trace() ((void)0)
#endif

#define TASKS_MAX 16
#define STACK_BYTES KB(512) /* the sanitizer's frames are large */

struct fiber {
	struct task *task; /* NULL: free */
	ucontext_t context;
	void *stack, *fake_stack;
	size_t stack_bytes;
	void (*function)(void *);
	void *argument;
	u64 wake_ns; /* 0: no time-out */
	bool thread; /* of the kernel: never ends */
};

struct task *hosted_current = &hosted_task;

static struct fiber fibers[TASKS_MAX] = {{.task = &hosted_task}};
static struct fiber *running = &fibers[0];
static unsigned fiber_count = 1;
static struct task *ended; /* its memory is freed by who runs next */
static unsigned showing;   /* deadlock: tasks that have shown where they are */
static unsigned passed;	   /* time-outs in a row while no test's task could run */

/* ---- switching --------------------------------------------------------------------------------
 */

static void show_next(void);

static void arrived(void)
{
	__sanitizer_finish_switch_fiber(running->fake_stack, NULL, NULL);
	if (showing)
		show_next();
	if (ended) {
		free(ended->kernel_stack);
		free(ended);
		ended = NULL;
	}
}

static void switch_to(struct fiber *next)
{
	struct fiber *previous = running;

	if (next == previous)
		return;
	running = next;
	hosted_current = next->task;
	__sanitizer_start_switch_fiber(previous->task ? &previous->fake_stack : NULL, next->stack,
				       next->stack_bytes);
	swapcontext(&previous->context, &next->context);
	arrived();
}

/* Deadlock: each task shows where it waits. */
static void show_next(void)
{
	while (showing < TASKS_MAX) {
		struct fiber *fiber = &fibers[showing++];

		if (fiber != running && fiber->task)
			switch_to(fiber);
		if (fiber->task) {
			fprintf(stderr, "task %d%s waits:\n", (int)fiber->task->pid,
				fiber->thread ? " (thread)" : "");
			__sanitizer_print_stack_trace();
		}
	}
	panic("deadlock: all %u tasks wait, and no I/O is in flight", fiber_count);
}

static void wake_after_time(struct fiber *fiber)
{
	fiber->wake_ns = 0;
	fiber->task->state = TASK_RUNNING;
}

/* Somebody who could run, at random; NULL when all sleep. */
static struct fiber *pick_runnable(void)
{
	unsigned start = (unsigned)rng_below(&disk_rng, TASKS_MAX);

	for (unsigned i = 0; i < TASKS_MAX; i++) {
		struct fiber *fiber = &fibers[(start + i) % TASKS_MAX];

		if (fiber->wake_ns && fiber->wake_ns <= hosted_clock_ns)
			wake_after_time(fiber);
		if (fiber->task && fiber->task->state == TASK_RUNNING)
			return fiber;
	}
	return NULL;
}

/* All sleep, no I/O is in flight: time passes until the first time-out. */
static bool pass_time(void)
{
	struct fiber *first = NULL;

	for (struct fiber *fiber = fibers; fiber < fibers + TASKS_MAX; fiber++)
		if (fiber->task && fiber->wake_ns && (!first || fiber->wake_ns < first->wake_ns))
			first = fiber;
	if (!first || (first->thread && ++passed > 1000))
		return false;
	if (hosted_clock_ns < first->wake_ns)
		hosted_clock_ns = first->wake_ns;
	wake_after_time(first);
	return true;
}

/* One CPU: nobody waits for a grace period. */
void sched_ask(unsigned cpu, u32 bits)
{
	(void)cpu, (void)bits;
}

void sched_do_pending(void)
{
}

void schedule(void)
{
	struct fiber *next;

	if (fiber_count > 1 && rng_below(&disk_rng, 2))
		disk_complete_one();
	while ((next = pick_runnable()) == NULL)
		if (!disk_complete_one() && !pass_time())
			show_next();
	passed = next->thread ? passed : 0;
	switch_to(next);
}

bool schedule_until(u64 deadline_ns)
{
	if (hosted_clock_ns < deadline_ns) {
		running->wake_ns = deadline_ns == ~0ull ? 0 : deadline_ns;
		schedule();
		running->wake_ns = 0;
	}
	__set_current_state(TASK_RUNNING);
	return hosted_clock_ns < deadline_ns;
}

bool wake_up_task(struct task *task)
{
	bool slept = task->state != TASK_RUNNING;

	task->state = TASK_RUNNING;
	return slept;
}

/* ---- starting and ending ----------------------------------------------------------------------
 */

static void entry(void)
{
	arrived();
	running->function(running->argument);
	user_leave();
	task_end();
	ended = running->task;
	running->task = NULL; /* the stack is used for the next one */
	hosted_task.state = TASK_RUNNING; /* which may wait for us */
	fiber_count--;
	schedule();
}

static void make_context(ucontext_t *context, void *stack)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = STACK_BYTES;
	makecontext(context, entry, 0);
}

/* The sanitizer wants to know our own stack. */
static void find_own_stack(void)
{
	pthread_attr_t attributes;

	if (fibers[0].stack)
		return;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &fibers[0].stack, &fibers[0].stack_bytes);
	pthread_attr_destroy(&attributes);
}

struct task *task_launch(void (*function)(void *), void *argument, bool thread)
{
	struct fiber *fiber = fibers;
	struct task *task = malloc(sizeof(*task));

	while (fiber->task)
		BUG_ON(++fiber == fibers + TASKS_MAX);
	find_own_stack();
	if (!fiber->stack)
		fiber->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	BUG_ON(fiber->stack == MAP_FAILED);
	*fiber = (struct fiber){.task = task,
				.stack = fiber->stack,
				.stack_bytes = STACK_BYTES,
				.function = function,
				.argument = argument,
				.thread = thread};
	task_begin(task, (unsigned)(fiber - fibers), aligned_alloc(64, KERNEL_STACK_SIZE));
	task->pending = TASK_PENDING_RESCHED; /* whenever somebody asks */
	make_context(&fiber->context, fiber->stack);
	fiber_count++;
	return task;
}

void tasks_wait(void)
{
	for (;;) {
		unsigned left = 0;

		for (unsigned i = 1; i < TASKS_MAX; i++)
			left += fibers[i].task && !fibers[i].thread;
		if (!left)
			return;
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}
