/*
 * process_files.c - what few programs ask /proc/PID: oom_score and oom_score_adj, which sshd and
 * the like set; ns, by which containers are told apart.
 */
#include "core/base/room.h"
#include "fs/proc/proc.h"
#ifdef CONFIG_MOUNT_NS
#include "kernel/namespace/mount_namespace.h"
#endif
#include "kernel/proc/info/status.h"
#include "kernel/proc/process.h"

/* ---- who ends when memory is out ------------------------------------------------------------- */

static void oom_score_adj_show(struct text *out, const struct proc_entry *entry)
{
	struct process *process;
	int value = 0;

	spin_lock_irq(&process_lock);
	task_or_process(entry->pid, &process);
	if (process)
		value = process->oom_score_adj;
	else
		out->error = -ESRCH;
	spin_unlock_irq(&process_lock);
	text_printf(out, "%d\n", value);
}

/* As Linux has it since 5.9: 0 never, 666 for what uses nothing, to 1999. */
static void oom_score_show(struct text *out, const struct proc_entry *entry)
{
	struct process *process;
	s64 badness = OOM_NEVER, score = 0;

	spin_lock_irq(&process_lock);
	task_or_process(entry->pid, &process);
	if (process)
		badness = oom_badness(process);
	else
		out->error = -ESRCH;
	spin_unlock_irq(&process_lock);
	if (badness != OOM_NEVER)
		score = (1000 + badness * 1000 / (s64)page_alloc_total_pages()) * 2 / 3;
	text_printf(out, "%lld\n", score);
}

/* A number from -1000 to 1000; 0, -EINVAL, -ESRCH, or -EACCES: lower than root has left it. */
static int oom_score_adj_write(const struct proc_entry *entry, const char *text, size_t length)
{
	bool negative = *text == '-';
	const char *end, *digits = text + negative;
	u64 size = memparse(digits, &end);
	s16 value = (s16)(negative ? -size : size);
	struct process *process;

	if (end == digits || (*end && *end != '\n') || size > OOM_SCORE_ADJ_MAX)
		return -EINVAL;
	guard(spinlock_irq, &process_lock);
	task_or_process(entry->pid, &process);
	if (!process)
		return -ESRCH;
	if (!may_inspect(process)) /* the number may be another's since the file was opened */
		return -EACCES;
	if (value < process->oom_score_adj_min && !capable(current->cred))
		return -EACCES;
	process->oom_score_adj = value;
	if (capable(current->cred))
		process->oom_score_adj_min = value;
	return 0;
}

/* ---- namespaces ------------------------------------------------------------------------------ */

static int may_look(pid_t pid)
{
	struct process *process;

	guard(spinlock_irq, &process_lock);
	task_or_process(pid, &process);
	if (!process)
		return -ESRCH;
	return may_inspect(process) ? 0 : -EACCES;
}

/* There is one namespace of each kind but that of mounts, whose name is the node's data. */
static void namespace_show(struct text *out, const struct proc_entry *entry)
{
	out->error = may_look(entry->pid);
	text_printf(out, "%s", (const char *)entry->node->data);
}

/* There is nothing in it, and no other to enter. */
static int namespace_jump(const struct proc_entry *entry, struct path *path)
{
	return -ENXIO;
}

/* The numbers of Linux's first ones. */
#define NAMESPACE(name, text)                                                                      \
	name, PROC_LINK, .show = namespace_show, .jump = namespace_jump, .data = text

static const struct proc_node namespace_nodes[] = {
	{NAMESPACE("cgroup", "cgroup:[4026531835]")},
	{NAMESPACE("ipc", "ipc:[4026531839]")},
#ifdef CONFIG_MOUNT_NS
	{"mnt", PROC_LINK, .show = mount_namespace_show, .jump = mount_namespace_jump},
#else
	{NAMESPACE("mnt", "mnt:[4026531841]")},
#endif
	{NAMESPACE("net", "net:[4026531840]")},
	{NAMESPACE("pid", "pid:[4026531836]")},
	{NAMESPACE("pid_for_children", "pid:[4026531836]")},
	{NAMESPACE("time", "time:[4026531834]")},
	{NAMESPACE("time_for_children", "time:[4026531834]")},
	{NAMESPACE("user", "user:[4026531837]")},
	{NAMESPACE("uts", "uts:[4026531838]")},
	{NULL},
};

static const struct proc_node nodes[] = {
	{"oom_score", PROC_FILE, .show = oom_score_show},
	{"oom_score_adj", PROC_FILE | 0200, .show = oom_score_adj_show,
	 .write = oom_score_adj_write},
	{"ns", S_IFDIR | 0511, .children = namespace_nodes},
	{NULL},
};

static void process_files_start(void)
{
	info_register(nodes);
}
ROOM_START(process_files_start);
