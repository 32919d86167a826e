/*
 * names.c - addresses of Unix sockets: giving one, asking for it, and finding who has it.
 *
 * An address whose path does not begin with a NUL is a file, which bind() makes: an inode of type
 * S_IFSOCK. While the socket is open it holds the file's path, and the inode points back to it
 * (inode->private, under unix_lock). The file may be linked, renamed and removed meanwhile like any
 * other, and stays when the socket has gone: connecting to it is ECONNREFUSED then.
 *
 * The others, "abstract", are in one list, which is searched from its beginning: programs have a
 * few.
 */
#include "fs/inode/permission.h"
#include "fs/inode/times.h"
#include "fs/path/namei.h"
#include "kernel/socket/socket.h"

static LIST_HEAD(abstract_names); /* sockets; unix_lock */

/* ---- addresses ------------------------------------------------------------------------------- */

int address_read(struct address *address, const void *from, int length)
{
	if (length < 0 || length > 128) /* struct sockaddr_storage */
		return -EINVAL;
	memset(address, 0, sizeof(*address));
	address->length = (u32)length;
	return read_user(&address->family, from,
			 min((size_t)length, SUN_FAMILY + (size_t)SUN_PATH_MAX));
}

int address_check(struct address *address)
{
	if (address->length <= SUN_FAMILY || address->length > SUN_FAMILY + SUN_PATH_MAX ||
	    address->family != AF_UNIX)
		return -EINVAL;
	if (address->path[0]) /* with one NUL, whatever was given */
		address->length = SUN_FAMILY + (u32)strlen(address->path) + 1;
	return 0;
}

int address_write(const struct address *address, void *to, int *length)
{
	int room, size = address ? (int)address->length : 0;

	if (get_user(room, length))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	if (size)
		TRY(write_user(to, &address->family, (size_t)min(room, size)));
	return put_user(size, length);
}

struct address *address_get(struct address *address)
{
	if (address)
		atomic_inc(&address->refcount);
	return address;
}

void address_put(struct address *address)
{
	if (address && atomic_dec_and_test(&address->refcount))
		kfree(address);
}

/* ---- finding --------------------------------------------------------------------------------- */

static struct socket *find_abstract(const struct address *address)
{
	struct socket *socket;

	lockdep_assert_held(&unix_lock);
	list_for_each_entry (socket, &abstract_names, name)
		if (socket->address->length == address->length &&
		    !memcmp(socket->address->path, address->path, address->length - SUN_FAMILY))
			return socket;
	return NULL;
}

/* What is bound to @inode (NULL: to the abstract @address), as socket_find(). */
static struct socket *find_bound(const struct inode *inode, const struct address *address, u16 type)
{
	guard(spinlock, &unix_lock);
	struct socket *found = inode ? inode->private : find_abstract(address);

	if (!found)
		return ERR_PTR(-ECONNREFUSED);
	if (found->type != type)
		return ERR_PTR(-EPROTOTYPE);
	return socket_get(found);
}

struct socket *socket_find(struct address *address, u16 type)
{
	struct path path __free(path) = {0};

	if (!address->path[0])
		return find_bound(NULL, address, type);
	int error = kern_path(address->path, LOOKUP_FOLLOW, &path);
	if (error)
		return ERR_PTR(error);
	struct inode *inode = path.dentry->inode;
	error = inode_permission(inode, MAY_WRITE);
	if (!error && !S_ISSOCK(inode->mode))
		error = -ECONNREFUSED;
	if (error)
		return ERR_PTR(error);
	struct socket *found = find_bound(inode, address, type);
	if (!IS_ERR(found))
		touch_inode_atime(inode, path.mount);
	return found;
}

/* ---- bind ------------------------------------------------------------------------------------ */

/* Make the file @name and walk to it: 0 and a referenced path, or -errno as bind(2). Sleeps. */
static int make_file(const char *name, umode_t mode, struct path *path)
{
	struct new_name new = {.mode = S_IFSOCK | (mode & S_IRWXUGO)};
	int error = path_lookup(AT_FDCWD, name, LOOKUP_EXCLUSIVE, &new, path);

	if (error)
		return error == -EEXIST ? -EADDRINUSE : error;
	if (new.made)
		return 0;
	path_put(path);
	return -EADDRINUSE;
}

/* Give @socket an address, which is a file, made now, or is in the list of abstract names: 0;
 * -EINVAL: it has one; -EADDRINUSE, -ENOMEM and what making a file says. socket->mutex is held. */
static int bind_to(struct socket *socket, const struct address *address, umode_t mode)
{
	struct path path = {0};

	lockdep_assert_held(&socket->mutex);
	if (socket->address)
		return -EINVAL;
	struct address *copy __free(kfree) = TRY_PTR(kmalloc(sizeof(*copy), GFP_KERNEL));
	*copy = *address;
	atomic_set(&copy->refcount, 1);
	if (address->path[0])
		TRY(make_file(address->path, mode, &path));
	guard(spinlock, &unix_lock);
	if (path.mount) {
		socket->path = path;
		path.dentry->inode->private = socket;
	} else if (find_abstract(copy)) {
		return -EADDRINUSE;
	} else {
		list_add_tail(&socket->name, &abstract_names);
	}
	smp_store_release(&socket->address, copy);
	copy = NULL;
	return 0;
}

/* An abstract address for a socket that has none: 0 or -errno. Sleeps. */
static int autobind(struct socket *socket)
{
	static atomic_t last;
	struct address address = {.family = AF_UNIX, .length = SUN_FAMILY + 6};

	guard(mutex, &socket->mutex);
	int error = socket->address ? 0 : -EADDRINUSE;
	for (unsigned tries = 0; error == -EADDRINUSE && tries < 1 << 20 &&
				 !fatal_signal_pending(current); tries++) {
		cond_resched(); /* others may have many names in a row */
		snprintf(address.path + 1, 6, "%05x", (unsigned)atomic_inc_return(&last) & 0xfffff);
		error = bind_to(socket, &address, 0);
	}
	return error;
}

int socket_announce(struct socket *socket)
{
	if (!READ_ONCE(socket->flags[SO_PASSCRED]) || READ_ONCE(socket->address))
		return 0;
	return autobind(socket);
}

s64 sys_bind(int number, const void *from, int length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	struct address address;

	TRY(address_read(&address, from, length));
	if (address.length == SUN_FAMILY && address.family == AF_UNIX)
		return autobind(socket);
	TRY(address_check(&address));
	guard(mutex, &socket->mutex);
	return bind_to(socket, &address, fd.file->inode->mode);
}

/* ---- asking ---------------------------------------------------------------------------------- */

int socket_name(const struct socket *socket, void *to, int *length)
{
	static const struct address nameless = {.family = AF_UNIX, .length = SUN_FAMILY};

	return address_write(smp_load_acquire(&socket->address) ?: &nameless, to, length);
}

s64 sys_getsockname(int number, void *to, int *length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	const struct socket *socket = TRY_PTR(socket_of(fd));

	return socket_name(socket, to, length);
}

s64 sys_getpeername(int number, void *to, int *length)
{
	struct fd fd __free(fd) = TRY_FD(fdget(number));
	struct socket *socket = TRY_PTR(socket_of(fd));
	struct socket *peer __free(socket) = peer_of(socket);

	return peer ? socket_name(peer, to, length) : -ENOTCONN;
}
