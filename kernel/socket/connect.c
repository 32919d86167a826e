/*
 * connect.c - how two sockets become peers: listen, connect and accept; and a datagram socket's
 * default receiver.
 *
 * connect() makes the listening side's socket and puts it into the listener's queue; both are
 * connected at once, whether or not it will be accepted. A full queue is waited for.
 */
#include "kernel/socket/socket.h"

s64 sys_listen(int number, int backlog)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));

	if (socket->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	guard(spinlock, &unix_lock);
	if (!socket->address || socket->state == CONNECTED)
		return -EINVAL;
	socket->backlog = min((u32)backlog, (u32)BACKLOG_MAX);
	socket->state = LISTENING;
	socket->peer_identity = effective_identity();
	wake_up(&socket->wait); /* the queue may be longer now */
	return 0;
}

/* ---- connect --------------------------------------------------------------------------------- */

static bool is_full(const struct socket *listener)
{
	return READ_ONCE(listener->connection_count) > READ_ONCE(listener->backlog);
}

static bool takes_connections(const struct socket *listener)
{
	return READ_ONCE(listener->state) == LISTENING &&
	       !(READ_ONCE(listener->shutdown) & SHUT_RECEIVE);
}

/* Connect @socket with @made, which waits at @listener: 0; -EAGAIN: its queue is full. */
static int join(struct socket *socket, struct socket *listener, struct socket *made)
{
	guard(spinlock, &unix_lock);
	if (!takes_connections(listener))
		return -ECONNREFUSED;
	if (is_full(listener))
		return -EAGAIN;
	if (socket->state == CONNECTED)
		return -EISCONN;
	if (socket->state == LISTENING)
		return -EINVAL;
	made->address = address_get(listener->address);
	made->peer_identity = effective_identity();
	socket->peer_identity = listener->peer_identity;
	made->state = socket->state = CONNECTED;
	set_peer(made, socket);
	set_peer(socket, made);
	list_add_tail(&made->connection, &listener->connections);
	listener->connection_count++;
	wake_up_events(&listener->wait, POLLIN | POLLRDNORM);
	return 0;
}

static int connect_stream(struct socket *socket, struct address *address, u64 deadline)
{
	struct socket *made = TRY_PTR(socket_new(socket->type));
	bool again = true;
	int error = 0;

	while (again && !error) {
		struct socket *listener = socket_find(address, socket->type);

		error = PTR_ERR_OR_ZERO(listener);
		if (error)
			break;
		error = join(socket, listener, made);
		again = error == -EAGAIN;
		if (again)
			error = socket_wait(listener->wait,
					    !is_full(listener) || !takes_connections(listener),
					    deadline);
		socket_put(listener);
	}
	if (error)
		socket_close(made);
	return error;
}

/* @address NULL: nobody. */
static int connect_datagrams(struct socket *socket, struct address *address)
{
	struct socket *other __free(socket) = NULL, *old __free(socket) = NULL;

	if (address)
		other = TRY_PTR(socket_find(address, socket->type));
	spin_lock(&unix_lock);
	int error = 0;

	if (other && other->dead)
		error = -ECONNREFUSED;
	else if (other && other->peer && other->peer != socket)
		error = -EPERM;
	if (!error) {
		old = set_peer(socket, other);
		socket->state = other ? CONNECTED : UNCONNECTED;
	}
	spin_unlock(&unix_lock);
	if (old && old != other)
		datagrams_lost(socket, old);
	return error;
}

s64 sys_connect(int number, const void *from, int length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	u64 deadline = socket_deadline(fd.file, 0, READ_ONCE(socket->send_timeout));
	bool datagrams = socket->type == SOCK_DGRAM;
	struct address address;

	TRY(address_read(&address, from, length));
	if (datagrams && address.length >= SUN_FAMILY && address.family == AF_UNSPEC)
		return connect_datagrams(socket, NULL);
	TRY(address_check(&address));
	TRY(socket_announce(socket));
	if (datagrams)
		return connect_datagrams(socket, &address);
	return connect_stream(socket, &address, deadline);
}

/* ---- accept ---------------------------------------------------------------------------------- */

struct socket *next_connection(struct socket *listener)
{
	guard(spinlock, &unix_lock);
	if (list_empty(&listener->connections))
		return NULL;
	struct socket *child = list_first_entry(&listener->connections, struct socket, connection);

	list_del(&child->connection);
	listener->connection_count--;
	wake_up_events(&listener->wait, 0); /* for who connects; there is nothing new to accept */
	return child;
}

s64 sys_accept4(int number, void *to, int *length, int flags)
{
	struct socket *child;

	if (flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC))
		return -EINVAL;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	u64 deadline = socket_deadline(fd.file, 0, READ_ONCE(socket->receive_timeout));

	TRY(fd_room());
	if (socket->type == SOCK_DGRAM)
		return -EOPNOTSUPP;
	if (READ_ONCE(socket->state) != LISTENING)
		return -EINVAL;
	struct file *file __free(fput) = TRY_PTR(socket_file(flags));
	while ((child = next_connection(socket)) == NULL) {
		if (deadline && !takes_connections(socket))
			return -EINVAL;
		TRY(socket_wait(socket->wait,
				!list_empty(&socket->connections) || !takes_connections(socket),
				deadline));
	}
	child->flags[SO_PASSCRED] = READ_ONCE(socket->flags[SO_PASSCRED]);
	WRITE_ONCE(child->has_file, true);
	file->private = child;
	struct socket *peer __free(socket) = peer_of(child);
	if (to)
		TRY(socket_name(peer, to, length));
	get_file(file);
	return fd_add(file, 0, flags & SOCK_CLOEXEC);
}

s64 sys_accept(int number, void *to, int *length)
{
	return sys_accept4(number, to, length, 0);
}
