"""The kernel's command line: what is asked of a machine, in the words of its kernel and of its init."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lab.base.paths import LabError
from lab.build import configure
from lab.build.kernel import effective_config
from lab.guest.tree import Tree
from lab.run import linux
from lab.run.options import Options
from lab.run.qemu.disks import disk_option

COMMAND_LINE_WORDS = 99  # that Chainwalk takes, all counted


def encode_word(word: str) -> str:
    """An argument for the kernel's command line; user/init.c decodes it."""
    plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:,@"
    coded = "".join(chr(b) if chr(b) in plain else f"%{b:02x}" for b in os.fsencode(word))
    return coded or "%"


def check_sizing(cmdline: str) -> None:
    """Refuse a sizing rule that the kernel does not have; it would only say so on its console, and go on."""
    with tempfile.TemporaryDirectory() as folder:
        kconfig = configure.load_kconfig(Path(folder))
    rules = list(configure.choice_values(kconfig.named_choices["HASH_SIZING"]))
    for word in cmdline.split(" -- ")[0].split():
        name, _, rule = word.partition("=")
        if name.endswith("hash_sizing") and rule not in rules:
            raise LabError(f"{word}: there is no such rule. There are:\n" + "\n".join(f"  {r}" for r in rules))


def kernel_command_line(options: Options, tree: Tree) -> str:
    """The command line; a job too long for it goes into the image, as /etc/cw/job."""
    words = linux.command_words(options.root_kind(), options.icount) if options.linux else _own_words(options)
    if options.user != "root":
        words.append(f"job_user={options.user}")
    if not options.interactive:
        words.append("job_tty=raw")
    words += [f"job_env={encode_word(f'{name}={value}')}" for name, value in options.environment.items()]
    words += [options.cmdline] if options.cmdline else []
    job = [encode_word(word) for word in options.job]
    line = " ".join(words)
    if not job:
        return line
    with_job = f"{line} -- {' '.join(job)}"
    most = linux.INIT_ARGUMENTS if options.linux else COMMAND_LINE_WORDS - len(words)
    if len(with_job) < 1800 and len(job) <= most:
        return with_job
    if options.root_kind() == "ext2" and options.disk and options.disk.exists():
        raise LabError(
            f"{len(job)} arguments are more than fit on the kernel's command line, so they would go into the image; but"
            f" {options.disk} is one already and stays as it is: give the program a script on it"
        )
    tree.text("/etc/cw/job", "".join(f"{word}\n" for word in job))
    return line


def _own_words(options: Options) -> list[str]:
    """What Chainwalk's kernel is told besides what init reads."""
    root = {"ext2": "/dev/vda", "ram": "/dev/ram0", "tmpfs": "tmpfs"}[options.root_kind()]
    words = [f"root={root}", "init=/init"]
    built_in = effective_config().get("CMDLINE", "")
    words += [built_in] if built_in else []
    if options.quiet:
        words += ["quiet", "loglevel=1"]
    if options.icount:
        words += ["icount", f"seed={options.seed}"]
    if options.disk_model != "none":
        words.append(disk_option(options.disk_model))
    if options.stats:
        words.append("stats=json")
    if options.strace:
        words.append("strace")
    if "hash_sizing" in options.cmdline:
        check_sizing(options.cmdline)
    return words
