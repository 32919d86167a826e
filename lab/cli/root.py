"""The command line of ./cw: all commands in the order in which the help has them, and how a failure is said."""

from __future__ import annotations

import signal
import sys

import typer

from lab.base.paths import LabError
from lab.cli import check, compare, course, guest, measure, record, report, run, sweep
from lab.cli.options import finish

app = typer.Typer(
    help="Chainwalk's laboratory: boot kernels, run programs in them, read what their caches counted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ERROR = 125
PROGRAM = {"allow_extra_args": True, "ignore_unknown_options": False, "allow_interspersed_args": False}
WITH_PROGRAM = "[OPTIONS] -- PROGRAM ARG..."
RECORDED = "[OPTIONS] --output FILE.keys -- PROGRAM ARG..."

app.command("run", context_settings=PROGRAM, options_metavar=WITH_PROGRAM)(run.run)
app.command("shell", context_settings=PROGRAM)(run.shell)
app.command("list")(run.list_choices)
app.command("compare", context_settings=PROGRAM, options_metavar="[OPTIONS]", no_args_is_help=True)(compare.compare)
app.command("diff", context_settings=PROGRAM, options_metavar=WITH_PROGRAM)(compare.diff_kernels)
app.command("profile", context_settings=PROGRAM, options_metavar=WITH_PROGRAM)(measure.profile)
app.command("paths", context_settings=PROGRAM, options_metavar=WITH_PROGRAM)(measure.paths)
app.command("packages")(guest.packages)
app.command("bench")(measure.bench)
app.command("record", context_settings=PROGRAM, options_metavar=RECORDED)(record.record_keys)
app.command("replay")(record.replay_keys)
app.command("playground")(course.playground)
app.command("keys")(record.file_set_keys)
app.command("hashcost")(measure.hash_cost)
app.add_typer(course.app, name="lab")
app.command("grade")(course.grade)
app.command("fuzz")(check.fuzz)
app.command("report")(report.make_report)
app.command("sweep")(sweep.run_sweep)
app.command("reproduce")(report.reproduce)
app.command("keep")(report.keep)
app.command("worker")(sweep.worker)
# What make runs.
app.command("demo", hidden=True)(run.demo)
app.command("iso", hidden=True)(guest.iso)
app.command("gdb", hidden=True)(run.gdb)


def main() -> None:
    # Whatever ends us takes the machine along and leaves the terminal as it was.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)  # what follows is the program's
    try:
        words = ["--strace=-" if word == "--strace" else word for word in arguments[:end]]
        finish(app([*words, *arguments[end:]], prog_name="cw", standalone_mode=False) or 0)
    except LabError as error:
        print(f"cw: {error}", file=sys.stderr)
        finish(ERROR)
    except OSError as error:  # not a program's status: a file that cannot be read or written, a full disk
        about = f"{error.filename}: " if error.filename is not None else ""
        print(f"cw: {about}{error.strerror or error}", file=sys.stderr)
        finish(ERROR)
    except (KeyboardInterrupt, typer.Abort):
        print("cw: interrupted", file=sys.stderr)
        finish(130)
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()  # a usage error of the command line: which option, and where the help is
        finish(ERROR if getattr(error, "exit_code", 1) else 0)
