/*
 * arguments.c - what calls are given: from pools that live, from borders, or wild.
 */
#include "callfuzz.h"

__thread uint64_t state;

uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % below;
}

static long wild(void)
{
	static const long values[] = {0,
				      1,
				      -1,
				      8,
				      4095,
				      4096,
				      0x7fffffff,
				      0x80000000L,
				      -4096,
				      INT64_MIN,
				      INT64_MAX,
				      0x7ffffffff000L,
				      0x7fffffffffffL,
				      0x800000000000L,
				      -0x800000000000L,
				      0xffffffffL,
				      0x100000000L,
				      -0x80000000L,
				      1L << 40};

	return draw(3) ? PICK(values) : (long)(draw(UINT64_MAX) >> draw(64));
}

static const char *path(void)
{
	static char longest[5000];
	static const char *const names[] = {"a",
					    "b",
					    "c",
					    "d",
					    "a/a",
					    "a/b",
					    "b/a",
					    "b/../c",
					    "l/a",
					    "l",
					    "loop",
					    "fifo",
					    "e/",
					    "..",
					    ".",
					    "",
					    "/",
					    "/tmp",
					    FOLDER "/a",
					    "/dev/null",
					    "/dev/zero",
					    "/dev/full",
					    "/dev/urandom",
					    "/proc/self/maps",
					    "/proc/self/fd",
					    "/proc/self/mem",
					    "/proc/self/environ",
					    "/proc/1/stat",
					    "/proc/1/environ",
					    "/proc/mounts",
					    "/proc/self/fd/3",
					    "/etc/passwd",
					    "/bin/busybox",
					    "/root",
					    "/etc/shadow",
					    "/proc/sys/vm/drop_caches",
					    "/proc/meminfo",
					    "/dev/vda",
					    "a-rather-long-name-that-is-not-inline-in-a-dentry",
					    "/dev/tty",
					    "/proc"};
	uint64_t which = draw(60);

	if (which == 0) {
		memset(longest, 'x', sizeof(longest) - 1);
		longest[draw(2) ? 255 : 4990] = 0;
		return longest;
	}
	return which < 35 ? names[draw(12)] : PICK(names);
}

static void *memory(void)
{
	uint64_t which = draw(40);

	if (which == 0)
		return (void *)wild();
	if (which < 4) /* across the end of a page */
		return REGION + 4096 * draw(64) + 4096 - draw(40);
	return REGION + draw(REGION_SIZE - 1);
}

static struct timespec *moment(void)
{
	static __thread struct timespec time;

	time = (struct timespec){draw(30) ? 0 : wild(), draw(10) ? (long)draw(200000) : wild()};
	return &time;
}

static struct iovec *vector(void)
{
	static __thread struct iovec pieces[8];

	for (int i = 0; i < 8; i++)
		pieces[i] = (struct iovec){memory(), draw(20) ? draw(5000) : (size_t)wild()};
	return pieces;
}

static struct sockaddr_un *address(void)
{
	static __thread struct sockaddr_un name;
	static const char *const names[] = {"s", "t", "a/s", "fifo", "l/s"};

	memset(&name, 0, sizeof(name));
	name.sun_family = draw(20) ? AF_UNIX : AF_UNSPEC;
	if (draw(3))
		strcpy(name.sun_path, PICK(names));
	else
		name.sun_path[1] = (char)draw(4);
	return &name;
}

/* Of both directions: it tells of files to be passed, and has room for some. */
static struct msghdr *message(void)
{
	static __thread union {
		struct cmsghdr header;
		char space[64];
	} control;
	static __thread struct msghdr header;
	int *files = (int *)CMSG_DATA(&control.header);

	control.header.cmsg_len = draw(20) ? CMSG_LEN(4 * draw(4)) : draw(80);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = draw(10) ? SCM_RIGHTS : (int)draw(4);
	for (int i = 0; i < 4; i++)
		files[i] = (int)draw(24);
	header.msg_name = draw(3) ? NULL : address();
	header.msg_namelen = (socklen_t)(draw(10) ? 4 : draw(130));
	header.msg_iov = vector();
	header.msg_iovlen = draw(5);
	header.msg_control = draw(3) ? &control : NULL;
	header.msg_controllen = draw(10) ? control.header.cmsg_len : draw(64);
	return &header;
}

