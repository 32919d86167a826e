/*
 * calls.c - the calls that send and receive: with one buffer, or with a struct msghdr.
 */
#include "kernel/socket/socket.h"

/* struct msghdr */
struct message_header {
	void *name;
	int name_length, pad;
	const struct iovec *vector;
	u64 vector_count;
	void *control;
	u64 control_length;
	u32 flags, pad2;
};

/* ---- one buffer ------------------------------------------------------------------------------ */

s64 sys_sendto(int number, const void *buffer, size_t size, int flags, const void *to, int length)
{
	struct io io = {(void *)buffer, min(size, IO_MAX), IO_USER, 0};
	struct attached attached = {0};
	struct address address;

	if (!access_ok(buffer, io.length))
		return -EFAULT;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	TRY_PTR(socket_of(fd));
	if (to)
		TRY(address_read(&address, to, length));
	return socket_send(fd.file, &io, flags, to && length ? &address : NULL, &attached);
}

s64 sys_recvfrom(int number, void *buffer, size_t size, int flags, void *from, int *length)
{
	struct io io = {buffer, min(size, IO_MAX), IO_USER, 0};
	struct received received __free(received) = {0};

	if (!access_ok(buffer, io.length))
		return -EFAULT;
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	TRY_PTR(socket_of(fd));
	s64 result = TRY(socket_receive(fd.file, &io, flags, &received));
	if (from)
		TRY(address_write(received.from, from, length));
	return result;
}

/* ---- a struct msghdr ------------------------------------------------------------------------- */

/* Copy the header and its vector, which is the caller's to free whatever the result. */
static int get_header(struct message_header *header, struct iovec **vector, struct io *io,
		      const struct message_header __user *from)
{
	TRY(read_user(header, from, sizeof(*header)));
	if (!header->name)
		header->name_length = 0;
	if (header->name_length < 0)
		return -EINVAL;
	header->name_length = min(header->name_length, 128);
	if (header->vector_count > IOV_MAX)
		return -EMSGSIZE;
	*vector = TRY_PTR(kmalloc(header->vector_count * sizeof(**vector), GFP_KERNEL));
	s64 length = TRY(get_vector(*vector, header->vector, header->vector_count));
	*io = (struct io){*vector, (size_t)length, IO_VECTOR, 0};
	return 0;
}

s64 sys_sendmsg(int number, const void *from, int flags)
{
	struct attached attached __free(attached) = {0};
	struct iovec *vector __free(kfree) = NULL;
	struct address address, *to = NULL;
	struct message_header header;
	struct io io;

	struct fd fd __free(fd) = TRY_FD(fdget(number));
	TRY_PTR(socket_of(fd));
	TRY(get_header(&header, &vector, &io, from));
	if (header.name_length) {
		TRY(address_read(&address, header.name, header.name_length));
		to = &address;
	}
	if (header.control && header.control_length)
		TRY(attached_read(&attached, header.control, header.control_length));
	return socket_send(fd.file, &io, flags, to, &attached);
}

/* Everything beside the data: into the program's header at @to. */
static int put_header(const struct message_header *header, struct received *received, int flags,
		      struct message_header __user *to)
{
	u64 room = header->control ? header->control_length : 0;
	u64 used = attached_write(received, header->control, room, flags);

	if (header->name)
		TRY(address_write(received->from, header->name, &to->name_length));
	if (put_user((u32)(received->flags | (flags & MSG_CMSG_CLOEXEC)), &to->flags))
		return -EFAULT;
	return put_user(used, &to->control_length);
}

s64 sys_recvmsg(int number, void *to, int flags)
{
	struct received received __free(received) = {0};
	struct iovec *vector __free(kfree) = NULL;
	struct message_header header;
	struct io io;

	struct fd fd __free(fd) = TRY_FD(fdget(number));
	TRY_PTR(socket_of(fd));
	TRY(get_header(&header, &vector, &io, to));
	s64 result = TRY(socket_receive(fd.file, &io, flags, &received));
	TRY(put_header(&header, &received, flags, to));
	return result;
}
