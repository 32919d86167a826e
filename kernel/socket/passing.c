/*
 * passing.c - control data of sendmsg(2) and recvmsg(2): open files that are passed from process to
 * process (SCM_RIGHTS), and who sent a message (SCM_CREDENTIALS).
 *
 * A file under way is held by the message. If that is in the queue of a socket which is itself
 * under way, and so on in a circle, nobody could reach any of them any more, and they would be
 * there for ever. Linux looks for such circles and collects them. Here they cannot come to be:
 * before a message lies in a queue, under unix_lock, it is looked whether the receiver can be
 * reached from a socket that is passed, through queues and connections that wait to be accepted;
 * and it is ETOOMANYREFS if so, or if that cannot be said after NESTED_MAX sockets one in the other
 * or STEPS_MAX looks. So a socket cannot be passed over itself, which works in Linux. Every new
 * edge is looked at so; one to a connection that has just been made leads nowhere yet.
 *
 * Files under way are also limited in number, for all together, since no descriptor counts them.
 */
#include "fs/cred.h"
#include "kernel/socket/socket.h"

#define FILES_MAX 253 /* of one message: SCM_MAX_FD */
#define FILES_SENT_MAX 16384 /* under way; root may send as many more */
#define NESTED_MAX 4
#define STEPS_MAX 4096
#define CONTROL_MAX 8192 /* bytes */
enum { SCM_RIGHTS = 1, SCM_CREDENTIALS };

/* struct cmsghdr; the data follows, and what is after it begins at a multiple of eight bytes. */
struct control {
	u64 length; /* with the header */
	int level, type;
	char data[];
};

static atomic_t files_under_way;

void attached_free(struct attached *attached)
{
	for (u32 i = 0; i < attached->file_count; i++)
		fput(attached->files[i]);
	atomic_sub((int)attached->file_count, &files_under_way);
	kfree(attached->files);
	attached->files = NULL;
	attached->file_count = 0;
}

int attached_copy(struct attached *attached, const struct attached *from)
{
	attached->files = TRY_PTR(kmalloc(from->file_count * sizeof(*from->files), GFP_KERNEL));
	attached->file_count = from->file_count;
	memcpy(attached->files, from->files, from->file_count * sizeof(*from->files));
	for (u32 i = 0; i < from->file_count; i++)
		get_file(from->files[i]);
	atomic_add((int)from->file_count, &files_under_way);
	return 0;
}

/* ---- circles --------------------------------------------------------------------------------- */

/* Can @to be reached from @from, or can that not be said? Under unix_lock. */
static bool reaches(const struct socket *from, const struct socket *to, unsigned depth, int *steps)
{
	const struct message *message;
	const struct socket *next;

	lockdep_assert_held(&unix_lock);
	if (from == to || depth > NESTED_MAX)
		return true;
	list_for_each_entry (message, &from->queue, link) {
		if (--*steps < 0)
			return true;
		for (u32 i = 0; i < message->attached.file_count; i++) {
			next = file_socket(message->attached.files[i]);
			if (--*steps < 0 || (next && reaches(next, to, depth + 1, steps)))
				return true;
		}
	}
	list_for_each_entry (next, &from->connections, connection)
		if (--*steps < 0 || reaches(next, to, depth + 1, steps))
			return true;
	return false;
}

int attached_check(const struct attached *attached, struct socket *receiver)
{
	int steps = STEPS_MAX;

	lockdep_assert_held(&unix_lock);
	for (u32 i = 0; i < attached->file_count; i++) {
		const struct socket *passed = file_socket(attached->files[i]);

		if (passed && reaches(passed, receiver, 0, &steps))
			return -ETOOMANYREFS;
	}
	return 0;
}

/* ---- sent ------------------------------------------------------------------------------------ */

static int add_file(struct attached *attached, int number)
{
	struct fd fd = TRY_FD(fdget_raw(number));

	if (!fd.counted)
		get_file(fd.file);
	attached->files[attached->file_count++] = fd.file;
	if (atomic_inc_return(&files_under_way) > (capable(current->cred) ? 2 : 1) * FILES_SENT_MAX)
		return -ETOOMANYREFS;
	return 0;
}