static char **words(void)
{
	static __thread char *list[4];

	list[0] = "callfuzz";
	list[1] = draw(10) ? "x" : memory();
	list[2] = list[3] = NULL;
	return list;
}

static const int open_flags[] = {O_RDONLY,
				 O_RDWR,
				 O_RDWR | O_CREAT,
				 O_RDWR | O_CREAT | O_TRUNC,
				 O_RDWR | O_CREAT | O_EXCL,
				 O_WRONLY | O_APPEND | O_CREAT,
				 O_RDONLY | O_DIRECTORY,
				 O_RDONLY | O_NOFOLLOW,
				 O_PATH,
				 O_RDWR | O_SYNC,
				 O_TMPFILE | O_RDWR,
				 O_DIRECT | O_RDWR};
static const long offsets[] = {0,     1,       511,	 4095,	   4096,      4097,
			       49152, 1 << 20, 1L << 31, 1L << 32, INT64_MAX, -1};
static const int commands[] = {0,      1,      2,      3,      4,      5,      6,      7,
			       8,      9,      10,     11,     36,     37,     38,     1024,
			       1025,   1030,   1031,   1032,   1033,   0x5401, 0x5402, 0x5403,
			       0x5404, 0x5409, 0x540b, 0x540e, 0x540f, 0x5410, 0x5413, 0x5414,
			       0x541b, 0x5421, 0x5450, 0x5451, 0x1272, 0x1260};

/* Of a process: our own, one near, or a special number. */
static long process(void)
{
	if (draw(3))
		return 0;
	if (draw(20))
		return getpid() - 3 + (long)draw(8);
	return (long)draw(4) - 1;
}

/* None, one, or some. */
static long flags(void)
{
	if (draw(3) == 0)
		return 0;
	if (draw(2))
		return 1L << draw(draw(3) ? 6 : 32);
	return (long)draw(1 << draw(20));
}

static long open_flag(void)
{
	return PICK(open_flags) | O_NONBLOCK | (draw(8) ? 0 : (long)draw(1 << 24));
}

static const int socket_types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
static const int message_flags[] = {0, 0, MSG_PEEK, MSG_WAITALL, MSG_TRUNC};

/* What only calls on sockets are given. */
static long socket_argument(char kind)
{
	switch (kind) {
	case 'U':
		return draw(30) ? AF_UNIX : (long)draw(60);
	case 'T':
		return PICK(socket_types) | (draw(30) ? SOCK_NONBLOCK : (long)draw(1 << 20));
	case 'A':
		return draw(20) ? (long)address() : (long)memory();
	case 'y':
		return PICK(message_flags) | (draw(20) ? MSG_DONTWAIT : (long)draw(1 << 18));
	default:
		return draw(20) ? (long)message() : (long)memory();
	}
}

long argument(char kind)
{
	if (!draw(60))
		return wild();
	switch (kind) {
	case 'p':
		return draw(40) ? (long)path() : (long)memory();
	case 'r':
		return draw(4) ? (long)path() : (long)memory();
	case 'f':
		return draw(20) ? (long)draw(16) : (long)draw(1100) - 3;
	case 'd':
		return draw(3) ? AT_FDCWD : (long)draw(24);
	case 'b':
	case 'c':
		return (long)memory();
	case 'n':
		return draw(4) ? (long)draw(9000) : (long)PICK(offsets);
	case 'a':
		return (long)(REGION + 4096 * draw(64)) + (draw(20) ? 0 : 7);
	case 'o':
		return draw(2) ? (long)draw(100000) : PICK(offsets);
	case 'i':
		return (long)draw(draw(3) ? 4 : 40);
	case 'u':
		return draw(2) ? USER : (long)draw(3) - 1;
	case 'm':
		return draw(4) ? 0700 | (long)draw(01000) : (long)draw(0200000);
	case 's':
		return draw(6) ? 32 + (long)draw(32) : (long)draw(66);
	case 'P':
		return process();
	case 't':
		return (long)moment();
	case 'v':
		return (long)vector();
	case 'U':
	case 'T':
	case 'A':
	case 'y':
	case 'M':
		return socket_argument(kind);
	case 'g':
		return draw(10) ? (long)words() : (long)memory();
	case 'F':
		return open_flag();
	case 'k':
		return PICK(commands);
	case 'I':
		return draw(20) ? counts->numbers[draw(16)] : (long)draw(1000);
	case 'S':
		return draw(2) ? (long)memory() : 0;
	default:
		return flags();
	}
}
