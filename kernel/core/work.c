/*
 * work.c - the thread that runs deferred work.
 */
#include "kernel/core/work.h"
#include "kernel/core/err.h"
#include "kernel/core/printk.h"
#include "kernel/core/wait.h"

static DEFINE_SPINLOCK(work_lock); /* guards the list and each work's `queued` */
static LIST_HEAD(work_list);
static DEFINE_WAIT_QUEUE(work_wait);

bool work_queue(struct work *work)
{
	unsigned long flags;
	bool queued;

	spin_lock_irqsave(&work_lock, flags);
	queued = work->queued;
	if (!queued) {
		work->queued = true;
		list_add_tail(&work->link, &work_list);
	}
	spin_unlock_irqrestore(&work_lock, flags);
	wake_up(&work_wait);
	return !queued;
}

static struct work *work_take(void)
{
	struct work *work = NULL;

	spin_lock_irq(&work_lock);
	if (!list_empty(&work_list)) {
		work = list_first_entry(&work_list, struct work, link);
		list_del_init(&work->link);
		work->queued = false;
	}
	spin_unlock_irq(&work_lock);
	return work;
}

static int work_thread(void *argument)
{
	(void)argument;
	for (;;) {
		struct work *work = work_take();

		if (work)
			work->function(work);
		else
			wait_event(work_wait, !list_empty(&work_list));
	}
	return 0;
}

void work_init(void)
{
	struct task *thread = kthread_create(work_thread, NULL, "kwork");

	if (IS_ERR(thread))
		panic("no memory for the work thread");
}
