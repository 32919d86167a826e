"""The interface of the standard library's dbm.ndbm over libchainhash.

    import chainhash_dbm
    with chainhash_dbm.open("animals", "c") as db:
        db["moose"] = "alces"

What dbm.ndbm's documentation says holds here, too; a database has no largest pair, and NAME.pag is what the ndbm
interface of the library makes (include/chainhash/ndbm.h says what is different). The library is found as the system finds
libraries, or in the folder that $CHAINHASH_LIBRARY names. Threads may share an object: each call of it is whole, but for what
the standard library makes of several (pop(), update(), items() ...). As in dbm.ndbm, one thread at a time is in any call of
the module; a fork waits for it, so that a child finds every object whole.

take_the_place_of_ndbm() makes `dbm.ndbm` this module where Python was built without one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

__all__ = ["error", "library", "open", "take_the_place_of_ndbm"]

library = "chainhash"
_MODES = {
    "r": os.O_RDONLY,
    "w": os.O_RDWR,
    "rw": os.O_RDWR,
    "c": os.O_RDWR | os.O_CREAT,
    "n": os.O_RDWR | os.O_CREAT | os.O_TRUNC,
}


class error(OSError):  # noqa: N801, the name is dbm's
    """What goes wrong with a database, but for keys that are not there."""


class _Datum(ctypes.Structure):
    _fields_ = (("dptr", ctypes.c_void_p), ("dsize", ctypes.c_int))


def _load() -> ctypes.CDLL:
    name = "libchainhash_ndbm.so.0"
    folder = os.environ.get("CHAINHASH_LIBRARY")
    if folder:
        ctypes.CDLL(os.path.join(folder, "libchainhash.so.0"), mode=ctypes.RTLD_GLOBAL)
        name = os.path.join(folder, name)
    found = ctypes.CDLL(name, use_errno=True)
    found.dbm_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint]
    found.dbm_open.restype = ctypes.c_void_p
    found.dbm_close.argtypes = [ctypes.c_void_p]
    found.dbm_close.restype = None
    for call in (found.dbm_fetch, found.dbm_firstkey, found.dbm_nextkey):
        call.restype = _Datum
        call.argtypes = [ctypes.c_void_p]
    found.dbm_fetch.argtypes = [ctypes.c_void_p, _Datum]
    found.dbm_store.argtypes = [ctypes.c_void_p, _Datum, _Datum, ctypes.c_int]
    found.dbm_delete.argtypes = [ctypes.c_void_p, _Datum]
    return found


_library = _load()
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def _datum(value: str | bytes | bytearray) -> _Datum:
    """An item of these bytes, which stay as long as it does."""
    if not isinstance(value, str | bytes | bytearray):
        raise TypeError(f"dbm mappings must be bytes or string, not {type(value).__name__}")
    content = value.encode() if isinstance(value, str) else bytes(value)
    if len(content) >= 2**31:
        raise error(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
    return _Datum(ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p), len(content))


def _failed(*name: str | bytes) -> error:
    number = ctypes.get_errno()
    return error(number, os.strerror(number), *name)


class _Database(MutableMapping[str | bytes, str | bytes]):
    """What open() returns: keys and values are bytes; a str is taken as its UTF-8."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def _call(self, call: Callable[..., Any], *arguments: _Datum | int) -> Any:
        """What @call of the library gives, at most one at a time, and of an item a copy; None: there is none, of all errors."""
        with _lock:
            if self._handle is None:
                raise error("DBM object has already been closed")
            found = call(self._handle, *arguments)
            if not isinstance(found, _Datum):
                return found
            if found.dptr is None and ctypes.get_errno() != errno.ENOENT:
                raise _failed()
            return None if found.dptr is None else ctypes.string_at(found.dptr, found.dsize)

    def __getitem__(self, key: str | bytes) -> bytes:
        value = self._call(_library.dbm_fetch, _datum(key))
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str | bytes, value: str | bytes) -> None:
        if self._call(_library.dbm_store, _datum(key), _datum(value), 1):
            raise _failed()

    def __delitem__(self, key: str | bytes) -> None:
        if not self._call(_library.dbm_delete, _datum(key)):
            return
        failed = _failed()
        raise KeyError(key) if failed.errno == errno.ENOENT else failed

    def keys(self) -> list[bytes]:  # type: ignore[override]  # as of dbm.ndbm
        with _lock:
            rest = iter(lambda: self._call(_library.dbm_nextkey), None)
            first = self._call(_library.dbm_firstkey)
            return [] if first is None else [first, *rest]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def setdefault(self, key: str | bytes, default: str | bytes = b"") -> bytes:
        with _lock:
            if key not in self:
                self[key] = default
            return self[key]

    def clear(self) -> None:
        with _lock:
            for key in self.keys():
                del self[key]

    def close(self) -> None:
        """Sync and close; a second time it is nothing. After an error it is closed, too, and what was stored is lost."""
        with _lock:
            if self._handle is not None:
                handle, self._handle = self._handle, None
                ctypes.set_errno(0)
                _library.dbm_close(handle)
                if ctypes.get_errno():
                    raise _failed()

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> _Database:
        self._call(bool)  # an error if it is closed
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(
    filename: str | bytes | os.PathLike[str] | os.PathLike[bytes], flag: str = "r", mode: int = 0o666
) -> _Database:
    """The database in FILENAME.pag: to read "r", to write "w", made if need be "c", made empty "n"."""
    if flag not in _MODES:
        raise error("Flag must be 'r', 'w', 'c', or 'n'")
    name = os.fsencode(filename)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    with _lock:
        handle = _library.dbm_open(name, _MODES[flag], mode)
    if not handle:
        raise _failed(os.fspath(filename))
    return _Database(handle)


def take_the_place_of_ndbm() -> None:
    """From now on `import dbm.ndbm` gives this module's functions; call it before anything imports dbm.ndbm."""
    stand_in = types.ModuleType("_dbm")
    stand_in.__dict__.update(open=open, error=error, library=library)
    sys.modules["_dbm"] = stand_in
