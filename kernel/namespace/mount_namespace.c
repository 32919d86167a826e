/*
 * mount_namespace.c - unshare(2), setns(2), and /proc/PID/ns/mnt. See mount_namespace.h.
 *
 * A namespace belongs to a context of places (fs/cred.h), and is never changed there: who goes to
 * another gets another context.
 */
#include "fs/path/namespace/namespace.h"
#include "kernel/namespace/mount_namespace.h"
#include "kernel/proc/info/status.h"
#include "kernel/proc/process.h"

/* ---- /proc ----------------------------------------------------------------------------------- */

void mount_namespace_show(struct text *out, const struct proc_entry *entry)
{
	struct fs_context *fs = get_fs(entry->pid, INSPECTOR);

	out->error = PTR_ERR_OR_ZERO(fs);
	if (out->error)
		return;
	text_printf(out, "mnt:[%llu]", (unsigned long long)namespace_number(fs->namespace));
	fs_context_put(fs);
}

int mount_namespace_jump(const struct proc_entry *entry, struct path *path)
{
	struct fs_context *fs = TRY_PTR(get_fs(entry->pid, INSPECTOR));
	struct mount_namespace *namespace = namespace_get(fs->namespace);

	fs_context_put(fs);
	return namespace_path(namespace, path);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* What other threads have together with current. It can only become less meanwhile: who makes a
 * thread gives it what is his own. */
struct sharing {
	bool fs, files;
};

static struct sharing look_around(void)
{
	struct sharing sharing = {false, false};
	const struct task *task;

	guard(spinlock_irq, &process_lock);
	list_for_each_entry(task, &current->process->threads, thread_link) {
		sharing.fs |= task != current && task->fs == current->fs;
		sharing.files |= task != current && task->files == current->files;
	}
	return sharing;
}

/* Current has @new from now on, as far as it is not NULL; what it had is let go. Sleeps. */
static void take_parts(const struct process_parts *new)
{
	struct process_parts old = {NULL};

	spin_lock_irq(&process_lock);
	if (new->fs) {
		old.fs = current->fs;
		current->fs = new->fs;
	}
	if (new->files) {
		old.files = current->files;
		current->files = new->files;
	}
	spin_unlock_irq(&process_lock);
	process_parts_put(&old);
}

/* What current is to have by @flags of unshare(2): 0, -ENOMEM, and what was made is in @parts. */
static int make_parts(u64 flags, struct process_parts *parts)
{
	struct sharing sharing = look_around();

	if ((flags & CLONE_NEWNS) || ((flags & CLONE_FS) && sharing.fs))
		parts->fs = TRY_PTR(fs_context_fork(current->fs));
	if ((flags & CLONE_FILES) && sharing.files)
		parts->files = TRY_PTR(file_table_fork(current->files));
	return flags & CLONE_NEWNS ? namespace_copy(parts->fs) : 0;
}

s64 sys_unshare(u64 flags)
{
	struct process_parts parts = {NULL};

	if (flags & ~(u64)(CLONE_FS | CLONE_FILES | CLONE_NEWNS))
		return -EINVAL;
	if ((flags & CLONE_NEWNS) && !capable(current->cred))
		return -EPERM;
	int error = make_parts(flags, &parts);
	if (error)
		process_parts_put(&parts);
	else
		take_parts(&parts);
	return error;
}

s64 sys_setns(int number, u32 type)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct process_parts parts = {NULL};
	struct mount_namespace *namespace;

	if (!namespace_of(fd.file, &namespace) || (type && type != CLONE_NEWNS))
		return -EINVAL;
	if (!capable(current->cred))
		return -EPERM;
	if (look_around().fs)
		return -EINVAL;
	parts.fs = TRY_PTR(namespace_enter(namespace));
	take_parts(&parts);
	return 0;
}
