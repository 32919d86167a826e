/*
 * socket.h - Unix sockets: what the files of this room share.
 *
 * A socket is a struct socket behind an open file of a nameless inode (socket.c), as a pipe is. It
 * gets an address by bind() (names.c): an inode of a file system, whose path it then holds, or a
 * name of its own that no file system knows ("abstract"). Two sockets become peers by socketpair()
 * or by connect() and accept() (connect.c). What is sent is a message (send.c), and lies in the
 * queue of who is to receive it (queue.c, receive.c), with the open files that are passed along
 * (passing.c). calls.c has the calls that send and receive, options.c what can be set.
 *
 * Of one that connects:	UNCONNECTED -> connect() -> CONNECTED
 * Of one that listens:		UNCONNECTED -> bind() -> listen() -> LISTENING
 * What connect() makes at the listening side waits there, CONNECTED, until accept() gives it a
 * file. Whoever closes first leaves the other CONNECTED, to read what is left, with nobody to send
 * to (shutdown). Datagram sockets are CONNECTED while they have a peer; that says nothing of the
 * peer.
 *
 * References: the file has one, a peer, the queue of who listens, and who waits for another socket.
 * A socket whose file is closed is dead: empty, and kept only for those who still point to it.
 *
 * Lock order: socket->mutex (who receives, or binds: user memory is copied and names are made under
 * it) -> unix_lock -> wait queues. unix_lock is one spinlock for all sockets: what it guards are
 * pointers from one to another, and no data is moved under it. Nothing that may sleep is done under
 * it; files are let go after it.
 *
 * Limits: a queue takes what its senders' SO_SNDBUF says, with the messages' own headers counted,
 * and one message more; datagrams also DATAGRAMS_MAX; sockets and all queues together have an
 * eighth of memory, then ENOBUFS or ENOMEM, root's a fourth. Files under way: passing.c. No
 * out-of-band data, no peek offsets, no sendmmsg and recvmmsg, no FIONREAD, no /proc/net/unix.
 */
#pragma once

#include "core/memory/slab.h"
#include "fs/file/file_table.h"

enum { AF_UNSPEC, AF_UNIX, AF_MAX = 46, SOL_SOCKET = 1 };
enum { SOCK_STREAM = 1, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET = 5, SOCK_MAX = 11 };
enum { SOCK_TYPE_MASK = 0xf, SOCK_NONBLOCK = O_NONBLOCK, SOCK_CLOEXEC = O_CLOEXEC };
enum { MSG_OOB = 1, MSG_PEEK = 2, MSG_CTRUNC = 8, MSG_TRUNC = 0x20, MSG_DONTWAIT = 0x40 };
enum { MSG_WAITALL = 0x100, MSG_NOSIGNAL = 0x4000, MSG_CMSG_CLOEXEC = 0x40000000 };
enum { SHUT_RECEIVE = 1, SHUT_SEND = 2, SHUT_BOTH = 3 }; /* shutdown(2)'s SHUT_*, one more each */

enum { SO_REUSEADDR = 2, SO_BROADCAST = 6, SO_KEEPALIVE = 9, SO_PASSCRED = 16 };

#define ROOM (POLLOUT | POLLWRNORM | POLLWRBAND) /* what poll(2) says when it may be sent */
#define SUN_PATH_MAX 108
#define SUN_FAMILY 2	       /* bytes before the path in an address */
#define DATAGRAMS_MAX 10       /* net.unix.max_dgram_qlen */
#define BACKLOG_MAX 4096       /* net.core.somaxconn */
#define BUFFER_DEFAULT 212992u /* net.core.wmem_default, and the most that setsockopt() takes */

/* struct sockaddr_un, and its length; behind the path is room for a NUL and eight bytes more, which
 * a path walk reads (fs/path/namei.h). Once a socket has it, it is not changed any more. */
struct address {
	atomic_t refcount;
	u32 length; /* with the family */
	u16 family;
	char path[SUN_PATH_MAX + 10];
};

/* struct ucred: who did it. */
struct identity {
	int pid;
	uid_t uid;
	gid_t gid;
};

/* What comes with a message's data. */
struct attached {
	struct identity sender;
	bool has_sender; /* it was told with the message */
	u32 file_count;
	struct file **files; /* referenced, counted in files_under_way; NULL: none */
};

