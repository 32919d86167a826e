/*
 * lockdep.c - classes of locks, the graph of orders in which they were taken, and the checks on it.
 *
 * A node of the graph ("key") is a class and a nesting level. An edge A -> B says that B was taken
 * while A was held; it keeps where both were taken. Edges are only added, so a bit map that is read
 * without a lock tells whether one is known; adding takes `graph_lock`, a bare word, because the
 * checker may not check itself. Searching a path on each *new* edge only makes the checker cheap
 * once the kernel's orders are known.
 */
#include "kernel/core/lockdep.h"
#include "kernel/core/atomic.h"
#include "kernel/core/bitops.h"
#include "kernel/core/core.h"
#include "kernel/core/printk.h"
#include "kernel/core/string.h"
#include "kernel/core/task.h"

#include <arch/cpu.h>

#ifdef LOCK_CLASSES

#define CLASSES_MAX 192
#define NAME_SLOTS 512 /* a power of two; several pointers may hold equal names */

struct lock_class {
	const char *name;
	atomic64_t contended;
	atomic64_t spins;
	u32 usage; /* USED_* of spinlocks */
};

static struct lock_class classes[CLASSES_MAX];
static unsigned class_count;

static struct {
	const char *name;
	u16 class;
} name_slots[NAME_SLOTS];

static u32 graph_lock;

static unsigned long graph_lock_take(void)
{
	unsigned long flags = arch_irq_save();

	while (__atomic_exchange_n(&graph_lock, 1, __ATOMIC_ACQUIRE))
		cpu_relax();
	return flags;
}

static void graph_lock_release(unsigned long flags)
{
	__atomic_store_n(&graph_lock, 0, __ATOMIC_RELEASE);
	arch_irq_restore(flags);
}

static unsigned name_slot(const char *name)
{
	return (unsigned)(((uintptr_t)name * 0x9e3779b97f4a7c15ULL) >> 40) & (NAME_SLOTS - 1);
}

/* The class by equal text, or a new one; -1 when the table is full. Under graph_lock. */
static int class_by_text(const char *name)
{
	unsigned i;

	for (i = 0; i < class_count; i++)
		if (!strcmp(classes[i].name, name))
			return (int)i;
	if (class_count == CLASSES_MAX)
		return -1;
	classes[class_count].name = name;
	return (int)class_count++;
}

/* Find @name's slot, or fill a free one. -1: too many names. */
static int class_add(const char *name)
{
	unsigned long flags = graph_lock_take();
	unsigned slot = name_slot(name), probes;
	int class = -1;

	for (probes = 0; probes < NAME_SLOTS; probes++, slot = (slot + 1) & (NAME_SLOTS - 1)) {
		if (name_slots[slot].name == name) {
			class = name_slots[slot].class;
			break;
		}
		if (!name_slots[slot].name) {
			class = class_by_text(name);
			if (class >= 0) {
				name_slots[slot].class = (u16)class;
				smp_store_release(&name_slots[slot].name, name);
			}
			break;
		}
	}
	graph_lock_release(flags);
	return class;
}

static int class_of(const char *name)
{
	unsigned slot = name_slot(name);
	const char *found;

	while ((found = smp_load_acquire(&name_slots[slot].name))) {
		if (found == name)
			return name_slots[slot].class;
		slot = (slot + 1) & (NAME_SLOTS - 1);
	}
	return class_add(name);
}

void lock_contended(const char *class_name, u64 spins)
{
	int class = class_name ? class_of(class_name) : -1;

	if (class < 0)
		return;
	atomic64_inc(&classes[class].contended);
	atomic64_add((s64)spins, &classes[class].spins);
}

bool lock_statistics(unsigned index, struct lock_statistics *out)
{
	if (index >= READ_ONCE(class_count))
		return false;
	out->name = classes[index].name;
	out->contended = (u64)atomic64_read(&classes[index].contended);
	out->spins = (u64)atomic64_read(&classes[index].spins);
	return true;
}

#endif /* LOCK_CLASSES */

#ifdef CONFIG_DEBUG

#define LEVELS 4
#define KEYS (CLASSES_MAX * LEVELS)
#define EDGES_MAX 4096
#define NO_EDGE 0xffffu

#define USED_IN_IRQ (1u << 0)
#define USED_IRQS_ON (1u << 1)

struct lock_edge {
	u16 from, to;
	u16 next; /* another edge of `from` */
	const void *from_at, *to_at;
};

