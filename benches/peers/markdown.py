"""The report that is kept in the tree."""

from summary import agreements, between, cost, doubts, gaps, number, rows, shares, times

ABOUT = """\
# Benchmarks

Made by `{command}`, which wrote this page: don't edit it.

One CPU for the client, one for the server, loopback, both families. Clients take turns within a round, in another order
each round, families too. Figures are medians of {rounds} rounds, with the least and the most; ratios are taken round by
round. A client's CPU time is that of its finished process, user and system, start and summary included. A server that
is less busy than the client leaves the client as what limits the rate.

Over TLS all speak version 1.3 with TLS_AES_256_GCM_SHA384 and X25519, since nginx accepts nothing else, and nobody
verifies the certificate (ECDSA, P-256); oha does not even verify that the server has its key. wrk and h2load resume a
session whenever the server lets them, oha now and then, ab never, sixmark where it is asked to: so full handshakes are
compared against a listener that resumes none, resumed ones against one that does. What nginx agreed on with each client
is taken from its log, of the first request of each connection; a client that breaks off its last requests may leave a
few of them to the next one's count. h2load stops after a number of new connections instead of a time. oha also offers
X25519MLKEM768, which costs it a key for each connection.

HTTP/3 is served by sixmark's own origin and by Caddy, since nginx 1.22 has none. oha's rate is then over the planned
time, without the second in which it closes. Debian's h2load has no HTTP/3 either: `h2load h3` is a build of nghttp2 with
ngtcp2, given as `make bench H2LOAD=path`, and is used for nothing else. The origin takes the cipher suite that a client
prefers: TLS_AES_256_GCM_SHA384 of sixmark and oha, TLS_AES_128_GCM_SHA256 of h2load, which costs a little less and which
h2load can't change where it is built with AWS-LC or BoringSSL. Caddy takes TLS_AES_128_GCM_SHA256 of all.

lighttpd answers over TLS, haproxy with bytes of its own, Caddy with a file. nginx, at a port for it, and Jetty speak
HTTP/2 without TLS, asked for without a word before (prior knowledge). Jetty is loaded for a few seconds before it is
measured: a Java program is slow until what it uses much is translated.

"""


def markdown(report, cases):
    text = ABOUT.format(**report["environment"]) + facts(report["environment"])
    for case in cases:
        done = report["cases"].get(case.name)
        if done:
            text += section(case, done["families"], done["unmeasured"])
    return text


def facts(environment):
    lines = ["| | |", "|---|---|"]
    lines += [f"| {name} | {environment[name]} |" for name in ("date", "kernel", "cpu")]
    lines += [f"| {name} | {version} |" for name, version in environment["versions"].items()]
    lines += ["", "What a client records costs CPU time. For each request:", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {records} |" for name, records in environment["records"].items()]
    return "\n".join(lines) + "\n"


def section(case, summary, unmeasured):
    metric, word = cost(case)
    lines = [
        f"\n## {case.name}\n",
        f"{case.says}; server: {case.server}.\n",
        f"| | | requests/s | min - max | {word} | min - max | client, server busy | failed |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for family, peer, one in rows(summary):
        cells = [family, peer, number(one["per_s"]["median"]), between(one["per_s"])]
        cells += [number(one[metric]["median"]), between(one[metric]), shares(one)]
        lines.append(f"| {' | '.join(cells)} | {one['failed']:,} |")
    for family, peer, reason in gaps(summary, unmeasured):
        lines.append(f"| {family} | {peer} | not measured: {reason} | | | | | |")
    lines += ["", f"| ratio | | requests/s | {word} |", "|---|---|--:|--:|"]
    for family, part in summary.items():
        for pair, ratio in part["ratios"].items():
            lines.append(f"| {pair} | {family} | {times(ratio['per_s'])} | {times(ratio[metric])} |")
    agreed = list(agreements(summary))
    if agreed:
        lines += ["\nConnections by what the server says was agreed on:\n"]
        lines += [f"- {line}" for line in agreed]
    lines += [f"\nDoubtful: {doubt}." for doubt in doubts(summary)]
    return "\n".join(lines) + "\n"
