"""What arguments of system calls are called in a trace: numbers and memory by the types of core/syscalls.h."""

from __future__ import annotations

import signal
import struct
import time
from collections.abc import Callable

AT_FDCWD = -100


# ---- names of constants: exact values, then bits ---------------------------------------------------------------


def _names(text: str, prefix: str = "") -> dict[int, str]:
    """`A B=4 C`: names with their values, which else count from 0."""
    found, value = {}, -1
    for word in text.split():
        name, _, given = word.partition("=")
        value = int(given, 0) if given else value + 1
        found[value] = prefix + name
    return found


OPEN_BITS = _names(
    "CREAT=0o100 EXCL=0o200 NOCTTY=0o400 TRUNC=0o1000 APPEND=0o2000 NONBLOCK=0o4000 SYNC=0o4010000 DSYNC=0o10000 "
    "DIRECT=0o40000 LARGEFILE=0o100000 NOFOLLOW=0o400000 NOATIME=0o1000000 CLOEXEC=0o2000000 PATH=0o10000000 "
    "TMPFILE=0o20200000 DIRECTORY=0o200000 ASYNC=0o20000",
    "O_",
)
CLONE_BITS = _names(
    "VM=0x100 FS=0x200 FILES=0x400 SIGHAND=0x800 PIDFD=0x1000 PTRACE=0x2000 VFORK=0x4000 PARENT=0x8000 "
    "THREAD=0x10000 NEWNS=0x20000 SYSVSEM=0x40000 SETTLS=0x80000 PARENT_SETTID=0x100000 CHILD_CLEARTID=0x200000 "
    "DETACHED=0x400000 UNTRACED=0x800000 CHILD_SETTID=0x1000000 NEWCGROUP=0x2000000 NEWUTS=0x4000000 "
    "NEWIPC=0x8000000 NEWUSER=0x10000000 NEWPID=0x20000000 NEWNET=0x40000000 IO=0x80000000",
    "CLONE_",
)
SIGACTION_BITS = _names(
    "RESTORER=0x4000000 ONSTACK=0x8000000 RESTART=0x10000000 NODEFER=0x40000000 RESETHAND=0x80000000 "
    "NOCLDSTOP=1 NOCLDWAIT=2 SIGINFO=4",
    "SA_",
)
PROTECTION = _names("NONE=0 READ=1 WRITE=2 EXEC=4 GROWSDOWN=0x1000000", "PROT_")
MAP_BITS = _names(
    "FIXED=0x10 ANONYMOUS=0x20 32BIT=0x40 GROWSDOWN=0x100 DENYWRITE=0x800 EXECUTABLE=0x1000 LOCKED=0x2000 "
    "NORESERVE=0x4000 POPULATE=0x8000 NONBLOCK=0x10000 STACK=0x20000 HUGETLB=0x40000 SYNC=0x80000 "
    "FIXED_NOREPLACE=0x100000",
    "MAP_",
)
MOUNT_BITS = _names(
    "RDONLY=1 NOSUID=2 NODEV=4 NOEXEC=8 SYNCHRONOUS=16 REMOUNT=32 MANDLOCK=64 DIRSYNC=128 NOATIME=1024 "
    "NODIRATIME=2048 BIND=4096 MOVE=8192 REC=16384 SILENT=32768 RELATIME=0x200000 STRICTATIME=0x1000000",
    "MS_",
)
AT_FLAGS = _names(
    "SYMLINK_NOFOLLOW=0x100 REMOVEDIR=0x200 SYMLINK_FOLLOW=0x400 NO_AUTOMOUNT=0x800 EMPTY_PATH=0x1000 "
    "STATX_FORCE_SYNC=0x2000 STATX_DONT_SYNC=0x4000",
    "AT_",
)

