"""What runs said, kept in a file, counted and written down."""

import dataclasses
import json
import math
import os

BEGIN, END = "<!-- real -->\n", "<!-- end real -->"
# More wrong answers than this share, or fewer right ones than the rest, are too many.
WRONG = 0.05


class Results:
    """A line a run."""

    def __init__(self, path, build, any_build):
        self.path, self.build, self.runs = path, build, {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    run = json.loads(line)
                    if run.pop("build") == build or any_build:
                        self.runs.setdefault(run.pop("mode"), []).append(run)

    def count(self, mode):
        return len(self.runs.get(mode, []))

    def add(self, mode, found):
        self.runs.setdefault(mode, []).append(found)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"mode": mode, "build": self.build, **found}) + "\n")


@dataclasses.dataclass
class Row:
    """A mode's runs, those that count, and what else is to be told of them."""

    mode: object
    runs: int
    counted: int
    more: str

    def interval(self):
        return wilson(self.counted, self.runs)

    def is_bad(self):
        low, high = self.interval()
        return high < 1 - WRONG if self.mode.kind == "slower" else low > WRONG

    def cells(self):
        low, high = (f"{100 * end:.1f}" for end in self.interval())
        return [self.mode.name(), str(self.runs), str(self.counted), f"{low} to {high} %", self.more]


def rows(kept, modes):
    """Of the modes that have any runs, in their order."""
    return [row(mode, kept.runs[mode.name()]) for mode in modes if kept.count(mode.name())]


def row(mode, runs):
    if mode.kind == "slower":
        found = [run for run in runs if not run["missed"]]
        ends = sorted(run["low_us"] for run in found), sorted(run["high_us"] for run in found)
        more = f"by {middle(ends[0]):.0f} to {middle(ends[1]):.0f} us" if found else ""
        return Row(mode, len(runs), len(found), more)
    wrong = sum(bool(run["wrong"]) for run in runs)
    if mode.kind == "equal":
        said = [run["verdict"] for run in runs]
        return Row(mode, len(runs), wrong, f"{said.count('equivalent')} equivalent")
    apart = sorted(math.expm1(abs(run["apart"])) for run in runs)
    return Row(mode, len(runs), wrong, f"medians {100 * middle(apart):.1f}, at most {100 * apart[-1]:.1f} % apart")


def middle(ordered):
    return ordered[len(ordered) // 2]


def wilson(part, whole):
    """The 95 % interval of a share (Wilson 1927)."""
    z = 1.959964
    share, spread = part / whole, z * z / whole
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / whole + spread / whole / 4)
    return max((centre - half) / (1 + spread), 0.0), min((centre + half) / (1 + spread), 1.0)


HEAD = ["mode", "runs", "called different", "95 % interval", ""]


def table(all_rows):
    """As text."""
    lines = [HEAD, *(row.cells() for row in all_rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def write(path, all_rows):
    """Between the marks of a page."""
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in all_rows)]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, rest = page.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + after)
