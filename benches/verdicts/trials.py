"""One run of a mode, and what it said."""

import json
import math
import os
import re
import subprocess
import tempfile

ADDED_US = 200
# A client that slept longer wakes up a microsecond or two later: after a millisecond that is the same on both sides.
BASE_US = 1000
PAIRS = 12
# Where two threads of the server compute and two of the client never rest, blocks scatter more on two cores.
CROWDED_PAIRS = 96
# How long a run lasts.
RUN = "2s"
# How long a block is measured, and before that loaded without: a link of 5 ms takes 10 ms to connect.
BLOCK = {"loopback": ("50ms", "10ms"), "noisy": ("50ms", "10ms"), "lab": ("100ms", "30ms")}
# To find 200 us in 10 ms takes more than the 30 requests of a tenth of a second.
SLOWER_BLOCK = {**BLOCK, "lab": ("300ms", "30ms")}
PROTOCOL = {"HTTP/1.1": [], "HTTP/2": ["--http2", "--insecure"], "HTTP/3": ["--http3", "--insecure"]}
# What would be a verdict or a difference on the screen.
CLAIM = re.compile(r"BETTER|WORSE|EQUIVALENT|INCONCLUSIVE|IPv6 to IPv4|[+-]\d[\d.]* %")


def one(mode, sixmark, places, number):
    """Runs it for the so-manieth time."""
    return {"equal": equal, "slower": slower, "shared": shared}[mode.kind](mode, sixmark, places, number)


def equal(mode, sixmark, places, number):
    """A family against itself, the two in turns."""
    family = ["ipv4", "ipv6"][number % 2]
    side = f"{family} {places.url(mode, family)}/bytes/1000"
    result = compare(mode, sixmark, places, side, side, load(mode, 8, "2000"))
    wrong = [of["metric"] for of in result["metrics"] if of["verdict"] in ("better", "worse")]
    return {"wrong": wrong, "verdict": result["metrics"][0]["verdict"]}


def slower(mode, sixmark, places, _number):
    """No more in flight than the server has threads: it is to take so long by itself."""
    a, b = (f"{family} {places.url(mode, family)}/busy/{us}" for family, us in (("ipv6", BASE_US + ADDED_US), ("ipv4", BASE_US)))
    # 200 us are less than 5 % of what takes 10 ms on the way.
    how = [*load(mode, mode.threads, "300"), "--margin", "1%"]
    result = compare(mode, sixmark, places, a, b, how)
    wait = next(of for of in result["metrics"] if of["metric"] == "wait.p50")
    low, high = (wait["difference"][end] for end in ("low", "high")) if wait["difference"] else (None, None)
    return {"missed": wait["verdict"] != "worse", "verdict": wait["verdict"], "low_us": low, "high_us": high}


def shared(mode, sixmark, places, _number):
    """Both families at once."""
    urls = [f"{places.url(mode, family)}/bytes/1000" for family in ("ipv6", "ipv4")]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        words = [sixmark, "run", "--json", path, "--warmup", "100ms", "--ratio", mode.ratio]
        words += [*load(mode, 16, "2000"), *places.words(mode), *urls]
        words += [] if mode.load == "ramp" else ["-d", RUN]
        said = carried_out(words)
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    p50 = [result["families"][family]["wait_us"]["p50"] for family in ("ipv6", "ipv4")]
    claims = CLAIM.findall(said) + [key for key in ("comparison",) if result.get(key)]
    return {"wrong": claims, "apart": math.log(p50[0] / p50[1])}


def compare(mode, sixmark, places, a, b, how):
    block, warmup = (SLOWER_BLOCK if mode.kind == "slower" else BLOCK)[mode.place]
    is_crowded = mode.kind == "slower" and mode.load == "closed" and mode.threads > 1
    pairs = CROWDED_PAIRS if is_crowded else PAIRS
    words = [sixmark, "compare", "--quiet", "--json", "-", "--blocks", str(pairs), "--block", block, "--warmup", warmup]
    words += ["--metric", "wait.p50", "--a", a, "--b", b, *how, *places.words(mode)]
    return json.loads(carried_out(words))["comparison"]


def load(mode, connections, rate):
    words = ["-c", str(connections), "-t", str(mode.threads), "--driver", mode.driver, *PROTOCOL[mode.protocol]]
    if mode.load == "ramp":
        # From above 0: a warm-up keeps up the first rate.
        return [*words, "--ramp", f"100/s:{rate}/s:{RUN}"]
    return words if mode.load == "closed" else [*words, "--rate", f"{rate}/s", "--arrivals", mode.load]


def carried_out(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout
