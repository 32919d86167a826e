/*
 * receive.c - receiving: messages out of a socket's own queue, into the program's memory.
 *
 * A receiver copies from the first message under socket->mutex, so that it stays. A stream's
 * messages are read across their ends, but for two kinds: what passes files ends a read, and so,
 * when senders are told apart (SO_PASSCRED), does a message of somebody else.
 */
#include "kernel/socket/socket.h"

/* ---- out of the queue ------------------------------------------------------------------------ */

/* The message behind @last (NULL: the first), or NULL. socket->mutex is held. */
static struct message *next_message(struct socket *socket, struct message *last)
{
	lockdep_assert_held(&socket->mutex);
	guard(spinlock, &unix_lock);
	struct list_head *next = last ? last->link.next : socket->queue.next;

	return next == &socket->queue ? NULL : list_entry(next, struct message, link);
}

/* @message has been received, with all that came with it: somebody may send the next. */
static void message_remove(struct socket *socket, struct message *message)
{
	spin_lock(&unix_lock);
	list_del(&message->link);
	socket->queued--;
	socket->charged -= message->charge;
	wake_senders(socket);
	spin_unlock(&unix_lock);
	message_free(message);
}

/* Who sent it, and what with it, for the caller of recvmsg(2). socket->mutex is held. */
static void receive_attached(struct socket *socket, struct message *message, int flags,
			     struct received *received)
{
	lockdep_assert_held(&socket->mutex);
	if (!received->any) {
		received->any = true;
		received->tells_sender = READ_ONCE(socket->flags[SO_PASSCRED]);
		received->from = address_get(message->from);
		received->attached.sender = message->attached.sender;
	}
	if (!message->attached.files)
		return;
	received->ends = true;
	if (flags & MSG_PEEK) {
		if (attached_copy(&received->attached, &message->attached))
			received->flags |= MSG_CTRUNC;
		return;
	}
	guard(spinlock, &unix_lock); /* against who looks for circles */
	received->attached.files = message->attached.files;
	received->attached.file_count = message->attached.file_count;
	message->attached.files = NULL;
	message->attached.file_count = 0;
}

void received_free(struct received *received)
{
	attached_free(&received->attached);
	address_put(received->from);
}

static bool is_readable(const struct socket *socket)
{
	return !list_empty(&socket->queue) || READ_ONCE(socket->error) ||
	       (READ_ONCE(socket->shutdown) & SHUT_RECEIVE);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* What is in the queue now: bytes, or -EFAULT. */
static ssize_t take_stream(struct socket *socket, struct io *io, int flags,
			   struct received *received)
{
	struct message *message = NULL;
	ssize_t total = 0;

	guard(mutex, &socket->mutex);
	while (io->length && !received->ends && (message = next_message(socket, message)) != NULL) {
		size_t n = min(io->length, (size_t)(message->length - message->start));

		/* of somebody else, where that is told */
		received->ends = received->tells_sender &&
				 memcmp(&received->attached.sender, &message->attached.sender,
					sizeof(struct identity));
		if (received->ends)
			break;
		size_t moved = io_put(io, message->data + message->start, n);
		if (moved < n) { /* of a message that meets a fault nothing counts as read */
			io_retreat(io, moved);
			received->ends = true;
			return total ? total : -EFAULT;
		}
		total += (ssize_t)n;
		receive_attached(socket, message, flags, received);
		if (flags & MSG_PEEK)
			continue;
		WRITE_ONCE(message->start, message->start + (u32)n);
		if (message->start < message->length)
			break;
		message_remove(socket, message);
		message = NULL;
	}
	return total;
}

static ssize_t receive_stream(struct socket *socket, struct io *io, int flags, u64 deadline,
			      struct received *received)
{
	bool all = (flags & (MSG_PEEK | MSG_WAITALL)) == MSG_WAITALL;
	ssize_t total = 0, result = 0;
	size_t asked = io->length;

	if (READ_ONCE(socket->state) != CONNECTED)
		return -EINVAL;
	while (!result) {
		/* what came before is in the queue */
		bool last = READ_ONCE(socket->shutdown) & SHUT_RECEIVE;

		result = take_stream(socket, io, flags, received);
		if (result < 0)
			break;
		total += result;
		if (received->ends || (total && (!all || !io->length)))
			break;
		if (!asked && !list_empty(&socket->queue))
			break; /* nothing was asked for: only that there is something */
		result = socket_error(socket);
		if (last)
			break;
		if (!result)
			result = socket_wait(socket->wait, is_readable(socket), deadline);
	}
	return total ? total : result;
}

/* ---- datagrams and packets ------------------------------------------------------------------- */

/* The first datagram, whole: its bytes; -EAGAIN: there is none. */
static ssize_t take_datagram(struct socket *socket, struct io *io, int flags,
			     struct received *received)
{
	guard(mutex, &socket->mutex);
	struct message *message = next_message(socket, NULL);

	if (!message)
		return -EAGAIN;
	size_t length = message->length, n = min(io->length, length);
	bool fault = io_put(io, message->data, n) < n;
	if (n < length)
		received->flags |= MSG_TRUNC;
	receive_attached(socket, message, flags, received);
	if (!(flags & MSG_PEEK))
		message_remove(socket, message);
	if (fault)
		return -EFAULT;
	return (ssize_t)(flags & MSG_TRUNC ? length : n);
}

static ssize_t receive_datagram(struct socket *socket, struct io *io, int flags, u64 deadline,
				struct received *received)
{
	bool packets = socket->type == SOCK_SEQPACKET;

	if (packets && READ_ONCE(socket->state) != CONNECTED)
		return -ENOTCONN;
	for (;;) {
		bool last = READ_ONCE(socket->shutdown) & SHUT_RECEIVE;

		TRY(socket_error(socket));
		ssize_t result = take_datagram(socket, io, flags, received);
		if (result != -EAGAIN)
			return result;
		if (last && (packets || deadline))
			return 0;
		TRY(socket_wait(socket->wait, is_readable(socket), deadline));
	}
}

ssize_t socket_receive(struct file *file, struct io *io, int flags, struct received *received)
{
	struct socket *socket = file->private;
	u64 deadline = socket_deadline(file, flags, READ_ONCE(socket->receive_timeout));

	if (flags & MSG_OOB)
		return socket->type == SOCK_STREAM ? -EINVAL : -EOPNOTSUPP;
	if (socket->type == SOCK_STREAM)
		return receive_stream(socket, io, flags, deadline, received);
	return receive_datagram(socket, io, flags, deadline, received);
}
