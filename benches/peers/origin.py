"""sixmark's own servers, on a CPU of their own."""

import json
import os
import subprocess
from pathlib import Path


class Origin:
    """Serves while the `with` block runs."""

    options = []
    scheme = "http"
    # It comes with the client of that name.
    version = None
    needs = []

    def __init__(self, program, cpu):
        command = ["taskset", "-c", str(cpu), program, "origin", "-t1", "--json"]
        self.command = [*command, *self.options]
        self.process = None
        self.ports = {}

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            # Ctrl-C is for this program, which then stops the server.
            start_new_session=True,
        )
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self.command)}\ndid not start")
        self.ports = {one["family"]: one["port"] for one in json.loads(line)["addresses"]}
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def url(self, family, path, load):
        host = {"ipv6": "[::1]", "ipv4": "127.0.0.1"}[family]
        return f"{self.scheme}://{host}:{self.ports[family]}{path}"

    def cpu_seconds(self):
        """User and system time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def agreed(self):
        """It does not say."""
        return {}


class Turbo(Origin):
    """Serves / (13 bytes), /bytes/N and uploads to /sink."""

    name = "turbo"
    options = ["--turbo"]


class Http3(Origin):
    """Serves / over HTTP/3, with a certificate made for it."""

    name = "origin"
    options = ["--tls", "--http3"]
    scheme = "https"
