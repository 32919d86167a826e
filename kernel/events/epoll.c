/*
 * epoll.c - epoll(7): many files watched, those with events reported. See events.h.
 *
 * A watch is one file, under one descriptor number, in one epoll. It stands in the wait queue that
 * the file's poll method names, with a wake function that puts it on the epoll's list of ready
 * watches. That list says "look here": whether there is an event, and which, the file is asked when
 * the events are collected. A level-triggered watch that had one goes to the end of the list again,
 * to be asked the next time; one with EPOLLET waits for the next wake-up; one with EPOLLONESHOT is
 * disarmed until it is changed.
 *
 * A watch goes by EPOLL_CTL_DEL, with its epoll, or with the last reference to the open file,
 * whichever descriptors it had: so a file's watches hang on the file.
 *
 * Lock order:
 *	epoll->mutex (sleeps; collecting copies to the program under it)
 *	-> locks of poll methods -> the lock of a file's wait queue -> epoll->lock (ready)
 *	-> epoll->wait's lock -> run queues
 *	epoll->mutex -> watches_lock (file->watches of all files, epoll->users)
 *
 * Limits: no epoll in an epoll (ELOOP, as Linux says of the sixth level); WATCHES_MAX watches in
 * all, twice as many for root; EPOLLEXCLUSIVE wakes all, EPOLLWAKEUP has no meaning.
 */
#include "fs/cred.h"
#include "kernel/events/events.h"

#define WATCHES_MAX 65536 /* ENOSPC beyond it */
#define EVENTS_MAX (0x7fffffff / (int)sizeof(struct epoll_event))

enum { EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL, EPOLL_CTL_MOD };
#define EPOLLEXCLUSIVE (1u << 28)
#define EPOLLWAKEUP (1u << 29)
#define EPOLLONESHOT (1u << 30)
#define EPOLLET (1u << 31)
#define EPOLL_HOW (EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET)
#define EPOLLEXCLUSIVE_OK                                                                          \
	(POLLIN | POLLOUT | POLLERR | POLLHUP | EPOLLWAKEUP | EPOLLET | EPOLLEXCLUSIVE)

struct epoll {
	struct mutex mutex;
	struct list_head watches; /* watch->link; mutex */
	unsigned users;		  /* its file, and who drops a watch of it; watches_lock */

	spinlock_t lock;
	struct list_head ready; /* watch->ready; lock */
	wait_queue_head_t wait; /* until there is one */
};

struct watch {
	/* constant */
	struct epoll *epoll;
	struct file *file;
	int number;
	struct poll_table table; /* its place in the file's wait queue */

	struct watch *next, **back; /* of the same file; watches_lock */
	struct list_head link;	/* epoll->watches; epoll->mutex */
	struct list_head ready; /* epoll->lock; empty: it is not */
	u32 events;		/* asked for, and EPOLL_HOW; epoll->mutex and epoll->lock */
	u64 data;		/* epoll->mutex */
};

static DEFINE_SPINLOCK(watches_lock);
static atomic_t watch_count;
static const struct file_operations epoll_operations;

/* ---- becoming ready -------------------------------------------------------------------------- */

/* @watch is to be asked. epoll->lock held. */
static void make_ready(struct watch *watch)
{
	lockdep_assert_held(&watch->epoll->lock);
	if (list_empty(&watch->ready))
		list_add_tail(&watch->ready, &watch->epoll->ready);
}

static void watch_woken(struct wait_queue_entry *entry, unsigned events)
{
	struct watch *watch = container_of(entry, struct watch, table.entry);
	struct epoll *epoll = watch->epoll;

	{
		guard(spinlock_irqsave, &epoll->lock);
		if (!(watch->events & ~EPOLL_HOW & events))
			return;
		make_ready(watch);
	}
	wake_up(&epoll->wait);
}