# Types whose value is one of some names, and those that are sets of bits (a name for 0 among them).
ONE_OF = {
    "whence_t": _names("SET CUR END DATA HOLE", "SEEK_"),
    "mask_how_t": _names("BLOCK UNBLOCK SETMASK", "SIG_"),
    "wait_kind_t": _names("ALL PID PGID PIDFD", "P_"),
    "epoll_operation_t": _names("ADD=1 DEL MOD", "EPOLL_CTL_"),
    "itimer_t": _names("REAL VIRTUAL PROF", "ITIMER_"),
    "family_t": _names("UNSPEC UNIX INET INET6=10 NETLINK=16", "AF_"),
    "rusage_who_t": _names("CHILDREN=-1 SELF=0 THREAD", "RUSAGE_"),
    "priority_which_t": _names("PROCESS PGRP USER", "PRIO_"),
    "arch_prctl_t": _names("SET_GS=0x1001 SET_FS GET_FS GET_GS", "ARCH_"),
    "prctl_t": _names(
        "SET_PDEATHSIG=1 GET_PDEATHSIG GET_DUMPABLE SET_DUMPABLE GET_KEEPCAPS=7 SET_KEEPCAPS SET_NAME=15 GET_NAME "
        "GET_SECCOMP=21 SET_SECCOMP CAPBSET_READ CAPBSET_DROP GET_SECUREBITS=27 SET_NO_NEW_PRIVS=38 GET_NO_NEW_PRIVS "
        "SET_VMA=0x53564d41",
        "PR_",
    ),
    "fadvise_t": _names("NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED NOREUSE", "POSIX_FADV_"),
    "madvise_t": _names(
        "NORMAL RANDOM SEQUENTIAL WILLNEED DONTNEED FREE=8 REMOVE DONTFORK DOFORK MERGEABLE UNMERGEABLE HUGEPAGE "
        "NOHUGEPAGE DONTDUMP DODUMP",
        "MADV_",
    ),
    "clock_kind_t": _names(
        "REALTIME MONOTONIC PROCESS_CPUTIME_ID THREAD_CPUTIME_ID MONOTONIC_RAW REALTIME_COARSE MONOTONIC_COARSE "
        "BOOTTIME REALTIME_ALARM BOOTTIME_ALARM TAI=11",
        "CLOCK_",
    ),
    "rlimit_t": _names(
        "CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME", "RLIMIT_"
    ),
    "shutdown_t": _names("RD WR RDWR", "SHUT_"),
    "option_level_t": _names("IP=0 SOCKET=1 TCP=6", "SOL_"),
    "socket_option_t": _names(
        "DEBUG=1 REUSEADDR TYPE ERROR DONTROUTE BROADCAST SNDBUF RCVBUF KEEPALIVE OOBINLINE LINGER=13 PASSCRED=16 "
        "PEERCRED RCVLOWAT SNDLOWAT RCVTIMEO_OLD SNDTIMEO_OLD ACCEPTCONN=30 PEERSEC SNDBUFFORCE RCVBUFFORCE PASSSEC "
        "PROTOCOL=38 DOMAIN",
        "SO_",
    ),
    "fcntl_t": _names(
        "DUPFD GETFD SETFD GETFL SETFL GETLK SETLK SETLKW SETOWN GETOWN SETSIG GETSIG OFD_GETLK=36 OFD_SETLK OFD_SETLKW "
        "SETLEASE=1024 GETLEASE NOTIFY DUPFD_CLOEXEC=1030 SETPIPE_SZ GETPIPE_SZ ADD_SEALS GET_SEALS",
        "F_",
    ),
    "ioctl_t": _names(
        "TCGETS=0x5401 TCSETS TCSETSW TCSETSF TCSBRK=0x5409 TCXONC TCFLSH TIOCSCTTY=0x540e TIOCGPGRP TIOCSPGRP "
        "TIOCGWINSZ=0x5413 TIOCSWINSZ FIONREAD=0x541b TIOCNOTTY=0x5422 TIOCGSID=0x5429 FIONCLEX=0x5450 FIOCLEX "
        "BLKGETSIZE64=0x80081272 BLKSSZGET=0x1268"
    ),
}
BITS = {
    "mremap_flags_t": _names("MAYMOVE=1 FIXED=2 DONTUNMAP=4", "MREMAP_"),
    "mlock_flags_t": _names("ONFAULT=1", "MLOCK_"),
    "mlockall_flags_t": _names("CURRENT=1 FUTURE=2 ONFAULT=4", "MCL_"),
    "sync_range_t": _names("WAIT_BEFORE=1 WRITE=2 WAIT_AFTER=4", "SYNC_FILE_RANGE_"),
    "epoll_flags_t": _names("CLOEXEC=0o2000000", "EPOLL_"),
    "notify_flags_t": _names("NONBLOCK=0o4000 CLOEXEC=0o2000000", "IN_"),
    "notify_mask_t": _names(
        "ACCESS=1 MODIFY=2 ATTRIB=4 CLOSE_WRITE=8 CLOSE_NOWRITE=16 OPEN=32 MOVED_FROM=64 MOVED_TO=128 CREATE=256 "
        "DELETE=512 DELETE_SELF=1024 MOVE_SELF=2048 UNMOUNT=0x2000 Q_OVERFLOW=0x4000 IGNORED=0x8000 ONLYDIR=0x1000000 "
        "DONT_FOLLOW=0x2000000 EXCL_UNLINK=0x4000000 MASK_CREATE=0x10000000 MASK_ADD=0x20000000 ISDIR=0x40000000 "
        "ONESHOT=0x80000000",
        "IN_",
    ),
    "splice_flags_t": _names("MOVE=1 NONBLOCK=2 MORE=4 GIFT=8", "SPLICE_F_"),
    "event_flags_t": _names("SEMAPHORE=1 NONBLOCK=0o4000 CLOEXEC=0o2000000", "EFD_"),
    "access_t": _names("F_OK=0 R_OK=4 W_OK=2 X_OK=1"),
    "at_flags_t": AT_FLAGS,
    "protection_t": PROTECTION,
    "msync_flags_t": _names("ASYNC=1 INVALIDATE=2 SYNC=4", "MS_"),
    "wait_options_t": _names("WNOHANG=1 WSTOPPED=2 WEXITED=4 WCONTINUED=8 WNOWAIT=0x1000000 __WALL=0x40000000"),
    "fallocate_t": _names(
        "KEEP_SIZE=1 PUNCH_HOLE=2 NO_HIDE_STALE=4 COLLAPSE_RANGE=8 ZERO_RANGE=16 INSERT_RANGE=32 UNSHARE_RANGE=64",
        "FALLOC_FL_",
    ),
    "socket_flags_t": _names("CLOEXEC=0o2000000 NONBLOCK=0o4000", "SOCK_"),
    "message_flags_t": _names(
        "OOB=1 PEEK=2 DONTROUTE=4 CTRUNC=8 TRUNC=0x20 DONTWAIT=0x40 EOR=0x80 WAITALL=0x100 NOSIGNAL=0x4000 MORE=0x8000 "
        "CMSG_CLOEXEC=0x40000000",
        "MSG_",
    ),
    "timer_flags_t": _names("TIMER_ABSTIME=1"),
    "namespace_type_t": CLONE_BITS,
    "swap_flags_t": _names("SWAP_FLAG_PREFER=0x8000 SWAP_FLAG_DISCARD=0x10000"),
    "umount_flags_t": _names("MNT_FORCE=1 MNT_DETACH=2 MNT_EXPIRE=4 UMOUNT_NOFOLLOW=8"),
    "rename_flags_t": _names("NOREPLACE=1 EXCHANGE=2 WHITEOUT=4", "RENAME_"),
    "random_flags_t": _names("NONBLOCK=1 RANDOM=2 INSECURE=4", "GRND_"),
    "statx_mask_t": _names(
        "ALL=0xfff BASIC_STATS=0x7ff TYPE=1 MODE=2 NLINK=4 UID=8 GID=16 ATIME=32 MTIME=64 CTIME=128 INO=256 SIZE=512 "
        "BLOCKS=1024 BTIME=2048 MNT_ID=4096",
        "STATX_",
    ),
    "close_flags_t": _names("UNSHARE=2 CLOEXEC=4", "CLOSE_RANGE_"),
    "rw_flags_t": _names("HIPRI=1 DSYNC=2 SYNC=4 NOWAIT=8 APPEND=16", "RWF_"),
    "mount_flags_t": MOUNT_BITS,
}
# What an unknown value is called, in a comment behind the number, as strace has it.
RESTARTS = {
    512: "ERESTARTSYS (To be restarted if SA_RESTART is set)",
    513: "ERESTARTNOINTR (To be restarted)",
    514: "ERESTARTNOHAND (To be restarted if no handler)",
    516: "ERESTART_RESTARTBLOCK (Interrupted by signal)",
}
FILE_KINDS = _names("IFO=1 CHR=2 DIR=4 BLK=6 REG=8 LNK=10 SOCK=12", "S_IF")
SOCKET_KINDS = _names("STREAM=1 DGRAM RAW RDM SEQPACKET", "SOCK_")
FUTEX = _names(
    "WAIT WAKE FD REQUEUE CMP_REQUEUE WAKE_OP LOCK_PI UNLOCK_PI TRYLOCK_PI WAIT_BITSET WAKE_BITSET WAIT_REQUEUE_PI "
    "CMP_REQUEUE_PI LOCK_PI2",
    "FUTEX_",
)
SIGNALS = {int(number): number.name for number in signal.Signals if number < 32} | {29: "SIGIO"}
SIGNALS |= {32: "SIGRTMIN"} | {number: f"SIGRT_{number - 32}" for number in range(33, 65)}
CODES = {0: "SI_USER", -1: "SI_QUEUE", -2: "SI_TIMER", -6: "SI_TKILL", 128: "SI_KERNEL"}
CHILD_CODES = _names("EXITED=1 KILLED DUMPED TRAPPED STOPPED CONTINUED", "CLD_")


