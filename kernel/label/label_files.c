/*
 * label_files.c - labels as processes have them: /proc/labels, the rules, which root writes; and
 * /proc/PID/attr/current, a process's label, which it writes itself, as root. The labels: fs/label.
 * The errors are those of Linux's Smack.
 */
#include "core/base/room.h"
#include "fs/label/label.h"
#include "fs/proc/proc.h"
#include "kernel/proc/info/status.h"
#include "kernel/proc/process.h"

static void rules_show(struct text *out, const struct proc_entry *entry)
{
	label_rules_show(out);
}

static int rules_write(const struct proc_entry *entry, const char *text, size_t length)
{
	return capable(current->cred) ? label_rules_write(text) : -EPERM;
}

/* Labels are never freed: its name stays when the process has gone. */
static void label_show(struct text *out, const struct proc_entry *entry)
{
	const char *name = NULL;
	struct process *process;

	spin_lock_irq(&process_lock);
	const struct task *task = task_or_process(entry->pid, &process);
	if (process)
		name = label_name((task ? task->real_cred : process_cred(process))->label);
	spin_unlock_irq(&process_lock);
	if (name)
		text_printf(out, "%s", name);
	else
		out->error = -ESRCH;
}

static bool is_current(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);
	return task_or_process(pid, &process) == current;
}

/* A label, and a newline behind it or not; no process has "*". */
static int label_write(const struct proc_entry *entry, const char *text, size_t length)
{
	if (!is_current(entry->pid))
		return -EACCES;
	if (!capable(current->cred))
		return -EPERM;
	if (length && text[length - 1] == '\n')
		length--;
	const struct label *label = TRY_PTR(label_get(text, length));
	if (label == &label_star)
		return -EINVAL;
	struct cred *new = TRY_PTR(prepare_cred());
	new->label = label_kept(label);
	task_set_cred(new);
	return 0;
}

static const struct proc_node attribute_nodes[] = {
	{"current", S_IFREG | 0666, .show = label_show, .write = label_write},
	{NULL},
};

static const struct proc_node process_nodes[] = {
	{"attr", PROC_DIR, .children = attribute_nodes},
	{NULL},
};

static const struct proc_node nodes[] = {
	{"labels", PROC_FILE | 0200, .show = rules_show, .write = rules_write},
	{NULL},
};

static void label_files_start(void)
{
	info_register(process_nodes);
	proc_register(nodes);
}
ROOM_START(label_files_start);
