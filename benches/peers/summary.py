"""Samples become medians, spreads and ratios; those become a table."""

from collections import Counter
from statistics import median

METRICS = ("per_s", "per_cpu_s", "cpu_s_per_gb")

# The word in the names of an earlier sixmark, where the name of the one to measure has "sixmark".
BEFORE = "before"

# Above this share of the two CPUs, somebody else's work is part of the figures.
DISTURBED = 0.1


def summarise(samples):
    """`samples[family][peer]` is a list in round order."""
    return {
        family: {
            "peers": {peer: summary_of(runs) for peer, runs in peers.items()},
            "ratios": ratios_of(peers),
        }
        for family, peers in samples.items()
    }


def summary_of(runs):
    summary = {metric: spread([getattr(run, metric) for run in runs]) for metric in METRICS}
    for share in ("client_busy", "server_busy", "others_busy"):
        summary[share] = median(getattr(run, share) for run in runs)
    summary["failed"] = sum(run.failed for run in runs)
    summary["agreed"] = together(run.agreed for run in runs)
    summary["samples"] = [run.as_dict() for run in runs]
    return summary


def ratios_of(peers):
    """Each sixmark over each other peer, round by round: what disturbs a round disturbs both."""
    return {
        f"{name}/{peer}": {
            metric: spread(
                [getattr(a, metric) / getattr(b, metric) for a, b in zip(ours, theirs)]
            )
            for metric in METRICS
        }
        for name, ours in peers.items()
        if name.startswith("sixmark")
        for peer, theirs in peers.items()
        if is_compared(name, peer)
    }


def is_compared(name, peer):
    """An earlier sixmark is compared with the same way of running the new one alone."""
    word, _, way = peer.partition(" ")
    return word != "sixmark" and (word != BEFORE or name == f"sixmark {way}")


def together(counts):
    """Their sums, by name."""
    return dict(sum(map(Counter, counts), Counter()))


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def table(case, summary, unmeasured):
    """`unmeasured` has the reason for each peer that would be in it."""
    metric, word = cost(case)
    lines = [
        f"{case.name}: {case.says}; server {case.server}",
        f"  {'':6}{'':20}{'requests/s':>10}  {'min - max':>19}"
        f"  {word:>16}  {'min - max':>19}  {'client, server busy':>19}  {'failed':>6}",
    ]
    for family, peer, one in rows(summary):
        lines.append(
            f"  {family:6}{peer:20}{number(one['per_s']['median']):>10}"
            f"  {between(one['per_s']):>19}  {number(one[metric]['median']):>16}"
            f"  {between(one[metric]):>19}  {shares(one):>19}  {one['failed']:>6,}"
        )
    for family, peer, reason in gaps(summary, unmeasured):
        lines.append(f"  {family:6}{peer:20}not measured: {reason}")
    for family, part in summary.items():
        for pair, ratio in part["ratios"].items():
            lines.append(
                f"  {family:6}{pair}: requests/s {times(ratio['per_s'])},"
                f" {word} {times(ratio[metric])}"
            )
    lines += [f"  {line}" for line in agreements(summary)]
    return "\n".join(lines + [f"  doubtful: {doubt}" for doubt in doubts(summary)])


def cost(case):
    """The measure of a client's effort, and its name."""
    if case.load.files:
        return "cpu_s_per_gb", "client CPU-s/GB"
    return "per_cpu_s", "per client CPU-s"


def agreements(summary):
    """What each client and the server made out, both families together."""
    peers = {}
    for _, peer, one in rows(summary):
        peers.setdefault(peer, []).append(one["agreed"])
    for peer, counts in peers.items():
        said = [f"{count:,} x {what}" for what, count in together(counts).items()]
        if said:
            yield f"{peer}: {'; '.join(said)}"


def rows(summary):
    for family, part in summary.items():
        for peer, one in part["peers"].items():
            yield family, peer, one


def gaps(summary, unmeasured):
    for family in summary:
        for peer, reason in unmeasured.items():
            yield family, peer, reason


def doubts(summary):
    disturbance = max(one["others_busy"] for _, _, one in rows(summary))
    if disturbance > DISTURBED:
        yield f"other programs took up to {disturbance:.0%} of the two CPUs"


def shares(one):
    return f"{one['client_busy']:.0%}, {one['server_busy']:.0%}"


def between(values):
    return f"{number(values['min'])} - {number(values['max'])}"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def times(values):
    return f"{values['median']:.2f} ({values['min']:.2f} - {values['max']:.2f})"
