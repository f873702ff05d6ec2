"""Samples become medians, spreads and ratios; those become a table."""

from statistics import median

METRICS = ("per_s", "per_cpu_s")

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
    summary["samples"] = [run.as_dict() for run in runs]
    return summary


def ratios_of(peers):
    """sixmark over each other peer, round by round: what disturbs a round disturbs both."""
    ours = peers.get("sixmark")
    if ours is None:
        return {}
    return {
        peer: {
            metric: spread(
                [getattr(a, metric) / getattr(b, metric) for a, b in zip(ours, theirs)]
            )
            for metric in METRICS
        }
        for peer, theirs in peers.items()
        if peer != "sixmark"
    }


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def table(case, summary):
    lines = [
        f"{case.name}: {case.says}",
        f"  {'':6}{'':9}{'requests/s':>10}  {'min - max':>19}"
        f"  {'per client CPU-s':>16}  {'min - max':>19}  {'client, nginx busy':>18}  {'failed':>6}",
    ]
    for family, part in summary.items():
        for peer, one in part["peers"].items():
            lines.append(
                f"  {family:6}{peer:9}{one['per_s']['median']:>10,.0f}  {between(one['per_s'])}"
                f"  {one['per_cpu_s']['median']:>16,.0f}  {between(one['per_cpu_s'])}"
                f"  {shares(one):>18}  {one['failed']:>6,}"
            )
    for family, part in summary.items():
        for peer, ratio in part["ratios"].items():
            lines.append(
                f"  {family:6}sixmark/{peer}: requests/s {times(ratio['per_s'])},"
                f" per client CPU-s {times(ratio['per_cpu_s'])}"
            )
    disturbance = max(
        one["others_busy"] for part in summary.values() for one in part["peers"].values()
    )
    if disturbance > DISTURBED:
        lines.append(f"  doubtful: other programs took up to {disturbance:.0%} of the two CPUs")
    return "\n".join(lines)


def shares(one):
    return f"{one['client_busy']:.0%}, {one['server_busy']:.0%}"


def between(values):
    return f"{values['min']:,.0f} - {values['max']:,.0f}".rjust(19)


def times(values):
    return f"{values['median']:.2f} ({values['min']:.2f} - {values['max']:.2f})"
