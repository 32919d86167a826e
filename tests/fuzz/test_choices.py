"""The directory cache's choices (Tsai 2015) in all combinations, each in a kernel with all checks: who may do what, and what
sequences of file calls come to, is what Linux has it be, and so what the plain walk does, which the other tests compare."""

from __future__ import annotations

import itertools

import pytest

from lab.check.fuzz import both, permissions, programs
from tests.booted.lookup.test_signatures import build

DIRECT = "DCACHE_FASTPATH=y"
SPECIAL = {
    "smallest prefix cache": [DIRECT, "DCACHE_SYMLINK_ALIAS=y", "PREFIX_SIBLINGS=n", "PREFIX_KB=1", "PREFIX_WAYS=1"],
    "looks in vain": [DIRECT, "DCACHE_FASTPATH_MISS=y"],
}


def combinations() -> dict[str, list[str]]:
    """Every combination of the parts of the directory cache, by its name: 59, of which one that has no part at all is left
    out, as it is the plain walk, and aliases where paths are compared, as they need signatures."""
    found = {}
    for signature, siblings, aliases, complete, negative in itertools.product(
        [None, "multilinear", "aes", "siphash", "text"], *[[False, True]] * 4
    ):
        parts = {"siblings": siblings, "aliases": aliases, "complete": complete, "negative": negative}
        chosen = [name for name, there in parts.items() if there]
        if (signature is None and (siblings or aliases or not chosen)) or (signature == "text" and aliases):
            continue
        settings = [f"DCACHE_{part.upper()}=y" for part in chosen if part in ("complete", "negative")]
        if signature:
            settings += [DIRECT, f"PATH_SIGNATURE={signature}", f"PREFIX_SIBLINGS={'ny'[siblings]}"]
        if aliases:
            settings.append("DCACHE_SYMLINK_ALIAS=y")
        found[", ".join([signature] * bool(signature) + chosen)] = settings
    return found


CHOICES = combinations() | SPECIAL
ABSENT = "fallocate,copy_range,setxattr,lsetxattr,fsetxattr,getxattr,fgetxattr,listxattr,removexattr,fremovexattr"
SEQUENCES = 300


@pytest.mark.builds
@pytest.mark.turns(3)
@pytest.mark.parametrize("choice", CHOICES)
def test_each_combination_is_as_linux_has_it(tmp_path, monkeypatch, choice):
    if why := both.cannot_judge():
        pytest.skip(why)
    programs.file_fuzzer(), permissions.matrix()
    build(tmp_path, monkeypatch, "DEBUG=y", *CHOICES[choice])
    count, wrong = permissions.compare_permissions("tmpfs")
    assert not wrong, f"{len(wrong)} of {count} cells differ:\n" + "\n".join(wrong[:40])
    assert count > 25000
    for root in both.ROOTS:
        work = both.Work(first=0, count=SEQUENCES)
        ours = both.run_here(root, work, 1)
        assert not ours.ended, ours.ended
        assert ours.absent == ABSENT
        linux = both.run_on_linux(root, work, ours.absent)
        differ = [seed for seed in range(SEQUENCES) if ours.sums.get(seed) != linux.sums.get(seed)]
        assert not differ, f"sequences that differ on {root}: {differ[:50]}"


LEXICAL = """
mkdir -p /tmp/a/b /tmp/c; echo above > /tmp/a/file; echo beside > /tmp/c/file; ln -s /tmp/a/b /tmp/c/link
cat /tmp/c/link/../file; cat /tmp/c/link/../file; cat /tmp/c/absent/../file; cd /tmp/c; cat link/../file
cd /tmp/c/link; cat ../file; cat .././file
"""


@pytest.mark.builds("lexical")
@pytest.mark.parametrize("dotdot", ["posix", "lexical"])
def test_what_dotdot_leads_to(cw, tmp_path, monkeypatch, dotdot):
    """posix: to the parent of what the link leads to. lexical: the text's own, be there what may; in front it stays (Pike 2000)."""
    build(tmp_path, monkeypatch, "DEBUG=y", DIRECT, f"DOTDOT={dotdot}")
    result = cw("run", "--mem", "256M", "--quiet", "--timeout", "100", "--", "/bin/sh", "-c", LEXICAL, timeout=300)
    said = result.stdout.decode(errors="replace").replace("\r", "").partition("Path cache")[0].splitlines()
    told = [line if line in ("above", "beside") else "absent" for line in said]
    beside = ["beside"] * 4 if dotdot == "lexical" else ["above", "above", "absent", "above"]
    assert told == [*beside, "above", "above"], said
