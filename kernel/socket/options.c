/*
 * options.c - getsockopt(2) and setsockopt(2): what sockets tell of themselves, and the few things
 * that can be set. An option that is not known is ENOPROTOOPT.
 */
#include "kernel/socket/socket.h"

enum { SO_TYPE = 3, SO_ERROR, SO_SNDBUF = 7, SO_RCVBUF, SO_PEERCRED = 17, SO_RCVTIMEO = 20 };
enum { SO_SNDTIMEO = 21, SO_ACCEPTCONN = 30, SO_PROTOCOL = 38, SO_DOMAIN };
#define SEND_BUFFER_MIN 4608u
#define RECEIVE_BUFFER_MIN 2304u

union option {
	int number;
	struct identity identity;
	struct timeval64 time;
};

/* ---- asking ---------------------------------------------------------------------------------- */

static int put_number(union option *value, int number)
{
	value->number = number;
	return sizeof(value->number);
}

static int put_timeout(union option *value, u64 timeout)
{
	value->time = ns_to_timeval(timeout == FOR_EVER ? 0 : timeout);
	return sizeof(value->time);
}

static int put_identity(union option *value, struct socket *socket)
{
	guard(spinlock, &unix_lock);
	value->identity = socket->peer_identity;
	return sizeof(value->identity);
}

/* The length of what is in *@value now, or -ENOPROTOOPT. */
static int get_option(struct socket *socket, int option, union option *value)
{
	switch (option) {
	case SO_TYPE:
		return put_number(value, socket->type);
	case SO_DOMAIN:
		return put_number(value, AF_UNIX);
	case SO_PROTOCOL:
		return put_number(value, 0);
	case SO_ERROR:
		return put_number(value, -socket_error(socket));
	case SO_SNDBUF:
		return put_number(value, (int)READ_ONCE(socket->send_buffer));
	case SO_RCVBUF:
		return put_number(value, (int)READ_ONCE(socket->receive_buffer));
	case SO_REUSEADDR:
	case SO_BROADCAST:
	case SO_KEEPALIVE:
	case SO_PASSCRED:
		return put_number(value, READ_ONCE(socket->flags[option]));
	case SO_ACCEPTCONN:
		return put_number(value, READ_ONCE(socket->state) == LISTENING);
	case SO_PEERCRED:
		return put_identity(value, socket);
	case SO_RCVTIMEO:
		return put_timeout(value, READ_ONCE(socket->receive_timeout));
	case SO_SNDTIMEO:
		return put_timeout(value, READ_ONCE(socket->send_timeout));
	}
	return -ENOPROTOOPT;
}

s64 sys_getsockopt(int number, int level, int option, void *to, int *length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	union option value;
	int room;

	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (get_user(room, length))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	int size = TRY(get_option(socket, option, &value));
	size = min(size, room);
	TRY(write_user(to, &value, (size_t)size));
	return put_user(size, length);
}

/* ---- setting --------------------------------------------------------------------------------- */

/* Twice what was asked for, as Linux, which has its own needs counted in. */
static u32 buffer_size(int value, u32 least)
{
	return max(2 * min((u32)value, BUFFER_DEFAULT), least);
}

/* From a struct timeval: nothing is for ever, and less than nothing not at all. */
static int set_timeout(u64 *timeout, const void __user *from, int length)
{
	struct timeval64 time;

	if (length < (int)sizeof(time))
		return -EINVAL;
	TRY(read_user(&time, from, sizeof(time)));
	if ((u64)time.tv_usec >= NSEC_PER_SEC / NSEC_PER_USEC)
		return -EDOM;
	u64 ns = (u64)time.tv_sec * NSEC_PER_SEC + (u64)time.tv_usec * NSEC_PER_USEC;

	if (time.tv_sec < 0)
		ns = 0;
	else if (!ns || (u64)time.tv_sec >= FOR_EVER / NSEC_PER_SEC / 2)
		ns = FOR_EVER;
	WRITE_ONCE(*timeout, ns);
	return 0;
}

s64 sys_setsockopt(int number, int level, int option, const void *from, int length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	int value;

	if (length < 0)
		return -EINVAL;
	if (level != SOL_SOCKET)
		return -EOPNOTSUPP;
	if (length < (int)sizeof(value))
		return -EINVAL;
	TRY(read_user(&value, from, sizeof(value)));
	switch (option) {
	case SO_SNDBUF:
		WRITE_ONCE(socket->send_buffer, buffer_size(value, SEND_BUFFER_MIN));
		return 0;
	case SO_RCVBUF: /* kept; the sender's counts */
		WRITE_ONCE(socket->receive_buffer, buffer_size(value, RECEIVE_BUFFER_MIN));
		return 0;
	case SO_REUSEADDR: /* these three are kept, too, and mean nothing in Linux either */
	case SO_BROADCAST:
	case SO_KEEPALIVE:
	case SO_PASSCRED:
		WRITE_ONCE(socket->flags[option], value != 0);
		return 0;
	case SO_RCVTIMEO:
		return set_timeout(&socket->receive_timeout, from, length);
	case SO_SNDTIMEO:
		return set_timeout(&socket->send_timeout, from, length);
	}
	return -ENOPROTOOPT;
}
