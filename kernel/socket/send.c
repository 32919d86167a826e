/*
 * send.c - sending: a message is made of the sender's memory, and put into the queue of who is to
 * receive it.
 *
 * If there is no room the sender sleeps in the wait queue of the other, as there may be many
 * senders of no relation, until somebody has received or it is closed.
 */
#include "core/signal.h"
#include "kernel/socket/socket.h"

#define STREAM_PIECE (4 * PAGE_SIZE - sizeof(struct message))
#define UNKNOWN ((struct identity){0, 65534, 65534}) /* who did not tell, and was not asked */

/* ---- into the queue -------------------------------------------------------------------------- */

/* Into @other's queue: 0, or why not; -EAGAIN: there is no room. */
static int deliver(struct socket *socket, struct socket *other, struct message *message)
{
	struct attached *attached = &message->attached;

	guard(spinlock, &unix_lock);
	if (socket->type == SOCK_DGRAM && other->peer && other->peer != socket)
		return -EPERM;
	if (other->dead && socket->type == SOCK_DGRAM)
		return -ECONNREFUSED;
	if ((socket->shutdown & SHUT_SEND) || (other->shutdown & SHUT_RECEIVE))
		return -EPIPE;
	if (!find_room(socket, other, 1))
		return -EAGAIN;
	TRY(attached_check(attached, other));
	if (!attached->has_sender && !READ_ONCE(socket->flags[SO_PASSCRED]) &&
	    !READ_ONCE(other->flags[SO_PASSCRED]) && other->has_file)
		attached->sender = UNKNOWN;
	list_add_tail(&message->link, &other->queue);
	other->queued++;
	other->charged += message->charge;
	wake_up_events(&other->wait, POLLIN | POLLRDNORM);
	return 0;
}

/* The same, for who is about to sleep: is there room, or an error? */
static bool may_try_again(struct socket *socket, struct socket *other)
{
	guard(spinlock, &unix_lock);
	return socket->error || (socket->shutdown & SHUT_SEND) || find_room(socket, other, 1);
}

/* Deliver @message, if need be by @deadline; it is gone then, in any case. */
static int deliver_until(struct socket *socket, struct socket *other, struct message *message,
			 u64 deadline)
{
	int error = deliver(socket, other, message);

	while (error == -EAGAIN) {
		error = socket_wait(other->wait, may_try_again(socket, other), deadline);
		if (!error)
			error = socket_error(socket);
		if (error)
			break;
		error = deliver(socket, other, message);
	}
	if (error)
		message_free(message);
	return error;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The next piece of a stream: bytes, or -errno. */
static ssize_t send_piece(struct socket *socket, struct socket *other, struct io *io, u64 deadline,
			  struct attached *attached)
{
	size_t length = min(io->length, STREAM_PIECE);

	TRY(socket_error(socket));
	struct message *message = TRY_PTR(message_new(socket, io, length, attached));
	TRY(deliver_until(socket, other, message, deadline));
	return (ssize_t)length;
}

static ssize_t send_stream(struct socket *socket, struct io *io, u64 deadline,
			   const struct address *to, struct attached *attached)
{
	ssize_t sent = 0, result = 0;

	if (to)
		return READ_ONCE(socket->state) == CONNECTED ? -EISCONN : -EOPNOTSUPP;
	struct socket *other __free(socket) = peer_of(socket);
	if (!other)
		return -ENOTCONN;
	if (READ_ONCE(socket->shutdown) & SHUT_SEND)
		return -EPIPE;
	while (io->length && result >= 0) {
		result = send_piece(socket, other, io, deadline, attached);
		if (result > 0)
			sent += result;
	}
	return sent ? sent : result;
}

/* ---- datagrams and packets ------------------------------------------------------------------- */

/* A datagram's peer was found dead. */
static void peer_is_gone(struct socket *socket, struct socket *other)
{
	struct socket *old __free(socket) = NULL;

	spin_lock(&unix_lock);
	if (socket->peer == other) {
		old = set_peer(socket, NULL);
		socket->state = UNCONNECTED;
	}
	spin_unlock(&unix_lock);
	if (old)
		datagrams_lost(socket, old);
}

/* The order of the checks is that of Linux 6.18: who is to receive it comes last. */
static ssize_t send_datagram(struct socket *socket, struct io *io, u64 deadline, struct address *to,
			     struct attached *attached)
{
	size_t length = io->length;

	if (to)
		TRY(address_check(to));
	if (length > READ_ONCE(socket->send_buffer) - 32)
		return -EMSGSIZE;
	TRY(socket_error(socket));
	if (READ_ONCE(socket->shutdown) & SHUT_SEND)
		return -EPIPE;
	struct message *message = TRY_PTR(message_new(socket, io, length, attached));
	struct socket *other = to ? socket_find(to, socket->type) : peer_of(socket);

	if (IS_ERR_OR_NULL(other)) {
		message_free(message);
		return other ? PTR_ERR(other) : -ENOTCONN;
	}
	int error = deliver_until(socket, other, message, deadline);
	if (error == -ECONNREFUSED)
		peer_is_gone(socket, other);
	socket_put(other);
	return error ? error : (ssize_t)length;
}

ssize_t socket_send(struct file *file, struct io *io, int flags, struct address *to,
		    struct attached *attached)
{
	struct socket *socket = file->private;
	u64 deadline = socket_deadline(file, flags, READ_ONCE(socket->send_timeout));

	if (flags & MSG_OOB)
		return -EOPNOTSUPP;
	TRY(socket_announce(socket));
	if (socket->type == SOCK_STREAM) {
		ssize_t result = send_stream(socket, io, deadline, to, attached);

		if (result == -EPIPE && !(flags & MSG_NOSIGNAL))
			send_signal_current(SIGPIPE);
		return result;
	}
	if (socket->type == SOCK_SEQPACKET) {
		if (READ_ONCE(socket->state) != CONNECTED)
			return -ENOTCONN;
		to = NULL;
	}
	return send_datagram(socket, io, deadline, to, attached);
}
