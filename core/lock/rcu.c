/*
 * rcu.c - grace periods: which has begun, which is over, and who waits for it. See rcu.h.
 *
 * Callbacks go through three lists: gathered (of each CPU) -> next -> waiting, for the grace period
 * `wanted`. Only `gathered` is touched by call_rcu(), without a lock.
 *
 * Order of memory. Who removed an object begins a grace period after that (begun grows, a full
 * barrier). A CPU reads begun, by acquire, and stores it in `seen`, by release: its readers
 * until then are before the store, those after it find the object removed. Who finds `seen`, by
 * acquire, large enough, comes after those readers. An idling CPU clears `idle` and then has a full
 * barrier: who begins a grace period and still finds it idle, is before all of its readers.
 */
#include "core/lock/rcu.h"
#include "core/kernel.h"
#include "core/sched/wait.h"

#define RCU_BATCH 256	/* gathered callbacks, from which on they are worth a quiescent state */
#define RCU_MANY 4096	/* callbacks, from which on CPUs that are late are interrupted */
#define RCU_STALL_NS (2 * NSEC_PER_SEC)

struct rcu_list {
	struct rcu_head *first, **end; /* end NULL: empty, and first means nothing */
	unsigned count;
};

static struct rcu_cpu {
	u64 seen;		   /* the last grace period begun by its last quiescent state */
	bool idle;		   /* has no reader */
	struct rcu_list gathered;  /* this CPU's alone; rcu_barrier() looks at it */
	u64 joined;		   /* how often they have joined the others' */
	int readers;		   /* debug builds */
} __aligned(64) rcu_cpus[NR_CPUS];

static DEFINE_SPINLOCK(rcu_lock); /* guards: */
static struct rcu_list next, waiting;
static u64 wanted; /* the grace period that `waiting` waits for */
static u64 begun;  /* grace periods begun; read without the lock, as is the next */
static u64 begun_ns;
static unsigned calling; /* CPUs that are calling what has waited long enough */

/* ---- lists ----------------------------------------------------------------------------------- */

static void list_append(struct rcu_list *list, struct rcu_head *head)
{
	head->next = NULL;
	if (!list->end)
		list->first = head;
	else
		*list->end = head;
	list->end = &head->next;
	list->count++;
}

/* All of @from goes behind @to's. */
static void list_splice(struct rcu_list *to, struct rcu_list *from)
{
	if (!from->end)
		return;
	if (!to->end)
		to->first = from->first;
	else
		*to->end = from->first;
	to->end = from->end;
	to->count += from->count;
	*from = (struct rcu_list){0};
}

static void call_all(const struct rcu_list *list)
{
	struct rcu_head *head = list->first;

	for (unsigned left = list->count; left; left--) {
		struct rcu_head *following = head->next; /* @head is about to go */

		head->function(head);
		head = following;
	}
}

/* ---- grace periods --------------------------------------------------------------------------- */

static bool has_passed(unsigned cpu, u64 period)
{
	return smp_load_acquire(&rcu_cpus[cpu].idle) ||
	       smp_load_acquire(&rcu_cpus[cpu].seen) >= period;
}

static bool is_over(u64 period)
{
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (!has_passed(cpu, period))
			return false;
	return true;
}

/* What waits begins to wait for a grace period of its own, if nobody waits. The lock is held. */
static void begin_period(void)
{
	lockdep_assert_held(&rcu_lock);
	if (waiting.end || !next.end)
		return;
	list_splice(&waiting, &next);
	wanted = begun + 1;
	smp_store_release(&begun, wanted);
	smp_mb(); /* before any look at who idles */
	begun_ns = ktime_ns();
}

/* This CPU, which has no reader, notes that; what it has gathered joins the others'. What has
 * waited long enough is called: was there some? */
static bool advance(struct rcu_cpu *cpu)
{
	struct rcu_list done = {0};

	spin_lock(&rcu_lock);
	list_splice(&next, &cpu->gathered);
	WRITE_ONCE(cpu->joined, cpu->joined + 1);
	begin_period();
	smp_store_release(&cpu->seen, begun);
	if (waiting.end && is_over(wanted)) {
		list_splice(&done, &waiting);
		begin_period();
		smp_store_release(&cpu->seen, begun);
		calling++;
	}
	spin_unlock(&rcu_lock);
	if (!done.end)
		return false;
	call_all(&done);
	spin_lock(&rcu_lock);
	calling--;
	spin_unlock(&rcu_lock);
	return true;
}

