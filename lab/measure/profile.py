"""./cw profile: which functions of the kernel a job's time goes to, as a table and as a flame graph.

The kernel looks at what it is doing at a timer's interrupts and counts each stack it finds (arch/x86/debug/profile.c);
addresses become names here, with those of the functions that the compiler has inlined (docs/profile.md).
"""

from __future__ import annotations

import bisect
import html
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base.paths import LabError
from lab.build.kernel import kernel_image
from lab.run.machine import Options, Result, run

PERIOD_NS = 20_011  # on the average
PERIOD_LEAST = 10_000  # as in arch/x86/debug/profile.c
IDLE = "sched_idle_loop"
WIDTH, ROW, LETTER = 1200, 17, 6.6


@dataclass
class Profile:
    """What was found. A stack has the names of functions from the outside in; an empty one is a program's."""

    period_ns: int
    samples: int
    stacks: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def programs(self) -> int:
        return self.stacks[()]

    @property
    def idle(self) -> int:
        return sum(count for stack, count in self.stacks.items() if IDLE in stack)

    @property
    def kernel(self) -> Counter[tuple[str, ...]]:
        return Counter({stack: count for stack, count in self.stacks.items() if stack and IDLE not in stack})

    @property
    def lost(self) -> int:
        """Found no room in the kernel's table."""
        return self.samples - self.stacks.total()


