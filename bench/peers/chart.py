"""A chart of the speeds as SVG, for light and dark pages. Standard library only."""

from __future__ import annotations

from xml.sax.saxutils import escape

from found import Found, amount, is_latency, speed_text
from report import label, ordered

# What is shown where it was measured, on the most threads: workload and title.
PANELS = (
    ("minilm/1x32", "MiniLM, one text of 32 tokens"),
    ("minilm/32x128", "MiniLM, 32 texts of 128 tokens"),
    ("bge-small/32x512", "bge-small, 32 texts of 512 tokens"),
    ("cross/ragged", "reranking 100 documents of mixed lengths"),
    ("qwen3-0.6b/1x512", "Qwen3-0.6B, one text of 512 tokens"),
    ("qwen3.5-0.8b/decode", "Qwen3.5-0.8B, further tokens"),
)
COLUMNS, COLUMN_WIDTH, GAP = 2, 430, 24
LABEL_WIDTH, BAR_WIDTH = 132, 170
TITLE_HEIGHT, ROW_HEIGHT, BAR_HEIGHT, PANEL_GAP = 26, 19, 12, 18
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 13px }
.ours { font-weight: 600 }
.value { fill: #59636e; font-size: 11px }
.bar { fill: #afb8c1 }
.bar.ours { fill: #0969da }
.base { stroke: #59636e; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .value { fill: #9198a1 }
  .bar { fill: #4d5560 }
  .bar.ours { fill: #4493f8 }
  .base { stroke: #9198a1 }
}
"""


def bars(row: dict) -> list[tuple[str, float, str]]:
    """Engine, speed as a multiple of the base's, and what is written beside it; fastest first."""
    unit = "" if is_latency(row) else f" {amount(row)[1]}"
    found = [(name, row["engines"][name]["ratio"]["median"],
              speed_text(row, row["engines"][name]) + unit) for name in ordered([row])]
    return sorted(found, key=lambda bar: -bar[1])


def panel(row: dict, title: str, left: float, top: float) -> list[str]:
    """A title and a bar for each engine; a dashed line is the base's speed."""
    found = bars(row)
    scale = BAR_WIDTH / max(ratio for _, ratio, _ in found)
    start, first = left + LABEL_WIDTH, top + TITLE_HEIGHT
    lines = [f'<text class="title" x="{left}" y="{top + 14}">{escape(title)}</text>']
    for place, (name, ratio, text) in enumerate(found):
        middle, width = first + (place + 0.5) * ROW_HEIGHT, max(1.0, ratio * scale)
        ours = " ours" if name.startswith("lattice") else ""
        lines += [
            f'<text class="{ours.strip()}" x="{start - 6}" y="{middle + 4:.1f}" '
            f'text-anchor="end">{escape(label(name))}</text>',
            f'<rect class="bar{ours}" x="{start}" y="{middle - BAR_HEIGHT / 2:.1f}" '
            f'width="{width:.1f}" height="{BAR_HEIGHT}" rx="2"/>',
            f'<text class="value" x="{start + BAR_WIDTH + 8}" y="{middle + 4:.1f}">'
            f'{escape(text)}</text>']
    line, bottom = start + scale, first + len(found) * ROW_HEIGHT
    lines.append(f'<line class="base" x1="{line:.1f}" x2="{line:.1f}" y1="{first}" '
                 f'y2="{bottom}"/>')
    return lines


def shown(found: Found) -> list[tuple[dict, str]]:
    """The panels that there are numbers for, each on the most threads."""
    panels = []
    for workload, title in PANELS:
        rows = [row for threads in found.threads()
                if (row := found.row(workload, threads)) and row["engines"]]
        if rows:
            count = rows[-1]["threads"]
            panels.append((rows[-1], f"{title}, {count} thread{'s' if count > 1 else ''}"))
    return panels


def svg(data: dict) -> str:
    """The whole picture; its background is the page's."""
    body: list[str] = []
    tops = [0.0] * COLUMNS
    for row, title in shown(Found(data)):
        column = tops.index(min(tops))
        body += panel(row, title, column * (COLUMN_WIDTH + GAP), tops[column])
        tops[column] += TITLE_HEIGHT + len(row["engines"]) * ROW_HEIGHT + PANEL_GAP
    width = COLUMNS * COLUMN_WIDTH + GAP
    height = max(tops) + 16
    note = "Longer is faster; dashed: ONNX Runtime fp32, or PyTorch fp32 where it cannot run."
    body.append(f'<text class="value" x="0" y="{height - 4:.0f}">{note}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
            f'width="{width}" height="{height:.0f}" role="img" '
            'aria-label="Speed of lattice and its peers">\n'
            f"<style>{STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n")