def flags(value: int, names: dict[int, str]) -> str:
    """@value as bits of @names; what is left as a number."""
    found = []
    rest = value
    for bits, name in names.items():
        if bits and rest & bits == bits:
            found.append(name)
            rest &= ~bits
    if rest or not found:
        found.append(names.get(0, "0") if not rest else f"{rest:#x}")
    return "|".join(found)


def open_flags(value: int) -> str:
    access = ("O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE")[value & 3]
    return f"{access}|{flags(value & ~3, OPEN_BITS)}" if value & ~3 else access


def socket_type(value: int) -> str:
    kind = SOCKET_KINDS.get(value & 0xF, str(value & 0xF))
    return f"{kind}|{flags(value & ~0xF, BITS['socket_flags_t'])}" if value & ~0xF else kind


def clone_flags(value: int) -> str:
    bits, last = value & ~0xFF, value & 0xFF
    words = [flags(bits, CLONE_BITS)] if bits else []
    words += [SIGNALS.get(last, str(last))] if last else []
    return "|".join(words) or "0"


def map_flags(value: int) -> str:
    kind = ("MAP_FILE", "MAP_SHARED", "MAP_PRIVATE", "MAP_SHARED_VALIDATE")[value & 3]
    return f"{kind}|{flags(value & ~3, MAP_BITS)}" if value & ~3 else kind