static struct lock_edge edges[EDGES_MAX];
static unsigned edge_count;
static u16 first_edge[KEYS]; /* index + 1; 0: none */
static DECLARE_BITMAP(known_edges, KEYS *KEYS);

static struct held_locks cpu_held[NR_CPUS]; /* of threads that have no list: start-up, idle */
static u32 irq_depth[NR_CPUS];
static bool enabled;

static void print_place(const char *what, u16 key, const void *address)
{
	const struct lock_class *class = &classes[key / LEVELS];
	u64 offset = 0;
	const char *symbol = NULL;

#ifndef HOSTED
	const char *symbol_lookup(u64 address, u64 *offset); /* of <arch/power.h> */

	symbol = symbol_lookup((u64)(uintptr_t)address, &offset);
#endif
	printk(KERN_EMERG "  %s %s", what, class->name);
	if (key % LEVELS)
		printk(KERN_CONT " (nested %u)", key % LEVELS);
	printk(KERN_CONT " at %s+0x%llx (%p)\n", symbol ? symbol : "?", (unsigned long long)offset,
	       address);
}

static void print_held(const struct held_locks *held)
{
	unsigned i;

	for (i = 0; i < held->count; i++)
		print_place("holding", held->lock[i].key, held->lock[i].taken_at);
}

static void give_up(const char *why)
{
	enabled = false;
	pr_warn("lockdep: %s: checking ends\n", why);
}

static struct held_locks *held_list(void)
{
	struct task *task = current;

	return task && task->held_locks ? task->held_locks : &cpu_held[cpu_id()];
}

static void report_simple(const char *what, u16 key, const void *here)
{
	enabled = false;
	printk(KERN_EMERG "lockdep: %s\n", what);
	print_place("taking", key, here);
	print_held(held_list());
	panic("lockdep: %s: %s", what, classes[key / LEVELS].name);
}

/* Breadth first from @from to @to over the known edges; reached[k]: the edge (index + 1) that led
 * to k. Under graph_lock. */
static u16 reached[KEYS], frontier[KEYS];

static bool find_path(u16 from, u16 to)
{
	unsigned head = 0, tail = 0;

	memset(reached, 0, sizeof(reached));
	frontier[tail++] = from;
	while (head < tail) {
		u16 key = frontier[head++], edge;

		if (key == to)
			return true;
		for (edge = first_edge[key]; edge; edge = edges[edge - 1].next) {
			u16 next = edges[edge - 1].to;

			if (!reached[next] && next != from) {
				reached[next] = edge;
				frontier[tail++] = next;
			}
		}
	}
	return false;
}

/* @held -> @key closes a cycle: there is a path from @key to @held in reached[]. */
static __noreturn void report_cycle(const struct held_lock *held, u16 key, const void *here)
{
	u16 step = held->key;

	enabled = false;
	printk(KERN_EMERG "lockdep: possible deadlock: locks taken in two orders\n");
	printk(KERN_EMERG " now:\n");
	print_place("holding", held->key, held->taken_at);
	print_place("taking", key, here);
	printk(KERN_EMERG " before (last step first):\n");
	while (step != key) {
		const struct lock_edge *edge = &edges[reached[step] - 1];

		print_place("holding", edge->from, edge->from_at);
		print_place("  took", edge->to, edge->to_at);
		step = edge->from;
	}
	panic("lockdep: %s and %s are taken in both orders", classes[held->key / LEVELS].name,
	      classes[key / LEVELS].name);
}

static void add_edge(const struct held_lock *held, u16 key, const void *here)
{
	unsigned long flags = graph_lock_take();
	bool cycle = false, full = false;

	if (!test_bit((unsigned long)held->key * KEYS + key, known_edges)) {
		cycle = find_path(key, held->key);
		full = edge_count == EDGES_MAX;
		if (!full && !cycle) {
			edges[edge_count] = (struct lock_edge){
				held->key, key, first_edge[held->key], held->taken_at, here};
			first_edge[held->key] = (u16)++edge_count;
			set_bit((unsigned long)held->key * KEYS + key, known_edges);
		}
	}
	graph_lock_release(flags);
	if (cycle)
		report_cycle(held, key, here);
	if (full)
		give_up("too many lock orders");
}

