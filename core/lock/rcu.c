/*
 * rcu.c - grace periods: which has begun, which is over, and who waits for it. See rcu.h.
 *
 * A CPU's callbacks go through three lists of its own: gathered -> next -> waiting, for the grace
 * period `wanted`. Only `gathered` is touched by call_rcu(), without a lock. A CPU calls its own,
 * so that what they free comes back to where it was allocated. One that idles has others do it: who
 * has just had a quiescent state looks whether an idling CPU has waited for him alone.
 *
 * Order of memory. Who removed an object begins a grace period after that (begun grows, a full
 * barrier). A CPU reads begun, by acquire, and stores it in `seen`, by release: its readers
 * until then are before the store, those after it find the object removed. Who finds `seen`, by
 * acquire, large enough, comes after those readers. An idling CPU clears `idle` and then has a full
 * barrier: who begins a grace period and still finds it idle, is before all of its readers. Who has
 * passed (`seen`, `idle`) has a full barrier, and looks at the others: of two that do so, one sees
 * both.
 */
#include "core/lock/rcu.h"
#include "core/kernel.h"
#include "core/sched/wait.h"

#define RCU_BATCH 16 /* callbacks, after which a quiescent state is worth while */
#define RCU_MANY 1024 /* of a CPU, from which on CPUs that are late are interrupted */
#define RCU_STALL_NS (2 * NSEC_PER_SEC)

static struct rcu_cpu {
	/* This CPU's alone. */
	struct rcu_head *gathered; /* the last first, as the other two */
	u64 given;		   /* callbacks, ever; read by others */
	int readers;		   /* debug builds */

	/* Written by this CPU, read by all. */
	u64 seen __aligned(64); /* the last grace period begun by its last quiescent state */
	bool idle;		/* has no reader */

	/* lock, which is held while callbacks are called */
	struct rcu_head *next __aligned(64), *waiting;
	u64 wanted; /* the grace period that `waiting` waits for, and when that began */
	u64 wanted_ns;
	u64 called; /* callbacks, ever; read without the lock */
	spinlock_t lock;
} __percpu_slot rcu_cpus[NR_CPUS];
NAME_CPU_LOCKS(rcu_cpus, lock, "rcu_cpu->lock");

static u64 begun; /* grace periods; atomic */
static DEFINE_WAIT_QUEUE(rcu_wait); /* of all who wait for callbacks: rare */

/* ---- lists ----------------------------------------------------------------------------------- */

/* All of @from, which is short, goes before @to's. */
static void list_join(struct rcu_head **to, struct rcu_head **from)
{
	struct rcu_head **end = from;

	while (*end)
		end = &(*end)->next;
	*end = *to;
	*to = *from;
	*from = NULL;
}

/* Call all; how many. */
static u64 call_all(struct rcu_head *head)
{
	u64 count = 0;

	for (struct rcu_head *next; head; head = next, count++) {
		next = head->next; /* @head is about to go */
		head->function(head);
	}
	return count;
}

/* ---- grace periods --------------------------------------------------------------------------- */

static bool has_passed(unsigned cpu, u64 period)
{
	return smp_load_acquire(&rcu_cpus[cpu].idle) ||
	       smp_load_acquire(&rcu_cpus[cpu].seen) >= period;
}

/* This CPU has no reader. */
static bool is_over(u64 period)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu != cpu_id() && !has_passed(cpu, period))
			return false;
	return true;
}

/* What waits at @cpu, which is this one or idles, is called if it has waited long enough: was there
 * some? The next begins to wait. */
static bool call_waiting(struct rcu_cpu *cpu)
{
	bool done = false;

	guard(spinlock, &cpu->lock);
	for (;; done = true) {
		if (!cpu->waiting && cpu->next) {
			WRITE_ONCE(cpu->waiting, cpu->next);
			cpu->next = NULL;
			cpu->wanted = __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
			cpu->wanted_ns = ktime_ns();
		}
		if (!cpu->waiting || !is_over(cpu->wanted))
			return done;
		smp_store_release(&cpu->called, cpu->called + call_all(cpu->waiting));
		WRITE_ONCE(cpu->waiting, NULL);
		wake_up(&rcu_wait);
	}
}

/* This CPU, which has no reader, notes that. What has waited long enough is called: was there
 * some? */
