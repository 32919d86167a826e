/*
 * fibers.c - interleavings: tasks as contexts of one thread, each on a CPU of its own, and the
 * kernel's scheduler as they see it.
 *
 * The runnable one of the highest priority runs. Who is woken may be higher: so every point looks.
 * Task 0 is the test itself; it goes on when no other can. Task 1 is the disk: an idle CPU that
 * takes its interrupts; some schedules have other CPUs take them in between two of their accesses.
 */
#include <stdio.h>

#include "fs/block/block.h"
#include "core/lock/rcu.h"
#include "core/log/assert.h"
#include "core/sched/sched.h"
#include "hosted/interleave/ring/ring.h"
#include "hosted/machine/shared/tasks.h"
#include "hosted/machine/user.h"

#define STEPS_UNFAIR                                                                               \
	20 /* times the profile's: a schedule may keep somebody waiting, but not so long */
#define STEPS_MAX 200 /* that long, and with taking turns, it hangs */

struct fiber fibers[RING_TASKS];
struct fiber *running = &fibers[0];
bool ring_active, ring_trace;

static struct task tasks[RING_TASKS];
static char kernel_stacks[RING_TASKS][KERNEL_STACK_SIZE] __aligned(64);
static struct ring_clock io_clock; /* of all that was asked of disks */
static bool look_again;		   /* who is highest may have changed */
static unsigned in_flight;
static unsigned paused; /* who did last, and nobody has reached a point since */

/* ---- what the compiled kernel asks ------------------------------------------------------------
 */

unsigned ring_cpu_id(void)
{
	return running->number;
}

struct task *ring_current(void)
{
	return running->number ? running->task : &hosted_task;
}

bool *ring_irqs_off(void)
{
	return &running->irqs_off;
}

unsigned long arch_irq_save(void)
{
	unsigned long flags = running->irqs_off;

	running->irqs_off = true;
	return flags;
}

void arch_irq_restore(unsigned long flags)
{
	running->irqs_off = flags != 0;
}

bool arch_irqs_disabled(void)
{
	return running->irqs_off;
}

void arch_local_add(s64 *counter, s64 value)
{
	stores_seen();
	if (ring_active)
		ring_point((uintptr_t)counter, RING_MARKED_WRITE,
			   (u32)ring_place((uintptr_t)__builtin_return_address(0)));
	*counter += value;
}

u64 arch_clock_ns(void)
{
	return hosted_clock_ns += 100;
}

/* ---- switching --------------------------------------------------------------------------------
 */

static void switch_to(struct fiber *next)
{
	struct fiber *previous = running;

	if (next == previous)
		return;
	ring_shared->switches++;
	running = next;
	if (_setjmp(previous->context))
		return;
	if (next->started)
		_longjmp(next->context, 1);
	next->started = true;
	setcontext(&next->start);
}

/* Who is about to sleep has another state already, but runs until it calls schedule(). */
static bool runnable(const struct fiber *fiber)
{
	return fiber->task && !(fiber->asleep && fiber->task->state != TASK_RUNNING);
}

static struct fiber *highest(void)
{
	struct fiber *best = NULL;

	for (struct fiber *fiber = fibers; fiber < fibers + RING_TASKS; fiber++)
		if (runnable(fiber) && (!best || fiber->priority > best->priority))
			best = fiber;
	return best;
}

static void step_back(void)
{
	running->priority = schedule_lowest();
	look_again = true;
}

/* The first time-out comes; false: nobody has one. */
static bool pass_time(void)
{
	struct fiber *first = NULL;

	for (struct fiber *fiber = fibers; fiber < fibers + RING_TASKS; fiber++)
		if (fiber->wake_ns && (!first || fiber->wake_ns < first->wake_ns))
			first = fiber;
	if (!first)
		return false;
	hosted_clock_ns = max(hosted_clock_ns, first->wake_ns);
	first->wake_ns = 0;
	first->task->state = TASK_RUNNING;
	return look_again = true;
}

static void take_turn(void)
{
	if (schedule_time_passes())
		pass_time();
	look_again = false;

	struct fiber *next = highest();

	if (next != running)
		stores_turn();
	switch_to(next);
}

/* ---- interrupts -------------------------------------------------------------------------------
 */

