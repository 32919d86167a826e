/*
 * work.h - have a function called soon by a kernel thread, where it may sleep: for interrupt
 * handlers.
 *
 * One thread serves all work in order. A work that is queued already is not queued twice; it may be
 * queued again from its own function.
 */
#pragma once

#include "kernel/core/list.h"
#include "kernel/core/types.h"

struct work {
	struct list_head link;
	void (*function)(struct work *work);
	bool queued;
};

/* clang-format off */
#define DEFINE_WORK(name, fn)                                                                      \
	struct work name = {.link = LIST_HEAD_INIT((name).link), .function = (fn)}
/* clang-format on */

static inline void work_prepare(struct work *work, void (*function)(struct work *work))
{
	INIT_LIST_HEAD(&work->link);
	work->function = function;
	work->queued = false;
}

/* Any context; false if it was queued already. */
bool work_queue(struct work *work);

/* Start the thread: after the scheduler. */
void work_init(void);
