/*
 * test_locks.c - the lock-order checker: what is right is let through, and each misuse ends a child
 * process with words that name it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hosted/machine/hosted.h"

static DEFINE_SPINLOCK(spin_a);
static DEFINE_SPINLOCK(spin_b);
static DEFINE_SPINLOCK(spin_c);
static DEFINE_MUTEX(mutex_a);

static void in_order(spinlock_t *first, spinlock_t *second)
{
	spin_lock(first);
	spin_lock(second);
	spin_unlock(second);
	spin_unlock(first);
}

#ifdef CONFIG_DEBUG /* else nobody looks */

/* Does @misuse end in a panic that says @words? */
static void panics(void (*misuse)(void), const char *words)
{
	char said[2000] = "";
	int ends[2], status;
	pid_t pid;

	BUG_ON(pipe(ends));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 2);
		misuse();
		_exit(0);
	}
	close(ends[1]);
	for (size_t n = 0, got; (got = (size_t)read(ends[0], said + n, sizeof(said) - 1 - n));
	     n += got)
		if ((ssize_t)got < 0)
			break;
	close(ends[0]);
	BUG_ON(waitpid(pid, &status, 0) != pid);
	if (!status || !strstr(said, words))
		panic("no panic of \"%s\" but %s", words, said);
}

static void two_orders(void)
{
	in_order(&spin_a, &spin_b);
	in_order(&spin_b, &spin_a);
}

static void circle_of_three(void)
{
	in_order(&spin_a, &spin_b);
	in_order(&spin_b, &spin_c);
	in_order(&spin_c, &spin_a);
}

static void twice(void)
{
	spin_lock(&spin_a);
	spin_lock(&spin_a);
}

static void of_one_class(void)
{
	spinlock_t one, other;

	for (int i = 0; i < 2; i++)
		spin_lock_init(i ? &one : &other, "one class");
	in_order(&one, &other);
}

static void sleeping(void)
{
	spin_lock(&spin_a);
	mutex_lock(&mutex_a);
}

static void not_held(void)
{
	spin_unlock(&spin_a);
}

static void left_held(void)
{
	mutex_lock(&mutex_a);
	lockdep_assert_none_held();
}

static void in_interrupts(void)
{
	lockdep_irq(1);
	spin_lock(&spin_a);
	spin_unlock(&spin_a);
	lockdep_irq(-1);
	spin_lock(&spin_a);
}

/* Who holds spin_b may be interrupted, and the interrupt wait for spin_a, which we hold. */
static void under_what_interrupts_take(void)
{
	lockdep_irq(1);
	spin_lock(&spin_a);
	spin_unlock(&spin_a);
	lockdep_irq(-1);
	spin_lock(&spin_b);
	spin_unlock(&spin_b);
	guard(spinlock_irqsave, &spin_a);
	spin_lock(&spin_b);
}

TEST(locks_misused)
{
	hosted_init(16);
	panics(two_orders, "taken in two orders: spin_a");
	panics(circle_of_three, "taken in two orders: spin_a");
	panics(twice, "taken by its holder: spin_a");
	panics(of_one_class, "of one class and level are held: one class");
	panics(sleeping, "sleeping with a spinlock held: spin_a");
	panics(not_held, "does not hold it: spin_a");
	panics(left_held, "with a lock held");
	panics(in_interrupts, "elsewhere with interrupts enabled: spin_a");
	panics(under_what_interrupts_take, "may wait for who takes it: spin_b");
}

#endif /* CONFIG_DEBUG */

TEST(locks_used)
{
	hosted_init(16);
	for (int i = 0; i < 2; i++) {
		in_order(&spin_a, &spin_b);
		in_order(&spin_a, &spin_c);
		in_order(&spin_b, &spin_c);
	}
	{
		guard(spinlock_irqsave, &spin_c);
	}
	mutex_lock(&mutex_a);
	lockdep_assert_held(&mutex_a);
	mutex_unlock(&mutex_a);
	lockdep_assert_none_held();
}
