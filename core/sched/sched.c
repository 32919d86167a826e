/*
 * sched.c - which task runs: a run queue for each CPU, round robin with time slices.
 *
 * The running task is not on its queue. A task that becomes runnable goes to an idle CPU if there
 * is one, else to the CPU it ran on last. A CPU that has nothing to run takes a waiting task from
 * the longest queue, and so does one at the end of each time slice whose own queue is shorter:
 * where all CPUs are busy, tasks share them all.
 *
 * Locks: run_queue->lock guards the queue and the state of tasks whose `cpu` it is; taken with
 * interrupts off, innermost of all locks, never two at once. It is released before the switch:
 * on_cpu says that a task's stack is still in use, so nobody else may take it from the queue until
 * then.
 *
 * States: the waker may find a task that has set its state but not yet called schedule() (it is
 * run_queue->running: set TASK_RUNNING, nothing else), that is leaving its CPU (on_cpu: put it on
 * that CPU's own queue), or that sleeps (place it anywhere).
 */
#include <arch/mmu.h>
#include <arch/process.h>

#include "core/kernel.h"
#include "core/lock/rcu.h"

struct run_queue {
	spinlock_t lock;
	struct list_head tasks;
	unsigned length;
	struct task *running;
	struct task *idle;
	u64 switches;
	u64 user_ns;	/* sampled by ticks */
	u64 started_ns; /* when this CPU began to count */
} __aligned(64);

static struct run_queue run_queues[NR_CPUS];
void (*sched_signal_hook)(int signo);
void (*sched_tick_hook)(struct task *task, bool user);
static const struct cred *kernel_cred;	/* of kernel threads */
bool system_running;

static inline struct run_queue *this_queue(void)
{
	return &run_queues[cpu_id()];
}

static inline bool queue_is_idle(const struct run_queue *queue)
{
	return READ_ONCE(queue->running) == queue->idle && !READ_ONCE(queue->length);
}

void sched_init(struct task *boot_task, const struct cred *cred)
{
	kernel_cred = cred;
	for (unsigned i = 0; i < NR_CPUS; i++) {
		spin_lock_init(&run_queues[i].lock, "run_queue");
		INIT_LIST_HEAD(&run_queues[i].tasks);
	}
	sched_adopt_idle(boot_task);
}

void sched_adopt_idle(struct task *task)
{
	struct run_queue *queue = this_queue();

	task->state = TASK_RUNNING;
	task->cpu = (int)cpu_id();
	task->on_cpu = true;
	queue->started_ns = task->last_switch_ns = ktime_ns();
	queue->running = task;
	WRITE_ONCE(queue->idle, task);
}

/* ---- putting a task on a queue --------------------------------------------------------------- */

static void enqueue(struct run_queue *queue, struct task *task)
{
	lockdep_assert_held(&queue->lock);
	list_add_tail(&task->run_link, &queue->tasks);
	queue->length++;
}

static int place(const struct task *task)
{
	if (nr_cpus == 1 || queue_is_idle(&run_queues[task->cpu]))
		return task->cpu;
	for (unsigned i = 0; i < nr_cpus; i++)
		if (cpus[i].online && run_queues[i].idle && queue_is_idle(&run_queues[i]))
			return (int)i;
	return task->cpu;
}

/* The queue of @task's CPU, which may be another until it is locked. Interrupts off. */
static struct run_queue *lock_queue(const struct task *task)
{
	for (;;) {
		struct run_queue *queue = &run_queues[READ_ONCE(task->cpu)];

		spin_lock(&queue->lock);
		if (likely(queue == &run_queues[task->cpu]))
			return queue;
		spin_unlock(&queue->lock);
	}
}