/* The events that @watch has; @table: it comes into the file's wait queue. */
static u32 ask(struct watch *watch, struct poll_table *table)
{
	u32 events = watch->file->fop->poll(watch->file, table);

	return events & watch->events & ~EPOLL_HOW;
}

/* The first of @list, which leaves it, or NULL. */
static struct watch *take_ready(struct epoll *epoll, struct list_head *list)
{
	struct watch *watch;

	guard(spinlock_irq, &epoll->lock);
	if (list_empty(list))
		return NULL;
	watch = list_first_entry(list, struct watch, ready);
	list_del_init(&watch->ready);
	return watch;
}

/* ---- watches come and go --------------------------------------------------------------------- */

/* @file's watch under @number in @epoll, or NULL. epoll->mutex is held. */
static struct watch *find_watch(struct epoll *epoll, struct file *file, int number)
{
	lockdep_assert_held(&epoll->mutex);
	guard(spinlock, &watches_lock);
	for (struct watch *watch = file->watches; watch; watch = watch->next)
		if (watch->epoll == epoll && watch->number == number)
			return watch;
	return NULL;
}

/* The file may have events already: then it is ready. epoll->mutex held. */
static void look_first(struct watch *watch, struct poll_table *table)
{
	lockdep_assert_held(&watch->epoll->mutex);
	if (!ask(watch, table))
		return;
	spin_lock_irq(&watch->epoll->lock);
	make_ready(watch);
	spin_unlock_irq(&watch->epoll->lock);
	wake_up(&watch->epoll->wait);
}

/* An epoll is itself a file that can be polled: readable when a watch has events. */
static unsigned epoll_poll(struct file *file, struct poll_table *table)
{
	struct epoll *epoll = file->private;

	poll_wait(file, &epoll->wait, table);
	guard(mutex, &epoll->mutex); /* only with it a watch leaves the list */
	/* Those that are in it now; one that comes later wakes who polls, and may come for ever. */
	const struct list_head *last = READ_ONCE(epoll->ready.prev);
	bool more = last != &epoll->ready;

	while (more) {
		struct watch *watch = list_first_entry(&epoll->ready, struct watch, ready);

		if (ask(watch, NULL))
			return POLLIN | POLLRDNORM;
		more = &watch->ready != last;
		/* an event that came just now puts it back, and wakes who saw no watch there */
		look_first(take_ready(epoll, &epoll->ready), NULL);
	}
	return 0;
}

/* 0, -ENOMEM or -ENOSPC. epoll->mutex held. */
static int add_watch(struct epoll *epoll, struct file *file, int number,
		     const struct epoll_event *event)
{
	struct watch *watch = TRY_PTR(kzalloc(sizeof(*watch), GFP_KERNEL));

	lockdep_assert_held(&epoll->mutex);
	if (atomic_inc_return(&watch_count) > (capable(current->cred) ? 2 : 1) * WATCHES_MAX) {
		atomic_dec(&watch_count);
		kfree(watch);
		return -ENOSPC;
	}
	watch->epoll = epoll;
	watch->file = file;
	watch->number = number;
	watch->events = event->events;
	watch->data = event->data;
	INIT_LIST_HEAD(&watch->ready);
	INIT_LIST_HEAD(&watch->table.entry.link);
	watch->table.entry.wake = watch_woken;
	list_add(&watch->link, &epoll->watches);
	spin_lock(&watches_lock);
	watch->next = file->watches;
	watch->back = &file->watches;
	if (watch->next)
		watch->next->back = &watch->next;
	file->watches = watch;
	spin_unlock(&watches_lock);
	look_first(watch, &watch->table);
	return 0;
}

/* epoll->mutex held. */
static void remove_watch(struct watch *watch)
{
	struct epoll *epoll = watch->epoll;

	lockdep_assert_held(&epoll->mutex);
	remove_wait_queue(watch->table.queue, &watch->table.entry); /* no more wake-ups */
	spin_lock_irq(&epoll->lock);
	list_del_init(&watch->ready);
	spin_unlock_irq(&epoll->lock);
	list_del(&watch->link);
	spin_lock(&watches_lock);
	*watch->back = watch->next;
	if (watch->next)
		watch->next->back = watch->back;
	spin_unlock(&watches_lock);
	kfree(watch);
	atomic_dec(&watch_count);
}