struct message {
	struct list_head link;
	struct address *from; /* referenced, or NULL */
	struct attached attached;
	u32 charge; /* bytes, with what is beside the data */
	u32 length;
	u32 start; /* what is before has been read */
	char data[];
};

struct socket {
	/* Not changed. */
	u16 type; /* SOCK_* */
	atomic_t refcount;

	struct mutex mutex; /* nobody else takes messages, or binds */
	wait_queue_head_t wait;

	/* Options, each a word that is read and written whole. */
	bool flags[SO_PASSCRED + 1]; /* by their numbers, SO_* that are so or not */
	u32 send_buffer, receive_buffer;
	u64 send_timeout, receive_timeout; /* ns, or FOR_EVER */

	/* Under unix_lock; what others wait for is also read without. */
	enum { UNCONNECTED, LISTENING, CONNECTED } state;
	u8 shutdown; /* SHUT_* */
	bool dead;
	bool has_file; /* no more to be accepted */
	bool crowded;  /* a sender found the queue full, and is to be woken */
	int error;     /* what the next call returns, once */
	struct identity peer_identity;
	struct address *address; /* referenced, or NULL; then not changed any more */
	struct path path;	 /* of its inode, if it made one, whose `private` this socket is */
	struct list_head name;	 /* in the list of abstract names */

	struct socket *peer;		  /* referenced; it may be dead */
	struct list_head clients, client; /* those whose peer this is */

	struct list_head queue; /* messages */
	u32 queued, charged;	/* how many, and their bytes with what is beside the data */

	struct list_head connections, connection; /* to be accepted; where it is so itself */
	u32 connection_count, backlog;
};

extern spinlock_t unix_lock;

/* ---- socket.c -------------------------------------------------------------------------------- */

/* A socket with one reference, or NULL: out of memory. */
struct socket *socket_new(u16 type);
struct socket *socket_get(struct socket *socket); /* one more reference; NULL is allowed */
void socket_put(struct socket *socket);		  /* NULL is allowed */
DEFINE_FREE(socket, struct socket *, socket_put(*variable))
/* Close it for good: its peer sees the end, its queue goes. The file's reference is dropped.
 * Sleeps. */
void socket_close(struct socket *socket);
/* An open file for a socket, which goes into file->private, or ERR_PTR(-ENFILE, -ENOMEM). Of the
 * flags SOCK_NONBLOCK counts. Sleeps. */
struct file *socket_file(int type_and_flags);
/* The socket behind an open file, or NULL: it is something else. */
struct socket *file_socket(const struct file *file);
/* The same, or ERR_PTR(-ENOTSOCK). */
struct socket *socket_of(struct fd fd);
/* Make @peer (NULL: nobody) @socket's, which keeps a reference: the old one, for socket_put().
 * Under unix_lock. */
struct socket *set_peer(struct socket *socket, struct socket *peer);
/* The peer, referenced, or NULL. */
struct socket *peer_of(struct socket *socket);
/* The error that was waiting for a call, once: negative, or 0. */
int socket_error(struct socket *socket);
/* Who current is, by the effective ids of its user and group. */
struct identity effective_identity(void);

/* When a call that may wait so long on @file gives up, by its flags (MSG_DONTWAIT) and the file's:
 * a point in time, FOR_EVER, or 0: it does not wait. */
#define FOR_EVER (~0ULL)
u64 socket_deadline(const struct file *file, int flags, u64 timeout);
/* What socket_wait() returns if wait_event_until() said @result. */
int socket_waited(int result, u64 deadline);
/* Sleep in @queue until @condition: 0; or -EAGAIN (@deadline has come), -ERESTARTSYS or, if it has
 * a time-out, -EINTR (a signal has). */
#define socket_wait(queue, condition, deadline)                                                    \
	socket_waited(wait_event_until(queue, condition, TASK_INTERRUPTIBLE, deadline), deadline)

/* ---- names.c --------------------------------------------------------------------------------- */

/* Copy the @length bytes of an address: 0, -EINVAL (no such length), -EFAULT. */
int address_read(struct address *address, const void __user *from, int length);
/* Write as much of @address (NULL: none, no bytes) as there is room for, and its length, as
 * getsockname(2). 0, -EINVAL, -EFAULT. */
