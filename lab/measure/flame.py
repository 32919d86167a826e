"""A profile as a flame graph: one SVG file for a browser, without anything from outside."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from lab.run.stacks import Profile

WIDTH, ROW, LETTER = 1200, 17, 6.6


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
        said=html.escape(profile.shares()),
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