static int add_files(struct attached *attached, const struct control *control)
{
	u64 count = (control->length - sizeof(*control)) / sizeof(int);

	if (count > FILES_MAX - attached->file_count)
		return -EINVAL;
	if (!count)
		return 0;
	struct file **files =
		TRY_PTR(kmalloc((attached->file_count + count) * sizeof(*files), GFP_KERNEL));
	memcpy(files, attached->files, attached->file_count * sizeof(*files));
	kfree(attached->files);
	attached->files = files;
	for (u64 i = 0; i < count; i++)
		TRY(add_file(attached, ((const int *)control->data)[i]));
	return 0;
}

/* One may say what one is; root says what he likes. */
static int set_sender(struct attached *attached, const struct control *control)
{
	const struct cred *cred = current->cred;
	struct identity *sender = &attached->sender;

	if (control->length != sizeof(*control) + sizeof(*sender))
		return -EINVAL;
	memcpy(sender, control->data, sizeof(*sender));
	attached->has_sender = true;
	if (capable(cred))
		return 0;
	if (sender->pid != current->process_id)
		return -EPERM;
	if (sender->uid != cred->uid && sender->uid != cred->euid && sender->uid != cred->suid)
		return -EPERM;
	if (sender->gid != cred->gid && sender->gid != cred->egid && sender->gid != cred->sgid)
		return -EPERM;
	return 0;
}

int attached_read(struct attached *attached, const void *from, u64 length)
{
	const struct control *control;

	if (length > CONTROL_MAX)
		return -ENOBUFS;
	char *buffer __free(kfree) = TRY_PTR(kmalloc(length, GFP_KERNEL));
	TRY(read_user(buffer, from, length));
	for (u64 at = 0; at + sizeof(*control) <= length;
	     at += round_up(control->length, sizeof(u64))) {
		control = (const struct control *)(buffer + at);
		if (control->length < sizeof(*control) || control->length > length - at)
			return -EINVAL;
		if (control->level != SOL_SOCKET)
			continue;
		if (control->type == SCM_RIGHTS)
			TRY(add_files(attached, control));
		else if (control->type == SCM_CREDENTIALS)
			TRY(set_sender(attached, control));
		else
			return -EINVAL;
	}
	return 0;
}

/* ---- received -------------------------------------------------------------------------------- */

/* The bytes that were used of @room, as from all that follow. */
static u64 put_sender(struct received *received, char *to, u64 room)
{
	const u64 whole = sizeof(struct control) + sizeof(struct identity);
	const struct control header = {min(room, whole), SOL_SOCKET, SCM_CREDENTIALS};

	if (room < whole)
		received->flags |= MSG_CTRUNC;
	if (room < sizeof(header) || copy_to_user(to, &header, sizeof(header)) ||
	    copy_to_user(to + sizeof(header), &received->attached.sender,
			 header.length - sizeof(header)))
		return 0;
	return min(room, round_up(whole, sizeof(u64)));
}

static int install_file(struct file *file, int flags, int *to)
{
	get_file(file);
	int number = TRY(fd_add(file, 0, flags));

	if (!put_user(number, to))
		return 0;
	fd_close(number);
	return -EFAULT;
}

static u64 put_files(struct received *received, char *to, u64 room, int flags)
{
	const struct attached *attached = &received->attached;
	struct control header = {0, SOL_SOCKET, SCM_RIGHTS};
	int *numbers = (int *)(to + sizeof(header));
	int kept = flags & MSG_CMSG_CLOEXEC ? O_CLOEXEC : 0;
	u64 written = 0, fit = 0;

	if (room > sizeof(header))
		fit = (room - sizeof(header)) / sizeof(*numbers);
	while (written < min(fit, (u64)attached->file_count) &&
	       !install_file(attached->files[written], kept, numbers + written))
		written++;
	if (written < attached->file_count)
		received->flags |= MSG_CTRUNC;
	header.length = sizeof(header) + written * sizeof(*numbers);
	if (!written || copy_to_user(to, &header, sizeof(header)))
		return 0;
	return min(room, round_up(header.length, sizeof(u64)));
}

u64 attached_write(struct received *received, char *control, u64 room, int flags)
{
	u64 used = 0;

	if (received->tells_sender)
		used = put_sender(received, control, room);
	return used + put_files(received, control + used, room - used, flags);
}