def signal_set(value: int) -> str:
    """[INT TERM], or ~[RTMIN RT_1] when most are in it."""
    names = [SIGNALS[n].removeprefix("SIG") for n in range(1, 65) if value >> (n - 1) & 1]
    if len(names) > 32:
        return "~" + signal_set(~value & (1 << 64) - 1)
    return f"[{' '.join(names)}]"


def quoted(data: bytes, cut: bool = False) -> str:
    """A C string, as strace quotes it: octal escapes, or all in hexadecimal when much of it is not text."""
    plain = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    out = []
    for at, byte in enumerate(data):
        if byte in plain and byte not in (7, 8):
            out.append(plain[byte])
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            digit_follows = at + 1 < len(data) and chr(data[at + 1]) in "01234567"
            out.append(f"\\{byte:03o}" if digit_follows else f"\\{byte:o}")
    return f'"{"".join(out)}"' + ("..." if cut else "")


def mode(value: int) -> str:
    return f"{value:#05o}".replace("0o", "0", 1) if value >= 0o100 else f"{value:03o}"


def file_mode(value: int) -> str:
    kind = FILE_KINDS.get(value >> 12, "0")
    permissions = value & 0o777
    special = flags(value & 0o7000, {0o4000: "S_ISUID", 0o2000: "S_ISGID", 0o1000: "S_ISVTX"}) + "|"
    return f"{kind}|{special if value & 0o7000 else ''}{permissions:04o}"


