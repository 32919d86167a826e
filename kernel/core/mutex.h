/*
 * mutex.h - a sleeping lock for one: a rw_semaphore that nobody takes for reading.
 */
#pragma once

#include "kernel/core/rwsem.h"
#include "kernel/core/wait.h"

struct mutex {
	struct rw_semaphore sem;
};

#define DEFINE_MUTEX(name)                                                                         \
	struct mutex name = {.sem.waiters = LIST_HEAD_INIT((name).sem.waiters)};                   \
	NAME_LOCK(name, (name).sem.wait_lock, #name)
#define mutex_init(mutex, class_name) init_rwsem(&(mutex)->sem, class_name)
#define mutex_lock(mutex) down_write(&(mutex)->sem)
#define mutex_unlock(mutex) up_write(&(mutex)->sem)

/* 0, or -EINTR when a signal came first. */
#define mutex_lock_interruptible(mutex) __down_write(&(mutex)->sem, 0, TASK_INTERRUPTIBLE)