class Names:
    """The functions at an address of the kernel: the one in the symbol table, and those inlined into it there."""

    def __init__(self, image: Path):
        self.image = image
        self.known: dict[int, tuple[str, ...]] = {}
        listing = _tool(["nm", "-n", "--defined-only", str(image)])
        found = [line.split() for line in listing.splitlines()]
        symbols = [(int(words[0], 16), words[2]) for words in found if len(words) == 3 and words[1] in "tTwW"]
        self.starts = [address for address, _ in symbols]
        self.symbols = [name for _, name in symbols]

    def look_up(self, addresses: set[int]) -> None:
        """Find the names of all of these at once: each start of the tool reads all of the debugging information."""
        wanted = sorted(addresses)
        text = _tool(["addr2line", "-a", "-f", "-i", "-e", str(self.image)], "".join(f"{a:#x}\n" for a in wanted))
        for part in re.split(r"^0x", text, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            address, inlined = int(lines[0], 16), lines[1:-2:2]  # from the inside out; a place follows each name
            at = bisect.bisect_right(self.starts, address) - 1
            outermost = self.symbols[at] if at >= 0 else hex(address)
            self.known[address] = (outermost, *(f"{name} (inlined)" for name in reversed(inlined)))

    def of(self, address: int) -> tuple[str, ...]:
        return self.known[address]


def _tool(command: list[str], given: str | None = None) -> str:
    try:
        return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise LabError(f"{command[0]} is missing: install binutils") from None
    except subprocess.CalledProcessError as error:
        raise LabError(f"{' '.join(command)}: {error.stderr.strip()}") from None


def read_profile(text: str, image: Path) -> Profile:
    """@text: the kernel's record, or /proc/profile. The address of a call is that of the instruction behind it."""
    head, *lines = (line for line in re.split(r"[;\n]", text) if line)
    match = re.fullmatch(r"period_ns (\d+) samples (\d+)", head)
    if not match:
        raise LabError(f"this is no profile of the kernel: it begins with {head[:60]!r}")
    found = []
    for line in lines:
        count, *words = line.split()
        addresses = [int(word, 16) for word in words]
        found.append((int(count), addresses[:1] + [address - 1 for address in addresses[1:]]))
    names = Names(image)
    names.look_up({address for _, addresses in found for address in addresses})
    profile = Profile(int(match[1]), int(match[2]))
    for number, addresses in found:
        profile.stacks[tuple(name for address in reversed(addresses) for name in names.of(address))] += number
    return profile


def profile_of(result: Result, image: Path) -> Profile:
    text = result.log.last("profile")
    if result.kind != "exit" or not isinstance(text, str):
        raise LabError(f"there is no profile: {result.message}")
    return read_profile(text, image)


def run_profiled(options: Options, period_ns: int = PERIOD_NS) -> tuple[Result, Profile]:
    """Run the job under icount; the program's output goes where Options says."""
    import sys

    if period_ns < PERIOD_LEAST:
        raise LabError(f"--period {period_ns}: at least {PERIOD_LEAST} ns, or programs get no time")
    if options.kernel != "chainwalk":
        raise LabError("Linux has no /proc/profile of this kind: leave out --kernel linux")
    options = replace(options, cmdline=f"{options.cmdline} job_profile={period_ns}".strip(), quiet=True)
    result = run(options, sys.stdout.buffer)  # without input, which would come at the host's time
    if result.kind != "exit":
        return result, Profile(period_ns, 0)
    return result, profile_of(result, kernel_image().with_name("chainwalk"))


def functions_of(result: Result) -> dict[str, float]:
    """The percentage of the kernel's samples that fell into each function, or into what it called."""
    stacks = profile_of(result, kernel_image().with_name("chainwalk")).kernel
    total: Counter[str] = Counter()
    for stack, count in stacks.items():
        for name in {name.removesuffix(" (inlined)") for name in stack}:
            total[name] += count
    return {name: round(100 * count / stacks.total(), 3) for name, count in total.items()}


# ---- the table ---------------------------------------------------------------------------------------------------


def own_and_total(stacks: Counter[tuple[str, ...]]) -> tuple[Counter[str], Counter[str]]:
    """Samples in each function itself, and in it or what it called."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for stack, count in stacks.items():
        own[stack[-1]] += count
        for name in set(stack):
            total[name] += count
    return own, total


def shares(profile: Profile) -> str:
    parts = [
        ("kernel", profile.kernel.total()), ("programs", profile.programs), ("idle", profile.idle), ("lost", profile.lost),
    ]  # fmt: skip
    said = ", ".join(f"{name} {100 * count / max(profile.samples, 1):.1f} %" for name, count in parts if count)
    return f"{profile.samples} samples, one in {profile.period_ns} ns: {said or 'none'}"


def table(profile: Profile, top: int) -> str:
    kernel = profile.kernel
    samples = kernel.total()
    lines = [shares(profile)]
    if samples:
        own, total = own_and_total(kernel)
        lines += ["", "of the kernel's samples", "  itself    all  function"]
    for name, count in sorted(own.items(), key=lambda item: (-item[1], item[0]))[:top] if samples else ():
        lines.append(f"  {100 * count / samples:5.1f}% {100 * total[name] / samples:5.1f}%  {name}")
    return "\n".join(lines)


# ---- the flame graph ---------------------------------------------------------------------------------------------


@dataclass
class Frame:
    """A function as called from where it stands; its share is as wide as it was found often."""

    name: str
    count: int = 0
    inside: dict[str, Frame] = field(default_factory=dict)

    def height(self) -> int:
        return 1 + max((frame.height() for frame in self.inside.values()), default=0)


def tree_of(profile: Profile) -> Frame:
    """The kernel's own: what programs and an idle processor took would leave no room for it."""
    root = Frame("the kernel", profile.kernel.total())
    for stack, count in profile.kernel.items():
        at = root
        for name in stack:
            at = at.inside.setdefault(name, Frame(name))
            at.count += count
    return root


def _colour(name: str) -> str:
    """Warm, by the name's letters, so that a function looks alike in two graphs; inlined ones are yellow."""
    number = sum((place + 1) * ord(letter) for place, letter in enumerate(name)) % 60
    return f"hsl({48 if name.endswith('(inlined)') else 10 + number // 3},{70 + number % 20}%,{62 + number % 14}%)"


def flame_graph(profile: Profile, title: str) -> str:
    """One SVG file without anything from outside. Functions lie on what called them; a click shows one alone, a search
    marks all whose name has the text in it."""
    root = tree_of(profile)
    height = (root.height() + 3) * ROW + 24
    shapes: list[str] = []

    def draw(frame: Frame, left: float, depth: int) -> None:
        width = frame.count / max(root.count, 1) * WIDTH
        if width < 0.3:
            return
        top = height - (depth + 2) * ROW
        share = f"{frame.name}: {frame.count} samples, {100 * frame.count / max(root.count, 1):.2f} %"
        letters = int((width - 6) / LETTER)
        short = frame.name if len(frame.name) <= letters else frame.name[: letters - 2] + ".." if letters > 3 else ""
        shapes.append(
            f'<g class="f" data-n="{html.escape(frame.name)}" data-x="{left:.2f}" data-w="{width:.2f}" data-d="{depth}">'
            f"<title>{html.escape(share)}</title>"
            f'<rect x="{left:.2f}" y="{top}" width="{width:.2f}" height="{ROW - 1}" fill="{_colour(frame.name)}"/>'
            f'<text x="{left + 3:.2f}" y="{top + 12}">{html.escape(short)}</text></g>'
        )
        for name in sorted(frame.inside):
            draw(frame.inside[name], left, depth + 1)
            left += frame.inside[name].count / max(root.count, 1) * WIDTH

    draw(root, 0, 0)
    return SVG.format(
        width=WIDTH,
        height=height,
        title=html.escape(title),
        said=html.escape(shares(profile)),
        shapes="\n".join(shapes),
    )


SVG = """<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="100%" font-family="monospace" font-size="11">
<style>
.f rect {{ stroke: #fff; stroke-width: 0.4 }} .f {{ cursor: pointer }} .f:hover rect {{ stroke: #000; stroke-width: 1 }}
.found rect {{ fill: #c04ad8 }} .button {{ cursor: pointer; fill: #1a5fb4 }} text {{ fill: #111 }}
</style>
<rect width="100%" height="100%" fill="#fdfcf9"/>
<text x="{width}" y="16" dx="-8" text-anchor="end" class="button" id="search">search</text>
<text x="8" y="16" class="button" id="reset" visibility="hidden">show all</text>
<text x="50%" y="16" text-anchor="middle" font-size="13">{title}</text>
<text x="8" y="{height}" dy="-6" id="said">{said}</text>
{shapes}
<script><![CDATA[
(function () {{
  var frames = [].slice.call(document.querySelectorAll(".f")), said = document.getElementById("said");
  var reset = document.getElementById("reset"), wide = {width}, first = said.textContent;
  function number(frame, name) {{ return parseFloat(frame.getAttribute("data-" + name)); }}
  function show(one) {{
    var from = one ? number(one, "x") : 0, width = one ? number(one, "w") : wide, depth = one ? number(one, "d") : 0;
    frames.forEach(function (frame) {{
      var x = (number(frame, "x") - from) / width * wide, w = number(frame, "w") / width * wide;
      var below = number(frame, "d") < depth;
      if (below) {{ w = x <= 0.01 && x + w >= wide - 0.01 ? wide : 0; x = 0; }}
      var seen = w > 0.3 && x >= -0.01 && x + w <= wide + 0.01;
      frame.style.display = seen ? "" : "none";
      if (!seen) return;
      var name = frame.getAttribute("data-n"), letters = Math.floor((w - 6) / 6.6);
      var rect = frame.querySelector("rect"), text = frame.querySelector("text");
      rect.setAttribute("x", x); rect.setAttribute("width", w); text.setAttribute("x", x + 3);
      text.textContent = name.length <= letters ? name : letters > 3 ? name.slice(0, letters - 2) + ".." : "";
    }});
    reset.setAttribute("visibility", one ? "visible" : "hidden");
  }}
  function search(text) {{
    var widths = {{}}, sum = 0;
    frames.forEach(function (frame) {{
      var hit = text && frame.getAttribute("data-n").indexOf(text) >= 0;
      frame.setAttribute("class", hit ? "f found" : "f");
      if (hit) widths[frame.getAttribute("data-x")] = Math.max(widths[frame.getAttribute("data-x")] || 0, number(frame, "w"));
    }});
    var end = -1;  // a frame above another that was found counts with that
    Object.keys(widths).map(parseFloat).sort(function (a, b) {{ return a - b; }}).forEach(function (x) {{
      var w = widths[x.toFixed(2)];
      if (x + 0.005 < end) return;
      sum += w; end = x + w;
    }});
    said.textContent = text ? text + ": " + (100 * sum / wide).toFixed(2) + " %" : first;
  }}
  frames.forEach(function (frame) {{
    frame.addEventListener("click", function () {{ show(number(frame, "d") ? frame : null); }});
    frame.addEventListener("mouseover", function () {{ said.textContent = frame.querySelector("title").textContent; }});
  }});
  reset.addEventListener("click", function () {{ show(null); }});
  document.getElementById("search").addEventListener("click", function () {{ search(prompt("Functions with this in their name:", "") || ""); }});
  window.flame = {{ show: show, search: search }};
}})();
]]></script>
</svg>
"""