def device(value: int) -> str:
    major, minor = value >> 8 & 0xFFF, value & 0xFF | value >> 12 & 0xFFF00
    return f"makedev({major:#x}, {minor:#x})"


def address(value: int) -> str:
    return f"{value:#x}" if value else "NULL"


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# ---- memory ----------------------------------------------------------------------------------------------------


def stat(data: bytes) -> str:
    kind = struct.unpack_from("<I", data, 24)[0]
    rdev, size = struct.unpack_from("<Qq", data, 40)
    if kind >> 12 in (2, 6):
        return f"{{st_mode={file_mode(kind)}, st_rdev={device(rdev)}, ...}}"
    return f"{{st_mode={file_mode(kind)}, st_size={size}, ...}}"


def timespec(data: bytes) -> str:
    return "{{tv_sec={}, tv_nsec={}}}".format(*struct.unpack("<qq", data[:16]))


def moment(data: bytes) -> str:
    """A time of a file, and when that was."""
    seconds, nanoseconds = struct.unpack("<qq", data[:16])
    special = {0x3FFFFFFF: "UTIME_NOW", 0x3FFFFFFE: "UTIME_OMIT"}
    if nanoseconds in special:
        return special[nanoseconds]  # whatever the seconds are
    when = time.strftime("%Y-%m-%dT%H:%M:%S{}%z", time.localtime(seconds))
    fraction = f".{nanoseconds:09d}" if nanoseconds else ""
    return f"{timespec(data)} /* {when.format(fraction)} */"


def sigaction(data: bytes) -> str:
    handler, bits, restorer, mask = struct.unpack("<4Q", data)
    name = {0: "SIG_DFL", 1: "SIG_IGN"}.get(handler, f"{handler:#x}")
    tail = f", sa_restorer={restorer:#x}" if bits & 0x4000000 else ""
    return f"{{sa_handler={name}, sa_mask={signal_set(mask)}, sa_flags={flags(bits, SIGACTION_BITS)}{tail}}}"


def socket_address(data: bytes) -> str:
    """Of AF_UNIX: a path, or "@" and an abstract name, as far as the record holds it."""
    family = struct.unpack_from("<H", data)[0]
    name = ONE_OF["family_t"].get(family, str(family))
    if family != 1:
        return f"{{sa_family={name}, ...}}"
    at = "" if data[2] else "@"
    return f"{{sa_family={name}, sun_path={at}{quoted(data[3 if at else 2 :].split(bytes(1))[0])}}}"


def limit(value: int) -> str:
    if value == (1 << 64) - 1:
        return "RLIM64_INFINITY"
    return f"{value // 1024}*1024" if value > 1024 and value % 1024 == 0 else str(value)


