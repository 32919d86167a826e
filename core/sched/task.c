/*
 * task.c - the memory of a task: its struct, what the room of processes keeps behind it, its kernel
 * stack. Made in one allocation, since every fork needs all of it.
 */
#include <arch/process.h>

#include "core/kernel.h"
#include "core/memory/slab.h"

static struct kmem_cache *task_cache;
static size_t task_size;

void tasks_init(size_t behind)
{
	task_size = sizeof(struct task) + behind;
	task_cache = kmem_cache_create("task", task_size, 64, 0);
}

struct task *task_allocate(const char *comm)
{
	struct task *task = kmem_cache_alloc(task_cache, GFP_KERNEL);

	if (!task)
		return NULL;

	void *stack = arch_stack_alloc();

	if (!stack) {
		kmem_cache_free(task_cache, task);
		return NULL;
	}
	memset(task, 0, task_size);
	task->kernel_stack = stack;
	task->signals = (struct signal_state *)(task + 1);
	task->state = TASK_UNINTERRUPTIBLE;
	task->cpu = (int)cpu_id();
	INIT_LIST_HEAD(&task->run_link);
	strlcpy(task->comm, comm, sizeof(task->comm));
	lockdep_task_init(task);
	return task;
}

void task_free(struct task *task)
{
	arch_stack_free(task->kernel_stack);
	kmem_cache_free(task_cache, task);
}