static void change_watch(struct watch *watch, const struct epoll_event *event)
{
	spin_lock_irq(&watch->epoll->lock);
	watch->events = event->events;
	spin_unlock_irq(&watch->epoll->lock);
	watch->data = event->data;
	look_first(watch, NULL);
}

static void epoll_put(struct epoll *epoll)
{
	spin_lock(&watches_lock);
	bool last = !--epoll->users;
	spin_unlock(&watches_lock);
	if (last)
		kfree(epoll);
}

/* Nobody has @file any more, but an epoll that ends may be at removing the same watch: of whom the
 * watch is, we know only as long as we hold watches_lock, or have found it there again. */
static void drop_watches(struct file *file)
{
	for (;;) {
		spin_lock(&watches_lock);
		struct watch *watch = file->watches;
		if (!watch) {
			spin_unlock(&watches_lock);
			return;
		}
		struct epoll *epoll = watch->epoll;
		epoll->users++;
		spin_unlock(&watches_lock);
		mutex_lock(&epoll->mutex);
		spin_lock(&watches_lock);
		bool still_there = file->watches == watch;
		spin_unlock(&watches_lock);
		if (still_there) /* only with this mutex it could have gone */
			remove_watch(watch);
		mutex_unlock(&epoll->mutex);
		epoll_put(epoll);
	}
}

static void epoll_release(struct file *file)
{
	struct epoll *epoll = file->private;

	mutex_lock(&epoll->mutex);
	while (!list_empty(&epoll->watches))
		remove_watch(list_first_entry(&epoll->watches, struct watch, link));
	mutex_unlock(&epoll->mutex);
	epoll_put(epoll);
}

static const struct file_operations epoll_operations = {
	.release = epoll_release,
	.poll = epoll_poll,
};

/* ---- collecting ------------------------------------------------------------------------------ */

/* The events of @watch, which has left the ready list, to the program: 1, 0 (there are none), or
 * -EFAULT. */
static int report(struct watch *watch, struct epoll_event __user *to)
{
	struct epoll_event event = {.events = ask(watch, NULL), .data = watch->data};
	struct epoll *epoll = watch->epoll;
	bool failed = event.events && copy_to_user(to, &event, sizeof(event));

	if (!event.events)
		return 0;
	guard(spinlock_irq, &epoll->lock);
	if (failed || !(watch->events & (EPOLLET | EPOLLONESHOT)))
		make_ready(watch);
	else if (watch->events & EPOLLONESHOT)
		watch->events &= EPOLL_HOW;
	return failed ? -EFAULT : 1;
}

/* Ask the watches that are ready now, each once: how many had events, at most @count, or -EFAULT.
 */
static int collect(struct epoll *epoll, struct epoll_event __user *to, int count)
{
	LIST_HEAD(batch);
	struct watch *watch;
	int found = 0, result = 0;

	mutex_lock(&epoll->mutex);
	spin_lock_irq(&epoll->lock);
	list_add(&batch, &epoll->ready); /* takes its place */
	list_del_init(&epoll->ready);
	spin_unlock_irq(&epoll->lock);
	while (found < count && result >= 0 && (watch = take_ready(epoll, &batch))) {
		result = report(watch, to + found);
		found += result > 0;
	}
	spin_lock_irq(&epoll->lock);
	while (!list_empty(&batch)) /* the rest stands first, the next time */
		list_move(batch.prev, &epoll->ready);
	bool more = !list_empty(&epoll->ready);
	spin_unlock_irq(&epoll->lock);
	mutex_unlock(&epoll->mutex);
	if (more) /* others may have slept while we had them all */
		wake_up(&epoll->wait);
	return found ? found : result;
}

