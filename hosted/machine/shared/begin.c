/*
 * begin.c - hosted: what a task begins with and gives back in the end, and threads of the kernel.
 */
#include <stdlib.h>

#include "core/sched/sched.h"
#include "fs/cred.h"
#include "fs/file/file_table.h"
#include "hosted/machine/hosted.h"
#include "hosted/machine/shared/tasks.h"

struct task hosted_task = {
	.comm = "test", .pid = 1, .process_id = 1, .cred = &init_cred, .limits = hosted_limits};
bool hosted_threads;

void task_begin(struct task *task, unsigned number, void *kernel_stack)
{
	*task = (struct task){
		.state = TASK_RUNNING,
		.kernel_stack = kernel_stack,
		.pid = (pid_t)number + 1,
		.process_id = (pid_t)number + 1,
		.limits = hosted_limits,
		.cred = &init_cred,
		.fs = current->fs,
		.files = current->files,
	};
	if (task->fs) { /* nobody has any before hosted_init() */
		fs_context_get(task->fs);
		file_table_get(task->files);
	}
	lockdep_task_init(task);
}

void task_end(void)
{
#ifdef CONFIG_DEBUG
	lockdep_assert_none_held();
#endif
	fs_context_put(current->fs);
	file_table_put(current->files);
}

void task_start(void (*function)(void *), void *argument)
{
	task_launch(function, argument, false);
}

struct thread_start {
	int (*function)(void *);
	void *argument;
};

static void run_thread(void *argument)
{
	struct thread_start start = *(struct thread_start *)argument;

	free(argument);
	start.function(start.argument);
}

struct task *kthread_create(int (*function)(void *), void *argument, const char *name)
{
	static struct task none;
	struct thread_start *start;

	(void)name;
	if (!hosted_threads)
		return &none;
	start = malloc(sizeof(*start));
	*start = (struct thread_start){function, argument};
	return task_launch(run_thread, start, true);
}
