/*
 * threads.c - native: tasks are threads, each on a CPU of its own, instead of core/sched/sched.c.
 *
 * task->state is the word that a sleeper waits for: who wakes him makes it TASK_RUNNING, and if it
 * was something else, tells the host. Both are one atomic operation, so nothing comes between; a
 * task of another CPU is never freed (they are static), so a late waker does no harm.
 *
 * A sleeper looks a while before he asks the host to wake him, as a CPU does that idles by polling
 * (Linux's haltpoll): the host's own way to wake a thread takes some ten times what an interrupt to
 * an idle CPU takes.
 *
 * A CPU without a thread at work idles, for RCU, and so does one whose task sleeps.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel.h"
#include "core/lock/rcu.h"
#include "hosted/machine/hosted.h"
#include "hosted/machine/shared/tasks.h"
#include "hosted/native/machine/machine.h"

/* Processor's cycles: looks further apart belong to two waits; who has waited for so long yields.
 */
#define WAITS_APART 600
#define WAIT_LONG 200000
#define IDLE_POLL_NS (20 * NSEC_PER_USEC)

__thread unsigned native_cpu;
__thread struct task *native_current = &hosted_task;
__thread u32 native_until_tick = NATIVE_TICK;

struct cpu cpus[NR_CPUS];
unsigned nr_cpus = 1;

static struct task tasks[NR_CPUS];			      /* [0] is hosted_task instead */
static char stacks[NR_CPUS][KERNEL_STACK_SIZE] __aligned(64); /* of the lock checker's lists */

static struct task *task_of(unsigned cpu)
{
	return cpu ? &tasks[cpu] : &hosted_task;
}

/* Only in a single long wait: short ones that follow each other are what is measured. */
void native_relax(void)
{
	static __thread u64 began, last;
	u64 now = arch_cycles();

	if (now - last > WAITS_APART)
		began = now;
	last = now;
	if (now - began < WAIT_LONG)
		return;
	sched_yield();
	last = began = arch_cycles();
}

/* ---- sleeping and waking ----------------------------------------------------------------------
 */

static void wait_while(const struct task *task, u32 state, const struct timespec *timeout)
{
	syscall(SYS_futex, &task->state, FUTEX_WAIT_PRIVATE, state, timeout, NULL, 0);
}

/* Until woken, or the clock shows @deadline_ns; ~0: never. */
static void sleep_until(u64 deadline_ns)
{
	struct task *task = current;
	u32 state;

	might_sleep();
	if (task->pending & TASK_PENDING_RCU)
		rcu_quiescent();
	if (READ_ONCE(task->state) == TASK_RUNNING) {
		sched_yield();
		return;
	}
	rcu_idle_enter();
	for (u64 until = ktime_ns() + IDLE_POLL_NS; time_left(min(until, deadline_ns));)
		if (smp_load_acquire(&task->state) == TASK_RUNNING)
			break;
		else
			__builtin_ia32_pause();
	while ((state = smp_load_acquire(&task->state)) != TASK_RUNNING) {
		u64 left = deadline_ns == ~0ULL ? NSEC_PER_SEC : time_left(deadline_ns);
		struct timespec timeout = {(time_t)(left / NSEC_PER_SEC),
					   (long)(left % NSEC_PER_SEC)};

		if (!left)
			break;
		wait_while(task, state, &timeout);
	}
	rcu_idle_exit();
}

void schedule(void)
{
	sleep_until(~0ULL);
}

bool schedule_until(u64 deadline_ns)
{
	if (time_left(deadline_ns))
		sleep_until(deadline_ns);
	__atomic_store_n(&current->state, TASK_RUNNING, __ATOMIC_SEQ_CST);
	return time_left(deadline_ns);
}

bool wake_up_task(struct task *task)
{
	bool slept = xchg(&task->state, TASK_RUNNING) != TASK_RUNNING;

	if (slept)
		syscall(SYS_futex, &task->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return slept;
}

/* ---- what is pending --------------------------------------------------------------------------
 */

void sched_ask(unsigned cpu, u32 bits)
{
	task_set_pending(task_of(cpu), bits);
}

void native_tick(void)
{
	native_until_tick = NATIVE_TICK;
	rcu_tick();
}

void sched_do_pending(void)
{
	if (current->pending & TASK_PENDING_RCU)
		rcu_quiescent();
}

/* On the way back to the program. */
void native_pending(void)
{
	sched_do_pending();
}

void native_idle(void)
{
	rcu_idle_enter();
}

void native_busy(void)
{
	rcu_idle_exit();
}

/* ---- threads ----------------------------------------------------------------------------------
 */

struct start {
	unsigned cpu;
	void (*function)(unsigned cpu, void *argument);
	void *argument;
};

static void *run(void *of)
{
	const struct start *start = of;

	native_cpu = start->cpu;
	native_current = task_of(start->cpu);
	native_busy();
	start->function(start->cpu, start->argument);
	task_end();
	native_idle();
	return NULL;
}

void native_threads_run(void (*function)(unsigned cpu, void *argument), void *argument)
{
	struct start starts[NR_CPUS];
	pthread_t threads[NR_CPUS];

	for (unsigned cpu = 1; cpu < nr_cpus; cpu++) {
		task_begin(&tasks[cpu], cpu, stacks[cpu]);
		starts[cpu] = (struct start){cpu, function, argument};
		BUG_ON(pthread_create(&threads[cpu], NULL, run, &starts[cpu]) != 0);
	}
	function(0, argument);
	native_idle();
	for (unsigned cpu = 1; cpu < nr_cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	native_busy();
}

/* Kernel threads do not run: hosted_threads is false (shared/begin.c). */
struct task *task_launch(void (*function)(void *), void *argument, bool thread)
{
	(void)function, (void)argument, (void)thread;
	panic("a task is started that no CPU is there for");
}