static void interrupt(void)
{
	stores_seen();
	running->in_interrupt = running->irqs_off = true;
	races_join(&running->clock, &io_clock);
	in_flight--;
	disk_complete_one();
	stores_seen();
	running->in_interrupt = running->irqs_off = false;
}

static void disk_task(void *unused)
{
	(void)unused;
	for (;;) {
		if (in_flight) {
			interrupt();
		} else {
			running->task->state = TASK_UNINTERRUPTIBLE;
			schedule();
		}
	}
}

static void (*disk_submit)(struct block_device *, struct block_request *);

/* Before disk.c's own: it is to complete nothing by itself. */
static void submit(struct block_device *device, struct block_request *request)
{
	unsigned long flags = arch_irq_save();

	stores_seen();
	races_publish(&io_clock);
	disk_submit(device, request);
	arch_irq_restore(flags);
	if (!((struct hosted_disk *)device->driver)->asynchronous)
		return;
	in_flight++;
	fibers[1].task->state = TASK_RUNNING;
	look_again = true;
}

void ring_disk(struct hosted_disk *disk)
{
	disk_submit = disk->device.submit;
	disk->device.submit = submit;
}

/* ---- points -----------------------------------------------------------------------------------
 */

static void too_long(void)
{
	u64 steps = ++ring_shared->run_steps, usual = max(ring_shared->steps, 10000ull);

	if (unlikely(ring_shared->steps && steps > STEPS_UNFAIR * usual)) {
		schedule_unfair_for_long();
		if (steps > STEPS_MAX * usual)
			ring_fail("hangs: %llu steps, of %llu usually", steps, usual);
	}
}

static bool on_own_stack(uintptr_t address)
{
	return address - (uintptr_t)running->stack < STACK_BYTES;
}

void ring_point(uintptr_t address, enum ring_kind kind, u32 pc)
{
	running->last_pc = pc;
	if (on_own_stack(address) || (address && !races_tracked(address)))
		return;
	too_long();
	ring_shared->trace_hash = (ring_shared->trace_hash ^ running->number ^ (u64)pc << 4 ^
				   (u64)ring_place(address) << 20) *
				  0x100000001b3ull;
	if (unlikely(ring_trace))
		printf("%u %d %#x %#lx\n", running->number, kind, pc,
		       (unsigned long)ring_place(address));
	if (schedule_change(address, kind, pc))
		step_back();
	if (in_flight && !running->irqs_off && !running->in_interrupt && schedule_interrupt())
		interrupt();
	paused = RING_TASKS;
	if (look_again)
		take_turn();
}

/* Without taking turns, who waits by looking would do so for ever. */
void ring_relax(void)
{
	stores_seen();
	if (highest() == running && !ring_active)
		ring_fail("waits by looking for what nobody will do");
	step_back();
	take_turn();
}

void ring_stores_end(unsigned one_in)
{
	if (stores_wait_on(one_in)) { /* what it looked at may change before these are seen */
		step_back();
		take_turn();
	}
	stores_seen();
}

/* Between a translation of an address and its use; or somebody waits for such a use. */
static void between_translation_and_use(void)
{
	unsigned number = running->number;

	if (!ring_active)
		return;
	if (number == paused)
		ring_relax();
	else
		ring_point(0, RING_MARKED_WRITE, 0);
	paused = number;
}

/* ---- the kernel's scheduler -------------------------------------------------------------------
 */

static void sleep_until_woken(void)
{
	u32 pc = running->last_pc;

	rcu_idle_enter(); /* its CPU has nothing else to do */
	stores_seen();
	running->last_pc = pc; /* where it sleeps is told, and not that */
	running->asleep = true;
	while (running->task->state != TASK_RUNNING) {
		struct fiber *next = highest();

		if (next)
			switch_to(next);
		else if (!pass_time())
			ring_fail("deadlock: all tasks wait, and no I/O is in flight");
	}
	running->asleep = false;
	rcu_idle_exit();
}

void sched_ask(unsigned cpu, u32 bits)
{
	if (fibers[cpu].task)
		task_set_pending(fibers[cpu].task, bits);
}

void sched_do_pending(void)
{
	if (current->pending & TASK_PENDING_RCU)
		rcu_quiescent();
}

/* What comes between two calls of a program. */
void ring_user(void)
{
	rcu_quiescent();
}