static void hurry_others(void)
{
	u64 period = READ_ONCE(begun);

	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu != cpu_id() && !has_passed(cpu, period))
			sched_ask(cpu, TASK_PENDING_RCU);
}

void rcu_quiescent(void)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	ASSERT(!cpu->readers);
	task_clear_pending(current, TASK_PENDING_RCU);
	advance(cpu);
	if (READ_ONCE(waiting.count) + READ_ONCE(next.count) > RCU_MANY)
		hurry_others();
}

void rcu_idle_enter(void)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];

	ASSERT(!cpu->readers);
	smp_store_release(&cpu->idle, true);
	smp_mb(); /* before a look at the others: of two that begin to idle, one sees both */
	while ((cpu->gathered.end || READ_ONCE(waiting.end)) && advance(cpu))
		continue; /* if not, somebody does not idle, and his tick will look */
}

void rcu_idle_exit(void)
{
	WRITE_ONCE(rcu_cpus[cpu_id()].idle, false);
	smp_mb(); /* before the first reader */
}

#ifdef CONFIG_DEBUG
static void warn_of_stall(void)
{
	if (!READ_ONCE(waiting.end) || ktime_ns() - READ_ONCE(begun_ns) < RCU_STALL_NS)
		return;
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++)
		if (!has_passed(cpu, READ_ONCE(wanted)))
			pr_warn("rcu: CPU %u has held up grace period %llu for %llu ms\n", cpu,
				(unsigned long long)wanted,
				(unsigned long long)((ktime_ns() - begun_ns) / NSEC_PER_MSEC));
	WRITE_ONCE(begun_ns, ktime_ns()); /* the next in another two seconds */
}
#else
static void warn_of_stall(void)
{
}
#endif

void rcu_tick(bool user)
{
	struct rcu_cpu *cpu = &rcu_cpus[cpu_id()];
	u64 period = smp_load_acquire(&begun);

	if (user)
		smp_store_release(&cpu->seen, period);
	if (cpu->gathered.end || READ_ONCE(waiting.end) || READ_ONCE(cpu->seen) != period)
		task_set_pending(current, TASK_PENDING_RCU);
	warn_of_stall();
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
	list_append(&cpu->gathered, head);
	if (cpu->gathered.count % RCU_BATCH == 0)
		task_set_pending(current, TASK_PENDING_RCU);
}

static DEFINE_WAIT_QUEUE(rcu_wait); /* of all who synchronize: rare */

struct waiter {
	struct rcu_head rcu;
	bool done;
};

static void tell_waiter(struct rcu_head *head)
{
	smp_store_release(&container_of(head, struct waiter, rcu)->done, true);
	wake_up(&rcu_wait); /* the waiter, and his task, may be gone already */
}

void synchronize_rcu(void)
{
	struct waiter waiter = {.done = false};

	might_sleep();
	call_rcu(&waiter.rcu, tell_waiter);
	task_set_pending(current, TASK_PENDING_RCU); /* the callback joins the others' at once */
	wait_event(rcu_wait, smp_load_acquire(&waiter.done));
}

/* Has @cpu no callback that it had when it had joined @joined times? */
static bool has_joined(unsigned cpu, u64 joined)
{
	return !READ_ONCE(rcu_cpus[cpu].gathered.end) || READ_ONCE(rcu_cpus[cpu].joined) != joined;
}

/* Rare, so it looks again and again. Lists are called in the order in which they were given, but
 * by several CPUs: so all have to be through that call. */
void rcu_barrier(void)
{
	if (nr_cpus == 1)
		return;
	for (unsigned cpu = 0; cpu < nr_cpus; cpu++) {
		u64 joined = READ_ONCE(rcu_cpus[cpu].joined);

		while (!has_joined(cpu, joined)) {
			sched_ask(cpu, TASK_PENDING_RCU);
			sleep_ns(NSEC_PER_MSEC);
		}
	}
	synchronize_rcu();
	while (READ_ONCE(calling))
		sleep_ns(NSEC_PER_MSEC);
}

#ifdef CONFIG_DEBUG
void rcu_count_section(int step)
{
	rcu_cpus[cpu_id()].readers += step;
}

void rcu_assert_no_reader(void)
{
	if (rcu_cpus[cpu_id()].readers && !panicking)
		panic("rcu: a reader may sleep");
}
#endif
