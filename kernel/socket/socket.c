/*
 * socket.c - Unix sockets as objects and as open files: making them, in pairs or alone, polling,
 * shutting down and closing them. The rules are in socket.h.
 */
#include "fs/cred.h"
#include "fs/tmpfs/tmpfs.h"
#include "kernel/socket/socket.h"

#define POLLRDHUP 0x2000

DEFINE_SPINLOCK(unix_lock);

/* ---- the object ------------------------------------------------------------------------------ */

struct socket *socket_new(u16 type)
{
	struct socket *socket = kzalloc(sizeof(*socket), GFP_KERNEL | GFP_NOWARN);

	if (!socket || !charge_memory(sizeof(*socket))) {
		kfree(socket);
		return NULL;
	}
	socket->type = type;
	atomic_set(&socket->refcount, 1);
	mutex_init(&socket->mutex, "socket->mutex");
	init_waitqueue_head(&socket->wait);
	socket->send_buffer = socket->receive_buffer = BUFFER_DEFAULT;
	socket->send_timeout = socket->receive_timeout = FOR_EVER;
	socket->peer_identity = (struct identity){0, (uid_t)-1, (gid_t)-1};
	INIT_LIST_HEAD(&socket->name);
	INIT_LIST_HEAD(&socket->clients);
	INIT_LIST_HEAD(&socket->client);
	INIT_LIST_HEAD(&socket->queue);
	INIT_LIST_HEAD(&socket->connections);
	return socket;
}

struct socket *socket_get(struct socket *socket)
{
	if (socket)
		atomic_inc(&socket->refcount);
	return socket;
}

void socket_put(struct socket *socket)
{
	if (!socket || !atomic_dec_and_test(&socket->refcount))
		return;
	ASSERT(socket->dead && list_empty(&socket->queue) && list_empty(&socket->clients));
	charge_memory(-(s64)sizeof(*socket));
	address_put(socket->address);
	kfree(socket);
}

struct socket *set_peer(struct socket *socket, struct socket *peer)
{
	struct socket *old = socket->peer;

	lockdep_assert_held(&unix_lock);
	list_del_init(&socket->client);
	socket->peer = socket_get(peer);
	if (peer)
		list_add(&socket->client, &peer->clients);
	return old;
}

struct socket *peer_of(struct socket *socket)
{
	guard(spinlock, &unix_lock);
	return socket_get(socket->peer);
}

int socket_error(struct socket *socket)
{
	guard(spinlock, &unix_lock);
	int error = socket->error;

	socket->error = 0;
	return -error;
}

struct identity effective_identity(void)
{
	return (struct identity){current->process_id, current->cred->euid, current->cred->egid};
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Nobody is to be found at, or waits for, what closes. Returns the peer's reference. */
static struct socket *cut_off(struct socket *socket)
{
	guard(spinlock, &unix_lock);
	struct socket *peer = set_peer(socket, NULL);

	socket->dead = socket->crowded = true; /* all who may send to it look again */
	socket->shutdown = SHUT_BOTH;
	list_del_init(&socket->name);
	if (socket->path.mount)
		socket->path.dentry->inode->private = NULL;
	if (peer && socket->type != SOCK_DGRAM) {
		peer->shutdown = SHUT_BOTH;
		if (!list_empty(&socket->queue) || !socket->has_file)
			peer->error = ECONNRESET; /* what it sent is lost */
		wake_up(&peer->wait);
	}
	queue_purge(socket);
	return peer;
}

void socket_close(struct socket *socket)
{
	struct socket *peer __free(socket) = cut_off(socket), *child;

	while ((child = next_connection(socket)) != NULL)
		socket_close(child); /* it has none of its own */
	purged_free();
	if (socket->path.mount)
		path_put(&socket->path);
	socket_put(socket);
}

/* ---- waiting --------------------------------------------------------------------------------- */

u64 socket_deadline(const struct file *file, int flags, u64 timeout)
{
	if ((flags & MSG_DONTWAIT) || (file->flags & O_NONBLOCK))
		return 0;
	if (timeout == FOR_EVER)
		return FOR_EVER;
	return ktime_ns() + timeout;
}

int socket_waited(int result, u64 deadline)
{
	if (!result || !deadline)
		return -EAGAIN;
	if (result > 0)
		return 0;
	return deadline == FOR_EVER ? -ERESTARTSYS : -EINTR;
}

/* ---- the open file --------------------------------------------------------------------------- */

static void socket_release(struct file *file)
{
	if (file->private)
		socket_close(file->private);
}

static ssize_t socket_read(struct file *file, struct io *io, loff_t *position)
{
	struct received received __free(received) = {0};

	if (!io->length)
		return 0;
	return socket_receive(file, io, 0, &received);
}

static ssize_t socket_write(struct file *file, struct io *io, loff_t *position)
{
	struct attached attached = {0};

	return socket_send(file, io, 0, NULL, &attached);
}

/* A queue that is full is said to have room once three quarters of it are free. */
static unsigned socket_poll(struct file *file, struct poll_table *table)
{
	struct socket *socket = file->private;
	unsigned mask = 0;

	poll_wait(file, &socket->wait, table);
	guard(spinlock, &unix_lock);
	if (socket->error)
		mask |= POLLERR;
	if (socket->shutdown == SHUT_BOTH)
		mask |= POLLHUP;
	if (socket->shutdown & SHUT_RECEIVE)
		mask |= POLLRDHUP | POLLIN | POLLRDNORM;
	if (!list_empty(&socket->queue) || !list_empty(&socket->connections))
		mask |= POLLIN | POLLRDNORM;
	if (socket->type != SOCK_DGRAM && socket->state == UNCONNECTED)
		mask |= POLLHUP;
	if (socket->state != LISTENING && (!socket->peer || find_room(socket, socket->peer, 4)))
		mask |= ROOM;
	return mask;
}

static const struct file_operations socket_file_operations = {
	.release = socket_release,
	.read = socket_read,
	.write = socket_write,
	.poll = socket_poll,
};

struct socket *file_socket(const struct file *file)
{
	return file->fop == &socket_file_operations ? file->private : NULL;
}

struct socket *socket_of(struct fd fd)
{
	struct socket *socket = file_socket(fd.file);