s64 epoll_wait_events(struct file *file, struct epoll_event __user *to, int count, u64 deadline_ns)
{
	struct epoll *epoll = file->private;

	if (count <= 0 || count > EVENTS_MAX)
		return -EINVAL;
	if (!access_ok(to, (size_t)count * sizeof(*to)))
		return -EFAULT;
	if (file->fop != &epoll_operations)
		return -EINVAL;
	for (;;) {
		int found = collect(epoll, to, count);

		if (found || deadline_ns <= ktime_ns())
			return found;
		/* Watches may become ready, by events that nobody asked for, faster than they are
		 * asked: then it never sleeps. */
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
		found = wait_event_until(epoll->wait, !list_empty(&epoll->ready),
					 TASK_INTERRUPTIBLE, deadline_ns);
		if (found < 0)
			return -EINTR;
	}
}

/* ---- calls ----------------------------------------------------------------------------------- */

s64 sys_epoll_create1(int flags)
{
	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	TRY(fd_room());
	struct epoll *epoll __free(kfree) = TRY_PTR(kzalloc(sizeof(*epoll), GFP_KERNEL));
	mutex_init(&epoll->mutex, "epoll->mutex");
	spin_lock_init(&epoll->lock, "epoll->lock");
	spin_lock_init(&epoll->wait.lock, "epoll->wait"); /* inside of other wait queues' */
	INIT_LIST_HEAD(&epoll->wait.waiters);
	INIT_LIST_HEAD(&epoll->watches);
	INIT_LIST_HEAD(&epoll->ready);
	epoll->users = 1;
	file_drop_watches = drop_watches;
	struct file *file =
		TRY_PTR(anonymous_file("[eventpoll]", &epoll_operations, epoll, O_RDWR));
	epoll = NULL;
	return fd_add(file, 0, flags);
}

s64 sys_epoll_create(int size)
{
	if (size <= 0)
		return -EINVAL; /* of no other meaning any more */
	return sys_epoll_create1(0);
}

/* Do @operation of @file under @number, as the program says: 0, -EEXIST, -ENOENT, -EINVAL ... */
static int control(struct epoll *epoll, int operation, struct file *file, int number,
		   struct epoll_event *event)
{
	guard(mutex, &epoll->mutex);
	struct watch *watch = find_watch(epoll, file, number);

	event->events |= POLLERR | POLLHUP;
	switch (operation) {
	case EPOLL_CTL_ADD:
		if (watch)
			return -EEXIST;
		return add_watch(epoll, file, number, event);
	case EPOLL_CTL_DEL:
		if (!watch)
			return -ENOENT;
		remove_watch(watch);
		return 0;
	case EPOLL_CTL_MOD:
		if (!watch)
			return -ENOENT;
		if (watch->events & EPOLLEXCLUSIVE)
			return -EINVAL;
		change_watch(watch, event);
		return 0;
	}
	return -EINVAL;
}

s64 sys_epoll_ctl(int epoll_number, int operation, int number, const void *user_event)
{
	struct epoll_event event = {0};

	if (operation != EPOLL_CTL_DEL)
		TRY(read_user(&event, user_event, sizeof(event)));
	struct fd epoll __free(fd) = TRY_FD(fdget(epoll_number));
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	if (!fd.file->fop->poll)
		return -EPERM; /* always ready: a regular file, a directory */
	if (epoll.file == fd.file || epoll.file->fop != &epoll_operations)
		return -EINVAL;
	if (operation != EPOLL_CTL_DEL && event.events & EPOLLEXCLUSIVE &&
	    (operation == EPOLL_CTL_MOD || fd.file->fop == &epoll_operations ||
	     event.events & ~EPOLLEXCLUSIVE_OK))
		return -EINVAL;
	if (operation == EPOLL_CTL_ADD && fd.file->fop == &epoll_operations)
		return -ELOOP;
	return control(epoll.file->private, operation, fd.file, number, &event);
}