def rlimit(data: bytes) -> str:
    return "{{rlim_cur={}, rlim_max={}}}".format(*(limit(word) for word in struct.unpack("<QQ", data)))


def wait_status(data: bytes) -> str:
    status = struct.unpack("<i", data)[0]
    if status == 0xFFFF:
        text = "WIFCONTINUED(s)"
    elif status & 0xFF == 0x7F:
        text = f"WIFSTOPPED(s) && WSTOPSIG(s) == {SIGNALS.get(status >> 8)}"
    elif status & 0x7F:
        text = f"WIFSIGNALED(s) && WTERMSIG(s) == {SIGNALS.get(status & 0x7F)}"
    else:
        text = f"WIFEXITED(s) && WEXITSTATUS(s) == {status >> 8}"
    return f"[{{{text}}}]"


def clone_arguments(data: bytes) -> str:
    bits, _, child, parent, last, stack, size, tls = struct.unpack("<8Q", data)
    words = [f"flags={clone_flags(bits)}"]
    words += [f"child_tid={child:#x}"] if bits & 0x1200000 else []
    words += [f"parent_tid={parent:#x}"] if bits & 0x100000 else []
    words += [f"exit_signal={SIGNALS.get(last, last)}", f"stack={address(stack)}", f"stack_size={size:#x}"]
    words += [f"tls={tls:#x}"] if bits & 0x80000 else []
    return "{" + ", ".join(words) + "}"


# What an argument points to: how many bytes of it, and how they are shown.
MEMORY: dict[str, tuple[int, Callable[[bytes], str]]] = {
    "stat_out_t": (56, stat),
    "timespec_in_t": (16, timespec),
    "timespec_out_t": (16, timespec),
    "timespecs_in_t": (32, lambda data: f"[{moment(data)}, {moment(data[16:])}]"),
    "sigaction_in_t": (32, sigaction),
    "sigaction_out_t": (32, sigaction),
    "sigset_in_t": (8, lambda data: signal_set(int.from_bytes(data, "little"))),
    "sigset_out_t": (8, lambda data: signal_set(int.from_bytes(data, "little"))),
    "rlimit_in_t": (16, rlimit),
    "rlimit_out_t": (16, rlimit),
    "pair_out_t": (8, lambda data: "[{}, {}]".format(*struct.unpack("<ii", data))),
    "status_out_t": (4, wait_status),
    "clone_in_t": (64, clone_arguments),
    "sockaddr_in_t": (64, socket_address),
}
NUMBERS: dict[str, Callable[[int], str]] = {
    "fd_t": lambda value: str(signed(value)),
    "dirfd_t": lambda value: "AT_FDCWD" if signed(value) == AT_FDCWD else str(signed(value)),
    "int": lambda value: str(signed(value)),
    "u32": lambda value: str(value & 0xFFFFFFFF),
    "u64": str,
    "size_t": str,
    "loff_t": lambda value: str(signed(value, 64)),
    "uid_t": lambda value: str(signed(value)),
    "gid_t": lambda value: str(signed(value)),
    "umode_t": lambda value: mode(value & 0xFFFF),
    "umask_t": lambda value: mode(value & 0xFFFF),
    "device_t": lambda value: device(value & 0xFFFFFFFF),
    "hex_t": lambda value: f"{value & 0xFFFFFFFF:#x}",
    "signo_t": lambda value: SIGNALS.get(signed(value), str(signed(value))),
    "open_flags_t": lambda value: open_flags(value & 0xFFFFFFFF),
    "map_flags_t": lambda value: map_flags(value & 0xFFFFFFFF),
    "socket_type_t": lambda value: socket_type(value & 0xFFFFFFFF),
    "clone_flags_t": clone_flags,
    "futex_t": lambda value: (
        FUTEX.get(value & 0x7F, hex(value & 0x7F))
        + ("_PRIVATE" if value & 0x80 else "")
        + ("|FUTEX_CLOCK_REALTIME" if value & 0x100 else "")
    ),
}
