/*
 * queue.c - messages, and the queues in which they lie until they are received.
 *
 * A message is charged to the queue that it lies in from its delivery (send.c) until it has been
 * received whole (receive.c). Who takes one out of a queue that was found full (socket->crowded)
 * wakes those who may send to it.
 *
 * Messages of what has been closed go into one list, whose files are let go by one task, whoever
 * finds nobody at it: a file let go may be the last of another socket with files in its queue, and
 * so on, however deep. What is still in that list when another's close() returns is closed soon.
 */
#include "fs/cred.h"
#include "kernel/socket/socket.h"

static LIST_HEAD(purged);	/* messages; unix_lock */
static bool purging;		/* somebody is at it; unix_lock */
static atomic64_t total_charge; /* bytes of all sockets and messages */

/* ---- messages -------------------------------------------------------------------------------- */

bool charge_memory(s64 bytes)
{
	u64 most = page_alloc_total_pages() * PAGE_SIZE / (capable(current->cred) ? 4 : 8);

	atomic_add(bytes, &total_charge);
	if (bytes < 0 || (u64)atomic_read(&total_charge) <= most)
		return true;
	atomic_sub(bytes, &total_charge);
	return false;
}

/* Who current is, by its real ids: so it is told of who sends. */
static struct identity real_identity(void)
{
	return (struct identity){current->process_id, current->cred->uid, current->cred->gid};
}

struct message *message_new(struct socket *socket, struct io *io, size_t length,
			    struct attached *attached)
{
	struct message *message = kmalloc(sizeof(*message) + length, GFP_KERNEL | GFP_NOWARN);
	size_t charge = sizeof(*message) + length + attached->file_count * sizeof(struct file *);

	if (!message || !charge_memory((s64)charge)) {
		kfree(message);
		return ERR_PTR(-ENOBUFS);
	}
	*message = (struct message){
		.from = address_get(smp_load_acquire(&socket->address)),
		.attached = *attached,
		.charge = (u32)charge,
		.length = (u32)length,
	};
	/* a stream's next piece is of the same sender, and without files */
	*attached = (struct attached){attached->sender, attached->has_sender, 0, NULL};
	if (!message->attached.has_sender)
		message->attached.sender = real_identity();
	if (io_get(io, message->data, length) == length)
		return message;
	message_free(message);
	return ERR_PTR(-EFAULT);
}

void message_free(struct message *message)
{
	charge_memory(-(s64)message->charge);
	attached_free(&message->attached);
	address_put(message->from);
	kfree(message);
}

/* ---- queues ---------------------------------------------------------------------------------- */

bool find_room(const struct socket *socket, struct socket *other, u32 part)
{
	bool full = other->charged >= READ_ONCE(socket->send_buffer) / part;

	lockdep_assert_held(&unix_lock);
	if (socket->type != SOCK_STREAM && other != socket && other->peer != socket)
		full |= other->queued > DATAGRAMS_MAX;
	if (!full || other->dead || (other->shutdown & SHUT_RECEIVE))
		return true;
	other->crowded = true;
	return false;
}

void wake_senders(struct socket *socket)
{
	struct socket *client;

	lockdep_assert_held(&unix_lock);
	if (!socket->crowded)
		return;
	socket->crowded = false;
	wake_up_events(&socket->wait, ROOM);
	list_for_each_entry (client, &socket->clients, client)
		wake_up_events(&client->wait, ROOM);
}

void queue_purge(struct socket *socket)
{
	lockdep_assert_held(&unix_lock);
	while (!list_empty(&socket->queue))
		list_move_tail(socket->queue.next, &purged);
	socket->queued = socket->charged = 0;
	wake_senders(socket);
}

void purged_free(void)
{
	spin_lock(&unix_lock);
	bool mine = !purging;

	purging = true;
	while (mine && !list_empty(&purged)) {
		struct message *message = list_first_entry(&purged, struct message, link);

		list_del(&message->link);
		spin_unlock(&unix_lock);
		message_free(message);
		cond_resched(); /* others may add to them as fast */
		spin_lock(&unix_lock);
	}
	purging = purging && !mine;
	spin_unlock(&unix_lock);
}

void datagrams_lost(struct socket *socket, struct socket *old)
{
	mutex_lock(&socket->mutex); /* nobody is in the middle of receiving one */
	spin_lock(&unix_lock);
	if (!list_empty(&socket->queue) && old->peer == socket) {
		old->error = ECONNRESET;
		wake_up(&old->wait);
	}
	queue_purge(socket);
	spin_unlock(&unix_lock);
	mutex_unlock(&socket->mutex);
	purged_free();
}