static void check_orders(const struct held_locks *held, const void *lock, u16 key, unsigned flags,
			 const void *here)
{
	unsigned i;

	for (i = 0; i < held->count; i++) {
		const struct held_lock *other = &held->lock[i];

		if (flags & LOCK_TRY)
			continue; /* cannot deadlock */
		if (other->lock == lock)
			report_simple("a lock is taken by its holder", key, here);
		if (other->key == key)
			report_simple("two locks of one class and level are held", key, here);
		if (!test_bit((unsigned long)other->key * KEYS + key, known_edges))
			add_edge(other, key, here);
	}
}

/* A class taken by interrupt handlers may never be held with interrupts on. */
static void check_irq_use(u16 key, unsigned flags, const void *here)
{
	struct lock_class *class = &classes[key / LEVELS];
	u32 use = irq_depth[cpu_id()] ? USED_IN_IRQ : flags & LOCK_IRQS ? USED_IRQS_ON : 0;

	if (!use || (class->usage & use))
		return;
	if ((__atomic_fetch_or(&class->usage, use, __ATOMIC_RELAXED) | use) ==
	    (USED_IN_IRQ | USED_IRQS_ON))
		report_simple("taken in interrupts, and elsewhere with interrupts enabled", key,
			      here);
}

void lockdep_acquire(const void *lock, const char *class_name, unsigned level, enum lock_kind kind,
		     unsigned flags)
{
	const void *here = __builtin_return_address(0);
	struct held_locks *held;
	unsigned long irq_flags;
	int class;
	u16 key;

	if (!enabled || !class_name)
		return;
	class = class_of(class_name);
	if (class < 0) {
		give_up("too many lock classes");
		return;
	}
	key = (u16)((unsigned)class * LEVELS + (level & (LEVELS - 1)));
	held = held_list();
	check_orders(held, lock, key, flags, here);
	if (kind == LOCK_SPIN)
		check_irq_use(key, flags, here);
	if (held->count == LOCKS_HELD_MAX) {
		give_up("a task holds too many locks");
		return;
	}
	irq_flags = arch_irq_save(); /* an interrupt pushes and pops on the same list */
	held->lock[held->count++] = (struct held_lock){lock, here, key, (u8)kind};
	arch_irq_restore(irq_flags);
}

void lockdep_release(const void *lock, const char *class_name)
{
	struct held_locks *held;
	unsigned long flags;
	unsigned i;

	if (!enabled || !class_name)
		return;
	held = held_list();
	flags = arch_irq_save();
	for (i = held->count; i-- > 0;)
		if (held->lock[i].lock == lock)
			break;
	if (i >= LOCKS_HELD_MAX) {
		arch_irq_restore(flags);
		enabled = false;
		panic("lockdep: %s is released by a task that does not hold it", class_name);
	}
	for (held->count--; i < held->count; i++)
		held->lock[i] = held->lock[i + 1];
	arch_irq_restore(flags);
}

bool lockdep_is_held(const void *lock)
{
	const struct held_locks *held;
	unsigned i;

	if (!enabled)
		return true;
	held = held_list();
	for (i = 0; i < held->count; i++)
		if (held->lock[i].lock == lock)
			return true;
	return false;
}

void lockdep_irq_enter(void)
{
	irq_depth[cpu_id()]++;
}

void lockdep_irq_exit(void)
{
	irq_depth[cpu_id()]--;
}

void lockdep_might_sleep(const char *file, int line)
{
	const struct held_locks *held;
	unsigned i;

	if (!enabled)
		return;
	held = held_list();
	for (i = 0; i < held->count; i++) {
		if (held->lock[i].kind != LOCK_SPIN)
			continue;
		enabled = false;
		print_held(held);
		panic("sleeping with a spinlock held at %s:%d", file, line);
	}
	if (irq_depth[cpu_id()])
		panic("sleeping in an interrupt at %s:%d", file, line);
	if (system_running && arch_irqs_disabled())
		panic("sleeping with interrupts off at %s:%d", file, line);
}

void lockdep_assert_none_held(void)
{
	const struct held_locks *held;

	if (!enabled)
		return;
	held = held_list();
	if (!held->count)
		return;
	enabled = false;
	print_held(held);
	panic("lockdep: a task leaves the kernel with a lock held");
}

void lockdep_task_init(struct task *task)
{
	/* The lowest word is the architecture's mark against overflow. */
	task->held_locks = (void *)((u64 *)task->kernel_stack + 1);
	memset(task->held_locks, 0, sizeof(*task->held_locks));
}

void lockdep_init(void)
{
	enabled = true;
}

#endif /* CONFIG_DEBUG */
