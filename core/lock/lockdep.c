/*
 * lockdep.c - the graph of orders in which locks were taken, and the checks on it.
 *
 * A node of the graph ("key") is a class and a nesting level. An edge A -> B says that B was taken
 * while A was held; it keeps where both were taken. Edges are only added, so a bit map that is read
 * without a lock tells whether one is known; adding takes `graph_lock`, which is not itself
 * checked. Searching a way on each *new* edge only makes the checker cheap once the kernel's
 * orders are known.
 */
#include "core/kernel.h"
#include "core/lock/rcu.h"

#ifdef CONFIG_DEBUG

#define LEVELS 5
#define KEYS (LOCK_CLASSES * LEVELS)
#define EDGES_MAX 4096
#define LOCKS_HELD_MAX 24

#define USED_IN_IRQ (1u << 0)
#define USED_IRQS_ON (1u << 1)

struct held_locks {
	unsigned count;
	struct held_lock {
		const void *lock, *taken_at;
		u16 key;
		enum lock_wait wait;
	} lock[LOCKS_HELD_MAX];
};

static DEFINE_SPINLOCK(graph_lock);
static struct lock_edge {
	u16 from, to;
	const void *from_at, *to_at;
} edges[EDGES_MAX];
static unsigned edge_count;
static unsigned long known_edges[KEYS * KEYS / BITS_PER_LONG];
static u8 class_use[LOCK_CLASSES]; /* USED_* of spinlocks */

static struct held_locks cpu_held[NR_CPUS]; /* of threads that have no list: start-up, idle */
static u32 irq_depth[NR_CPUS];
static bool ended; /* something has been reported */

static void print_place(const char *what, u16 key, const void *address)
{
	ended = true; /* printing takes locks */
	printk(KERN_EMERG "  %s %s (nested %u) at %pS\n", what, lock_classes[key / LEVELS].name,
	       key % LEVELS, address);
}

static struct held_locks *held_list(void)
{
	struct task *task = current;

	return task && task->held_locks ? task->held_locks : &cpu_held[cpu_id()];
}

/* The end: what is wrong with taking @key (0: nothing is taken) after what is held. */
static __noreturn void report(const char *what, u16 key, const void *here)
{
	const struct held_locks *held = held_list();

	ended = true;
	printk(KERN_EMERG "lockdep: %s\n", what);
	for (unsigned i = 0; i < held->count; i++)
		print_place("holding", held->lock[i].key, held->lock[i].taken_at);
	if (key)
		print_place("taking", key, here);
	panic("lockdep: %s: %s", what, lock_classes[key / LEVELS].name);
}

static bool visited[KEYS];

/* Is there a way of orders from @from to @to? Prints it, last step first. */
static bool find_way(u16 from, u16 to)
{
	visited[from] = true;
	for (const struct lock_edge *edge = edges; edge < edges + edge_count; edge++) {
		if (edge->from != from || visited[edge->to])
			continue;
		if (edge->to == to || find_way(edge->to, to)) {
			print_place("holding", edge->from, edge->from_at);
			print_place("  took", edge->to, edge->to_at);
			return true;
		}
	}
	return false;
}

static void add_edge(const struct held_lock *held, u16 key, const void *here)
{
	unsigned long flags = arch_irq_save();

	__spin_lock(&graph_lock); /* by what the checker does not see */
	memset(visited, 0, sizeof(visited));
	if (find_way(key, held->key))
		report("possible deadlock: locks taken in two orders", key, here);
	if (edge_count == EDGES_MAX)
		report("too many orders to remember", key, here);
	if (!test_and_set_bit((unsigned long)held->key * KEYS + key, known_edges))
		edges[edge_count++] = (struct lock_edge){held->key, key, held->taken_at, here};
	__spin_unlock(&graph_lock);
	arch_irq_restore(flags);
}

void lockdep_acquire(const void *lock, u16 class, unsigned level, enum lock_wait wait)
{
	const void *here = __builtin_return_address(0);
	struct held_locks *held = held_list();
	u16 key = (u16)(class * LEVELS + level);

	if (ended || panicking || !class)
		return;
	for (unsigned i = 0; i < held->count; i++) {
		const struct held_lock *other = &held->lock[i];

		if (other->lock == lock)
			report("a lock is taken by its holder", key, here);
		if (other->key == key)
			report("two locks of one class and level are held", key, here);
		if (class_use[class] & USED_IRQS_ON && class_use[other->key / LEVELS] & USED_IN_IRQ)
			report("an interrupt of its holder may wait for who takes it", key, here);
		if (!test_bit((unsigned long)other->key * KEYS + key, known_edges))
			add_edge(other, key, here);
	}
	if (wait == LOCK_SPINS) { /* taken by interrupt handlers: never held with interrupts on */
		u8 use = 0;

		if (irq_depth[cpu_id()])
			use = USED_IN_IRQ;
		else if (!arch_irqs_disabled())
			use = USED_IRQS_ON;
		if (__atomic_or_fetch(&class_use[class], use, __ATOMIC_RELAXED) ==
		    (USED_IN_IRQ | USED_IRQS_ON))
			report("taken in interrupts, and elsewhere with interrupts enabled", key,
			       here);
	}
	if (held->count == LOCKS_HELD_MAX)
		report("a task holds too many locks", key, here);

	unsigned long irq_flags = arch_irq_save(); /* an interrupt uses the same list */

	held->lock[held->count++] = (struct held_lock){lock, here, key, wait};
	arch_irq_restore(irq_flags);
}

/* The index of @lock among what is held, or the count. */
static unsigned find_held(const struct held_locks *held, const void *lock)
{
	unsigned i;

	for (i = 0; i < held->count && held->lock[i].lock != lock; i++)
		;
	return i;
}

void lockdep_release(const void *lock, u16 class)
{
	struct held_locks *held = held_list();

	if (ended || panicking || !class)
		return;

	unsigned long flags = arch_irq_save();
	unsigned i = find_held(held, lock);

	if (i == held->count)
		report("released by a task that does not hold it", class * LEVELS, lock);
	held->lock[i] = held->lock[--held->count];
	arch_irq_restore(flags);
}

bool lockdep_is_held(const void *lock)
{
	const struct held_locks *held = held_list();

	return ended || panicking || find_held(held, lock) < held->count;
}

void lockdep_irq(int step)
{
	irq_depth[cpu_id()] += (u32)step;
}

void lockdep_might_sleep(const char *file, int line)
{
	const struct held_locks *held = held_list();

	if (ended || panicking)
		return;
	for (unsigned i = 0; i < held->count; i++)
		if (held->lock[i].wait == LOCK_SPINS)
			report("sleeping with a spinlock held", held->lock[i].key, file);
	rcu_assert_no_reader();
	if (irq_depth[cpu_id()] || (system_running && arch_irqs_disabled()))
		panic("sleeping in an interrupt or with interrupts off at %s:%d", file, line);
}

void lockdep_assert_none_held(void)
{
	if (!ended && held_list()->count)
		report("a task leaves the kernel with a lock held", 0, NULL);
}

void lockdep_task_init(struct task *task)
{
	/* The lowest word is the architecture's mark against overflow. */
	task->held_locks = (void *)((u64 *)task->kernel_stack + 1);
	memset(task->held_locks, 0, sizeof(*task->held_locks));
}

#endif /* CONFIG_DEBUG */