void schedule(void)
{
	if (running->irqs_off)
		ring_fail("sleeping with interrupts off");
	ring_stores_end(4);
	bool yields = running->task->state == TASK_RUNNING;

	sched_do_pending(); /* which may wake the task itself */
	if (running->task->state != TASK_RUNNING)
		sleep_until_woken();
	else if (yields)
		ring_relax();
	races_join(&running->clock, &running->wake_clock);
}

bool schedule_until(u64 deadline_ns)
{
	stores_seen();
	if (hosted_clock_ns < deadline_ns) {
		running->wake_ns = deadline_ns == ~0ull ? 0 : deadline_ns;
		schedule();
		running->wake_ns = 0;
	}
	running->task->state = TASK_RUNNING;
	return hosted_clock_ns < deadline_ns;
}

bool wake_up_task(struct task *task)
{
	stores_seen(); /* a locked instruction, in the kernel */
	bool slept = task->state != TASK_RUNNING;

	for (struct fiber *fiber = fibers; fiber < fibers + RING_TASKS; fiber++)
		if (fiber->task == task)
			races_publish(&fiber->wake_clock);
	task->state = TASK_RUNNING;
	look_again |= slept;
	return slept;
}

/* ---- starting and ending ----------------------------------------------------------------------
 */

/* The CPU of @fiber idles, or does no longer. */
static void idle_as(struct fiber *fiber, bool idles)
{
	struct fiber *self = running;

	running = fiber;
	if (idles)
		rcu_idle_enter();
	else
		rcu_idle_exit();
	running = self;
}

static void entry(void)
{
	running->function(running->argument);
	stores_seen();
	user_leave();
	task_end(); /* others see what it lets go of */
	rcu_idle_enter();
	stores_seen();
	races_publish(&fibers[0].wake_clock);
	running->task = NULL;
	switch_to(highest()); /* there is always the test itself */
}

struct task *task_launch(void (*function)(void *), void *argument, bool thread)
{
	struct fiber *fiber = &fibers[1];
	bool active = ring_active;
	char *stack;

	stores_seen();
	ring_active = false; /* nobody sees it half made */
	while (fiber->task)
		BUG_ON(++fiber == fibers + RING_TASKS);
	stack = fiber->stack ?: arena_take(STACK_BYTES, 64);
	*fiber = (struct fiber){.number = (unsigned)(fiber - fibers), .stack = stack};
	fiber->task = &tasks[fiber->number];
	fiber->thread = thread;
	fiber->function = function;
	fiber->argument = argument;
	fiber->priority = schedule_priority();
	fiber->clock = running->clock;
	fiber->clock.at[fiber->number]++;
	running->clock.at[running->number]++;
	task_begin(fiber->task, fiber->number, kernel_stacks[fiber->number]);
	getcontext(&fiber->start);
	fiber->start.uc_stack.ss_sp = stack;
	fiber->start.uc_stack.ss_size = STACK_BYTES;
	makecontext(&fiber->start, entry, 0);
	idle_as(fiber, false);
	ring_active = active;
	look_again = true;
	return fiber->task;
}

void ring_begin(void)
{
	fibers[0].task = &hosted_task;
	fibers[0].started = true;
	fibers[0].clock.at[0] = 1;
	nr_cpus = RING_TASKS;
	for (struct fiber *fiber = &fibers[1]; fiber < fibers + RING_TASKS; fiber++) {
		fiber->number = (unsigned)(fiber - fibers);
		idle_as(fiber, true);
	}
	mmu_pause = between_translation_and_use;
	mmu_fence = stores_seen;
	task_launch(disk_task, NULL, true);
}

static bool all_done(void)
{
	for (struct fiber *fiber = &fibers[1]; fiber < fibers + RING_TASKS; fiber++)
		if (fiber->task && (!fiber->thread || runnable(fiber)))
			return false;
	return !in_flight;
}

void ring_run(void)
{
	rcu_idle_enter(); /* the test itself looks at nothing meanwhile */
	ring_active = true;
	running->priority = 0; /* we go on when nobody else can */
	while (!all_done()) {
		switch_to(highest());
		if (highest() == running && !all_done() && !pass_time())
			ring_fail("deadlock: all tasks wait, and no I/O is in flight");
	}
	ring_active = false;
	races_join(&running->clock, &running->wake_clock);
	rcu_idle_exit();
}

/* The hosted tests' own name for it. */
void tasks_wait(void)
{
	ring_run();
}
