"""The disks that the RAM disk can be timed as: --disk-model NAME (docs/lab/simulated/disk-model.md, kernel/drivers/model).

A drive is described as its data sheet does; the kernel gets it in nanoseconds and sectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.base.paths import LabError

SECTOR = 512
DISK_MODEL = "DISK_MODEL=y"  # what a kernel must have that is to time its RAM disk


@dataclass(frozen=True)
class Drive:
    """A disk with a moving head. Tracks of all zones are of the mean length."""

    rpm: int
    track_to_track_ms: float
    average_seek_ms: float
    command_ms: float  # from the command to the beginning of the seek
    track_sectors: int
    heads: int

    def numbers(self) -> tuple[int, ...]:
        turn = 60_000_000_000 // self.rpm
        seek = round(self.track_to_track_ms * 1e6)
        # The root of the distance of two random places is 8/15 of that of the whole stroke, on the average.
        stroke = seek + round((self.average_seek_ms - self.track_to_track_ms) * 1e6 * 15 / 8)
        return round(self.command_ms * 1e6), seek, stroke, turn, self.track_sectors, self.track_sectors * self.heads


@dataclass(frozen=True)
class Flash:
    """A disk in which nothing moves; one request at a time, as in the others."""

    latency_us: int
    megabytes_per_second: int

    def numbers(self) -> tuple[int, ...]:
        sectors = 1000  # any: a rate is given as so many sectors in so long
        return self.latency_us * 1000, 0, 0, sectors * SECTOR * 1000 // self.megabytes_per_second, sectors, 1


DISKS: dict[str, Drive | Flash | None] = {
    "none": None,
    # Quantum Fireball, about 2 GB, 1996: Lever's dual Pentium Pro has a pair. 5,400 rpm and 12 ms are the data sheet's of
    # the series. Assumed: 2.5 ms to the next track, 4 heads, the mean track of 116 sectors (5.3 MB/s from the
    # medium), and 0.5 ms for a command of a drive of that year.
    "fireball": Drive(5400, 2.5, 12.0, 0.5, 116, 4),
    # Seagate Cheetah 18 (ST118202LW), 18.2 GB, 1998: "a single Seagate 18G LVD SCSI hard drive". 10,025 rpm, 5.7 ms,
    # 0.98 ms, 24 heads, 6,962 cylinders are the data sheet's, and so 213 sectors on the mean track (18.2 MB/s from
    # the medium). Assumed: 0.2 ms for a command.
    "cheetah": Drive(10025, 0.98, 5.7, 0.2, 213, 24),
    # A SATA SSD at 6 Gbit/s. Assumed, as a plain one: 80 us until data come, 520 MB/s from then on; no parallel channels.
    "ssd": Flash(80, 520),
}


def disk_option(name: str) -> str:
    """The kernel's option for @name, "" for none."""
    if name not in DISKS:
        raise LabError(f"no disk model '{name}'. There are: {', '.join(DISKS)}")
    disk = DISKS[name]
    return "ramdisk_model=" + ",".join(map(str, disk.numbers())) if disk else ""
