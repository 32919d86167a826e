"""What the booted machine is put to: files whose contents come from the seeds go in, and what must come out is known beforehand."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lab.course.draw import Draw

# In the guest. Blocks of all kinds come and go: files with indirect blocks, folders, holes, links, what is removed again.
JOB = """set -e
cd /work
mkdir copy && cp -r given/. copy/
for round in 1 2 3; do
	mkdir -p many/$round
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat given/a given/b > many/$round/$i; done
	sync
	echo 3 > /proc/sys/vm/drop_caches
	cmp many/$round/7 many/$round/20
	[ $round = 2 ] || rm -r many/$round
done
cat given/* > all
dd if=given/c of=holes bs=1024 seek=3000 2>/dev/null
mv copy/d copy/moved
ln copy/a linked
rm copy/b
sync
echo 3 > /proc/sys/vm/drop_caches
sha256sum all copy/* many/2/* holes linked
"""


@dataclass(frozen=True)
class Given:
    """Files that go in, and what must come out: guest path -> checksum."""

    files: dict[str, bytes]

    def expected(self) -> dict[str, str]:
        f = self.files
        out = {
            "all": b"".join(f[name] for name in sorted(f)),
            "holes": b"\0" * (3000 * 1024) + f["c"],
            "linked": f["a"],
        }
        out |= {f"copy/{name}": f[name] for name in f if name not in "bd"} | {"copy/moved": f["d"]}
        out |= {f"many/2/{i}": f["a"] + f["b"] for i in range(1, 21)}
        return {name: hashlib.sha256(data).hexdigest() for name, data in out.items()}


def given(draw: Draw) -> Given:
    """Six files of drawn sizes and contents."""

    def content(size: int) -> bytes:
        return b"".join(hashlib.sha256(draw.word().to_bytes(8, "little")).digest() for _ in range(size // 32 + 1))[
            :size
        ]

    return Given({name: content(draw.between(2000, 90_000)) for name in "abcdef"})
