"""The load generators: how each is called for a case, and how its answer is read."""

import json
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Load:
    """What a case asks every client to do. Either `seconds` or `requests` ends it."""

    connections: int
    keep_alive: bool
    seconds: int | None = None
    requests: int | None = None
    # A file that each request carries; the case is then an upload.
    body: str | None = None
    # One connection after another would do: what copies files can take part.
    files: bool = False
    # Over TLS 1.3.
    secure: bool = False
    # Handshakes but the first resume a session. A client that can't do it takes no part.
    resume: bool = False
    # HTTP's version; from 2 on `streams` exchanges share a connection.
    http: int = 1
    streams: int = 1


@dataclass(frozen=True)
class Answer:
    """What a client says it did."""

    requests: int
    # None where the client doesn't say: its whole life is taken.
    elapsed_s: float | None
    failed: int


class Unreadable(Exception):
    """A client's output does not look as it should."""


class Wrk:
    name = "wrk"
    program = "wrk"
    version = ["wrk", "-v"]
    records = "a histogram of complete responses; it reads every byte"

    def can(self, load):
        return load.seconds is not None and load.body is None and load.http == 1

    def command(self, load, family, url, folder):
        close = [] if load.keep_alive else ["-H", "Connection: close"]
        connections = ["-t1", f"-c{load.connections}"]
        return [self.program, *connections, f"-d{load.seconds}s", *close, url]

    def read(self, text, load, family, folder):
        requests, elapsed = find(r"(\d+) requests in ([\d.]+[a-z]+),", text)
        errors = re.search(
            r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text
        )
        failed = sum(map(int, errors.groups())) if errors else 0
        status = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
        failed += int(status[1]) if status else 0
        # The rate is printed with more digits than the time it is computed from.
        rate = float(find(r"Requests/sec:\s+([\d.]+)", text)[0])
        elapsed_s = int(requests) / rate if rate else seconds_of(elapsed)
        return Answer(int(requests), elapsed_s, failed)


class Ab:
    name = "ab"
    program = "ab"
    version = ["ab", "-V"]
    records = "start, connect, first byte and end of each request, sorted at the end; counts bytes"

    def can(self, load):
        # Each of its handshakes is a full one.
        plain = load.http == 1 and not load.resume
        return plain and (not load.files or load.body is not None)

    def command(self, load, family, url, folder):
        keep_alive = ["-k"] if load.keep_alive else []
        if load.requests is not None:
            until = ["-n", str(load.requests)]
        else:
            # -t sets -n to 50,000, so -n comes after it. ab keeps 32 bytes for each.
            until = ["-t", str(load.seconds), "-n", "2000000"]
        upload = ["-p", load.body, "-T", "application/octet-stream"] if load.body else []
        shape = ["-c", str(load.connections), *upload]
        return [self.program, "-q", *keep_alive, *until, *shape, url]

    def read(self, text, load, family, folder):
        elapsed_s = float(find(r"Time taken for tests:\s+([\d.]+) seconds", text)[0])
        requests = int(find(r"Complete requests:\s+(\d+)", text)[0])
        failed = int(find(r"Failed requests:\s+(\d+)", text)[0])
        status = re.search(r"Non-2xx responses:\s+(\d+)", text)
        return Answer(requests, elapsed_s, failed + (int(status[1]) if status else 0))


class Sixmark:
    version_of = "--version"
    records = (
        "connect, wait, transfer, response and lifetime histograms by family, seconds, outcomes;"
        " checks every head, counts bytes"
    )

    def __init__(self, program, driver, linger=None, word="sixmark"):
        self.name = f"{word} linger {linger}" if linger else f"{word} {driver}"
        self.program = program
        self.version = [program, "--version"]
        self.driver = ["--driver", driver]
        self.linger = ["--linger", linger] if linger else []

    def can(self, load):
        """With --linger, only where many connections answer at once is there anything to gain."""
        return not self.linger or (load.keep_alive and load.connections > 1 and not load.secure)

    def command(self, load, family, url, folder):
        if load.requests is not None:
            until = ["-n", str(load.requests)]
        else:
            until = ["-d", f"{load.seconds}s"]
        keep_alive = [] if load.keep_alive else ["--no-keep-alive"]
        upload = ["-X", "POST", "--body-file", load.body] if load.body else []
        flag = {"ipv6": "-6", "ipv4": "-4"}[family]
        shape = ["-t1", f"-c{load.connections}", *until, *keep_alive, *upload]
        shape += self.driver + self.linger + secured(load)
        return [self.program, "run", *shape, "--json", str(result_in(folder)), flag, url]

    def read(self, text, load, family, folder):
        try:
            result = json.loads(result_in(folder).read_text())
            ours = result["families"][family]
            # What the end of the run cut off did not fail.
            failures = (f for f in ours["failures"] if f["outcome"] != "ABANDONED")
            failed = sum(failure["count"] for failure in failures)
            return Answer(ours["requests"]["completed"], result["elapsed_s"], failed)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error


def secured(load):
    """A first visit's handshake otherwise offers a key share against quantum computers, too."""
    agreed = "--http2" if load.secure else "--http2-prior-knowledge"
    version = {1: [], 2: [agreed], 3: ["--http3"]}[load.http]
    streams = ["--streams", str(load.streams)] if load.streams > 1 else []
    tls = ["--insecure", "--tls", "1.3", "--groups", "X25519"] if load.secure else []
    return [*version, *streams, *tls, *(["--resume", "on"] if load.resume else [])]


def result_in(folder):
    return Path(folder) / "sixmark.json"


def find(pattern, text):
    found = re.search(pattern, text)
    if found is None:
        raise Unreadable(f"nothing like {pattern!r}")
    return found.groups()


def seconds_of(text):
    """wrk's `3.00s`, `1.50m`, `250.00ms`."""
    number, unit = find(r"([\d.]+)([a-z]+)", text)
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}[unit]