static bool advance(struct rcu_cpu *cpu)
{
	bool done;

	spin_lock(&cpu->lock);
	list_join(&cpu->next, &cpu->gathered);
	spin_unlock(&cpu->lock);
	smp_store_release(&cpu->seen, smp_load_acquire(&begun));
	smp_mb(); /* before a look at the others */
	done = call_waiting(cpu);
	for (struct rcu_cpu *other = rcu_cpus; other < rcu_cpus + nr_cpus; other++)
		if (READ_ONCE(other->idle) && READ_ONCE(other->waiting))
			done |= call_waiting(other);
	return done;
}

void rcu_quiescent(void)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	ASSERT(!cpu->readers);
	task_clear_pending(current, TASK_PENDING_RCU);
	advance(cpu);
	if (cpu->given - READ_ONCE(cpu->called) < RCU_MANY)
		return;
	for (unsigned late = 0; late < nr_cpus; late++)
		if (late != cpu_id() && !has_passed(late, READ_ONCE(begun)))
			sched_ask(late, TASK_PENDING_RCU);
}

void rcu_idle_enter(void)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	ASSERT(!cpu->readers);
	smp_store_release(&cpu->idle, true);
	smp_mb(); /* before a look at the others: of two that begin to idle, one sees both */
	while (nr_cpus > 1 && advance(cpu))
		continue; /* if not, somebody does not idle, and his tick will look */
}

void rcu_idle_exit(void)
{
	WRITE_ONCE(rcu_cpus[cpu_id()].idle, false);
	smp_mb(); /* before the first reader */
}

#ifdef CONFIG_DEBUG
static void warn_of_stall(struct rcu_cpu *mine)
{
	if (!READ_ONCE(mine->waiting) || ktime_ns() - READ_ONCE(mine->wanted_ns) < RCU_STALL_NS)
		return;
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (!has_passed(cpu, READ_ONCE(mine->wanted)))
			pr_warn("rcu: CPU %u has held up grace period %llu for %llu ms\n", cpu,
				(unsigned long long)mine->wanted,
				(unsigned long long)((ktime_ns() - mine->wanted_ns) /
						     NSEC_PER_MSEC));
	WRITE_ONCE(mine->wanted_ns, ktime_ns()); /* the next in another two seconds */
}
#endif

void rcu_tick(void)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	if (cpu->gathered || READ_ONCE(cpu->waiting) ||
	    READ_ONCE(cpu->seen) != READ_ONCE(begun))
		task_set_pending(current, TASK_PENDING_RCU);
#ifdef CONFIG_DEBUG
	warn_of_stall(cpu);
#endif
}

/* ---- who waits ------------------------------------------------------------------------------- */

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head))
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	ASSERT(!cpu->readers);
	head->function = function;
	if (nr_cpus == 1) {
		function(head);
		return;
	}
	head->next = cpu->gathered;
	cpu->gathered = head;
	WRITE_ONCE(cpu->given, cpu->given + 1);
	if (cpu->given % RCU_BATCH == 0)
		task_set_pending(current, TASK_PENDING_RCU);
}

/* Until all that was given at @cpu has been called, in the order in which it was given. */
static void wait_for_given(unsigned cpu)
{
	u64 given = READ_ONCE(rcu_cpus[cpu].given);

	if (READ_ONCE(rcu_cpus[cpu].called) < given)
		sched_ask(cpu, TASK_PENDING_RCU); /* it begins to wait now */
	wait_event(rcu_wait, smp_load_acquire(&rcu_cpus[cpu].called) >= given);
}

static void do_nothing(struct rcu_head *head)
{
}

void synchronize_rcu(void)
{
	struct rcu_head head;

	might_sleep();
	call_rcu(&head, do_nothing);
	wait_for_given(cpu_id());
}

void rcu_barrier(void)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		wait_for_given(cpu);
}

#ifdef CONFIG_DEBUG
void rcu_count_section(int step)
{
	rcu_cpus[cpu_id()].readers += step;
	ASSERT(rcu_cpus[cpu_id()].readers >= 0);
}

void rcu_assert_reader(void)
{
	if (!rcu_cpus[cpu_id()].readers && !panicking)
		panic("rcu: a pointer is followed outside of a reader's section");
}

void rcu_assert_no_reader(void)
{
	if (rcu_cpus[cpu_id()].readers && !panicking)
		panic("rcu: a reader may sleep");
}
#endif
