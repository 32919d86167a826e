"""make gdb: the kernel in QEMU, stopped at its first instruction, and gdb at it with the Chainwalk commands.

The console is in $(O)/gdb-console. GDB_ARGS holds more arguments for gdb (a script, -batch ...).
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder
from lab.build.kernel import build, build_lock, symbols_file
from lab.guest.tree import base_tree
from lab.run.cmdline import kernel_command_line
from lab.run.options import Options, check_options
from lab.run.qemu.command import qemu_command


def debug() -> int:
    gdb = os.environ.get("GDB", "gdb")
    if shutil.which(gdb) is None:
        raise LabError(f"{gdb} is missing: install gdb")
    options = Options(job=shlex.split(os.environ.get("JOB", "/bin/busybox find / -xdev")), timeout=0)
    check_options(options)
    with tempfile.TemporaryDirectory(prefix="cw-gdb-") as name:
        folder = Path(name)
        with build_lock():
            build()
            shutil.copyfile(symbols_file(), folder / "kernel")
            tree = base_tree()
            line = kernel_command_line(options, tree)
            command = qemu_command(options, folder, line, tree)
        console = output_folder() / "gdb-console"
        socket = folder / "gdb"
        command += ["-S", "-gdb", f"unix:{socket},server=on,wait=off"]
        with console.open("wb") as out:
            machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, start_new_session=True)
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            arguments = [gdb, "-q", str(folder / "kernel"), "-ex", f"source {TOP}/lab/run/gdb/chainwalk.py"]
            arguments += ["-ex", f"connect-chainwalk {socket}", *shlex.split(os.environ.get("GDB_ARGS", ""))]
            print(f"The machine's console is in {console}")
            return subprocess.run(arguments, check=False, cwd=TOP).returncode
        finally:
            signal.signal(signal.SIGINT, previous)
            machine.kill()
            machine.wait()