	return socket ? socket : ERR_PTR(-ENOTSOCK);
}

struct file *socket_file(int flags)
{
	struct path path __free(path) = {0};
	int error = tmpfs_nameless(S_IFSOCK | 0777, &path);

	if (error)
		return ERR_PTR(error);
	struct inode *inode = path.dentry->inode;
	const struct file_operations *by_name = inode->fop; /* through /proc/PID/fd: ENXIO */
	inode->fop = &socket_file_operations;
	struct file *file = file_open_path(&path, O_RDWR | ((u32)flags & SOCK_NONBLOCK));
	inode->fop = by_name;
	return file;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static int check_kind(int family, int type, int protocol)
{
	int kind = type & SOCK_TYPE_MASK;

	if (type & ~(SOCK_TYPE_MASK | SOCK_NONBLOCK | SOCK_CLOEXEC))
		return -EINVAL;
	if (family < 0 || family >= AF_MAX)
		return -EAFNOSUPPORT;
	if (kind >= SOCK_MAX)
		return -EINVAL;
	if (family != AF_UNIX)
		return -EAFNOSUPPORT;
	if (protocol && protocol != AF_UNIX)
		return -EPROTONOSUPPORT;
	if (kind != SOCK_STREAM && kind != SOCK_DGRAM && kind != SOCK_RAW && kind != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	return 0;
}

/* A file with a new socket, or ERR_PTR. */
static struct file *open_socket(int type)
{
	int kind = type & SOCK_TYPE_MASK;
	struct file *file = socket_file(type);

	if (IS_ERR(file))
		return file;
	struct socket *socket = socket_new((u16)(kind == SOCK_RAW ? SOCK_DGRAM : kind));
	if (!socket) {
		fput(file);
		return ERR_PTR(-ENOMEM);
	}
	socket->has_file = true;
	file->private = socket;
	return file;
}

s64 sys_socket(int family, int type, int protocol)
{
	TRY(check_kind(family, type, protocol));
	struct file *file = TRY_PTR(open_socket(type));

	return fd_add(file, 0, type & SOCK_CLOEXEC);
}

static void join_pair(struct socket *a, struct socket *b)
{
	guard(spinlock, &unix_lock);
	set_peer(a, b);
	set_peer(b, a);
	a->state = b->state = CONNECTED;
	a->peer_identity = b->peer_identity = effective_identity();
}

s64 sys_socketpair(int family, int type, int protocol, int *fds)
{
	TRY(check_kind(family, type, protocol));
	struct file *first __free(fput) = TRY_PTR(open_socket(type));
	struct file *second __free(fput) = TRY_PTR(open_socket(type));
	join_pair(first->private, second->private);
	return fd_add_pair(first, second, type & SOCK_CLOEXEC, fds);
}

s64 sys_shutdown(int number, int how)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	u8 mine = (u8)(how + 1);
	u8 others = mine == SHUT_BOTH ? SHUT_BOTH : SHUT_BOTH - mine;

	if (how < 0 || how > 2)
		return -EINVAL;
	guard(spinlock, &unix_lock);
	socket->shutdown |= mine;
	wake_up(&socket->wait);
	if (socket->peer && socket->type != SOCK_DGRAM)
		socket->peer->shutdown |= others;
	if (socket->peer)
		wake_up(&socket->peer->wait); /* and who sends there */
	return 0;
}