int address_write(const struct address *address, void __user *to, int __user *length);
/* -EINVAL if it cannot be a Unix socket's; else 0, and the length is right. */
int address_check(struct address *address);
struct address *address_get(struct address *address); /* one more reference; NULL is allowed */
void address_put(struct address *address);	      /* NULL is allowed */
/* The socket of that name, for one of @type, referenced: or ERR_PTR of -ECONNREFUSED (none there),
 * -EPROTOTYPE, -EACCES (may not be written to) or of the path walk. Sleeps. */
struct socket *socket_find(struct address *address, u16 type);
/* Write @socket's address as getsockname(2) does: 0, -EINVAL, -EFAULT. */
int socket_name(const struct socket *socket, void __user *to, int __user *length);
/* Before the first thing that others hear of @socket: if it is to be told who sends, it gets an
 * abstract address, if it has none. 0 or -errno. Sleeps. */
int socket_announce(struct socket *socket);

/* ---- connect.c ------------------------------------------------------------------------------- */

/* Take the next one to be accepted out of @listener's queue, with its reference, or NULL. */
struct socket *next_connection(struct socket *listener);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* The next @length bytes of @io as a message, which takes over @attached; or ERR_PTR(-EFAULT,
 * -ENOBUFS: out of memory). Sleeps. */
struct message *message_new(struct socket *socket, struct io *io, size_t length,
			    struct attached *attached);
/* Count @bytes (negative: no more) of memory that sockets have: false, and they are not counted, if
 * that were more than an eighth of all, for root a fourth. */
bool charge_memory(s64 bytes);
/* It is in no queue. Sleeps: files are let go. */
void message_free(struct message *message);
/* Is less than SO_SNDBUF / @part of bytes in @other's queue, so that @socket may send one more
 * message; or is it to learn that it never may? Else @other will wake who waits. Under unix_lock.
 */
bool find_room(const struct socket *socket, struct socket *other, u32 part);
/* There is more room in @socket's queue: those who may send to it look again. Under unix_lock. */
void wake_senders(struct socket *socket);
/* @socket has no more to do with @old, a datagram peer of its: what is queued from it is lost. */
void datagrams_lost(struct socket *socket, struct socket *old);
/* Throw away what is in the queue: under unix_lock; and, without it, let the files go that were
 * passed. Sleeps. */
void queue_purge(struct socket *socket);
void purged_free(void);

/* ---- send.c ---------------------------------------------------------------------------------- */

/* Send what is in @io, to @to (NULL: the peer), with @attached, whose files may be taken over:
 * bytes, or -errno as sendmsg(2). Sleeps. */
ssize_t socket_send(struct file *file, struct io *io, int flags, struct address *to,
		    struct attached *attached);

/* ---- receive.c ------------------------------------------------------------------------------- */

/* What a call received beside the data. */
struct received {
	int flags;	      /* MSG_* of the result */
	bool any;	      /* something came: the rest is set */
	bool ends;	      /* what is behind it is another call's */
	bool tells_sender;    /* SO_PASSCRED */
	struct address *from; /* referenced, or NULL */
	struct attached attached;
};

/* Receive into @io: bytes, or -errno as recvmsg(2). What is in *@received is the caller's. Sleeps.
 */
ssize_t socket_receive(struct file *file, struct io *io, int flags, struct received *received);
void received_free(struct received *received);
DEFINE_FREE(received, struct received, received_free(variable))

/* ---- passing.c ------------------------------------------------------------------------------- */

/* What a sendmsg(2)'s control data of @length bytes asks to pass. 0 or -errno; free it in any case.
 * Sleeps. */
int attached_read(struct attached *attached, const void __user *control, u64 length);
/* A second reference to what @from has. 0 or -ENOMEM. */
int attached_copy(struct attached *attached, const struct attached *from);
void attached_free(struct attached *attached);
DEFINE_FREE(attached, struct attached, attached_free(variable))
/* May it lie in @receiver's queue? 0 or -ETOOMANYREFS. Under unix_lock. */
int attached_check(const struct attached *attached, struct socket *receiver);
/* Write what came into the control data's @room bytes: how many were used. Files become
 * descriptors, as recvmsg(2)'s @flags say. MSG_CTRUNC in received->flags: not all fitted. Sleeps.
 */
u64 attached_write(struct received *received, char __user *control, u64 room, int flags);