/* Wake @task if its state is one of @states; was it? */
static bool wake(struct task *task, u32 states)
{
	unsigned long flags = arch_irq_save();
	struct run_queue *queue = lock_queue(task);
	bool woken = STATE_BIT(task->state) & states;

	if (woken)
		task->state = TASK_RUNNING;
	if (woken && queue->running != task) {
		int cpu = task->on_cpu ? task->cpu : place(task);

		if (cpu != task->cpu) {
			/* RUNNING and on no queue, it is ours alone until it is enqueued. */
			task->cpu = cpu;
			spin_unlock(&queue->lock);
			queue = lock_queue(task);
		}
		enqueue(queue, task);
		if (queue->running == queue->idle) {
			task_set_pending(queue->idle, TASK_PENDING_RESCHED);
			if (task->cpu != (int)cpu_id())
				arch_send_reschedule((unsigned)task->cpu);
		}
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return woken;
}

bool wake_up_task(struct task *task)
{
	return wake(task, STATE_BIT(TASK_INTERRUPTIBLE) | STATE_BIT(TASK_UNINTERRUPTIBLE) |
			  STATE_BIT(TASK_KILLABLE));
}

void sched_tell(struct task *task, u32 bits, u32 states)
{
	task_set_pending(task, bits);
	if (!wake(task, states) && task->on_cpu && task->cpu != (int)cpu_id())
		arch_send_reschedule((unsigned)task->cpu);
}

void sched_ask(unsigned cpu, u32 bits)
{
	guard(spinlock_irqsave, &run_queues[cpu].lock);
	task_set_pending(run_queues[cpu].running, bits);
	if (cpu != cpu_id())
		arch_send_reschedule(cpu);
}

/* ---- choosing the next ----------------------------------------------------------------------- */

static void dequeue(struct run_queue *queue, struct task *task)
{
	lockdep_assert_held(&queue->lock);
	list_del_init(&task->run_link);
	queue->length--;
}

/* Move a waiting task from the longest queue to ours, if that is shorter. No lock held, interrupts
 * off. */
static void steal(struct run_queue *queue)
{
	struct run_queue *busiest = queue;
	struct task *task;

	for (unsigned i = 0; i < nr_cpus; i++)
		if (READ_ONCE(run_queues[i].length) > READ_ONCE(busiest->length))
			busiest = &run_queues[i];
	if (busiest == queue)
		return;
	spin_lock(&busiest->lock);
	list_for_each_entry (task, &busiest->tasks, run_link) {
		if (task->on_cpu)
			continue;
		dequeue(busiest, task);
		task->cpu = (int)(queue - run_queues);
		spin_unlock(&busiest->lock);
		spin_lock(&queue->lock);
		enqueue(queue, task);
		spin_unlock(&queue->lock);
		return;
	}
	spin_unlock(&busiest->lock);
}

void schedule_tail(struct task *previous)
{
	bool dead = previous->state == TASK_DEAD;

	/* Another CPU may run @previous from here on, and free it when it ends; a dead one is ours.
	 */
	__atomic_store_n(&previous->on_cpu, false, __ATOMIC_RELEASE);
	if (dead)
		task_free(previous);
}

void schedule(void)
{
	struct task *previous = current, *next;

	might_sleep();
	if (unlikely(previous->pending & TASK_PENDING_RCU))
		rcu_quiescent();

	unsigned long flags = arch_irq_save();
	struct run_queue *queue = this_queue();

	if (nr_cpus > 1 && previous->state != TASK_RUNNING && !READ_ONCE(queue->length))
		steal(queue);
	spin_lock(&queue->lock);
	task_clear_pending(previous, TASK_PENDING_RESCHED);
	/* A signal came between the test of the condition and here. */
	if (unlikely((previous->state == TASK_INTERRUPTIBLE && signal_pending(previous)) ||
		     (previous->state == TASK_KILLABLE && fatal_signal_pending(previous))))
		previous->state = TASK_RUNNING;
	if (previous->state == TASK_RUNNING && previous != queue->idle)
		enqueue(queue, previous);
	next = queue->idle;
	if (!list_empty(&queue->tasks)) {
		next = list_first_entry(&queue->tasks, struct task, run_link);
		dequeue(queue, next);
	}
	if (next == previous) {
		spin_unlock_irqrestore(&queue->lock, flags);
		return;
	}
	next->run_ticks = next->slice_ticks;

	u64 now = ktime_ns();

	previous->run_ns += now - previous->last_switch_ns;
	next->last_switch_ns = now;
	next->on_cpu = true;
	queue->running = next;
	queue->switches++;
	spin_unlock(&queue->lock);
	/* a kernel thread runs on whatever is loaded: it never looks at the lower half */
	if (next->mmu)
		mmu_switch(next->mmu);
	schedule_tail(arch_switch(previous, next));
	arch_irq_restore(flags);
}

void sched_do_pending(void)
{
	if (current->pending & TASK_PENDING_RCU)
		rcu_quiescent();
	if (current->pending & TASK_PENDING_RESCHED)
		schedule();
}

static void wake_sleeper(void *task)
{
	wake_up_task(task);
}

bool schedule_until(u64 deadline_ns)
{
	struct timer timer;

	if (deadline_ns == ~0ULL) {
		schedule();
		return true;
	}
	if (time_left(deadline_ns)) {
		timer_init(&timer, wake_sleeper, current);
		timer_start(&timer, deadline_ns);
		schedule();
		timer_cancel(&timer);
	}
	__set_current_state(TASK_RUNNING);
	return time_left(deadline_ns);
}

void scheduler_tick(bool user)
{
	struct task *task = current;
	struct run_queue *queue = this_queue();

	rcu_tick();
	if (task == queue->idle)
		return;
	if (user) {
		task->user_ns += TICK_NS;
		queue->user_ns += TICK_NS;
	}
	if (sched_tick_hook && task->process)
		sched_tick_hook(task, user);

	int idle = queue->length ? place(task) : task->cpu;

	if (idle != task->cpu) /* it looked for work just before there was some */
		arch_send_reschedule((unsigned)idle);
	if (task->run_ticks > 1) {
		task->run_ticks--;
		return;
	}
	task->run_ticks = task->slice_ticks;
	steal(queue);
	if (queue->length)
		task_set_pending(task, TASK_PENDING_RESCHED);
}

void task_set_nice(struct task *task, int nice)
{
	int ticks = nice < -16 ? 6 : max((24 - nice) / 8, 1); /* 3 in the middle */

	WRITE_ONCE(task->slice_ticks, (u32)ticks);
}

/* ---- what the room of processes does --------------------------------------------------------- */

void send_signal_current(int signo)
{
	if (current->process)
		sched_signal_hook(signo);
}

/* ---- idle and kernel threads ----------------------------------------------------------------- */

void sched_idle_loop(void)
{
	struct run_queue *queue = this_queue();

	for (;;) {
		arch_irq_disable();
		if (nr_cpus > 1 && !READ_ONCE(queue->length))
			steal(queue);
		if (!READ_ONCE(queue->length)) {
			task_clear_pending(current, TASK_PENDING_RESCHED | TASK_PENDING_RCU);
			if (nr_cpus > 1)
				/* who changes that address space need not wake us */
				mmu_switch(NULL);
			rcu_idle_enter();
			if (!READ_ONCE(queue->length)) /* a callback may have woken somebody */
				arch_halt();
			rcu_idle_exit();
			continue;
		}
		arch_irq_enable();
		schedule();
	}
}

struct task *kthread_create(int (*function)(void *), void *argument, const char *name)
{
	struct task *task = task_allocate(name);

	if (!task)
		return ERR_PTR(-ENOMEM);
	task->cred = task->real_cred = kernel_cred; /* for ever: nobody counts it */
	task_set_nice(task, 0);
	arch_prepare_kernel_thread(task, function, argument);
	wake_up_task(task);
	return task;
}

static u64 run_ns(const struct run_queue *queue, const struct task *task)
{
	lockdep_assert_held(&queue->lock);
	return task->run_ns + (queue->running == task ? ktime_ns() - task->last_switch_ns : 0);
}

u64 task_run_ns(const struct task *task)
{
	unsigned long flags = arch_irq_save();
	struct run_queue *queue = lock_queue(task);
	u64 ns = run_ns(queue, task);

	spin_unlock_irqrestore(&queue->lock, flags);
	return ns;
}

void add_cpu_info(struct cpu_info *sum, unsigned cpu)
{
	struct run_queue *queue = &run_queues[cpu];

	guard(spinlock_irqsave, &queue->lock);
	u64 idle = run_ns(queue, queue->idle);
	/* What is not idle was busy, whether or not its ticks came in time; see task_times(). */
	u64 busy = ktime_ns() - queue->started_ns - idle;

	sum->user_ns += min(queue->user_ns, busy);
	sum->system_ns += busy - min(queue->user_ns, busy);
	sum->idle_ns += idle;
	sum->switches += queue->switches;
	sum->runnable += queue->length + (queue->running != queue->idle);
}
