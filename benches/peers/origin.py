"""sixmark's own servers, on a CPU of their own."""

import json
import subprocess

from process import OneProcess


class Origin(OneProcess):
    """Serves while the `with` block runs."""

    options = []
    # It comes with the client of that name.
    version = None
    needs = []

    def __init__(self, program, cpu):
        command = ["taskset", "-c", str(cpu), program, "origin", "-t1", "--json"]
        super().__init__()
        self.command = [*command, *self.options]

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


class Turbo(Origin):
    """Serves / (13 bytes), /bytes/N and uploads to /sink."""

    name = "turbo"
    options = ["--turbo"]


class Http3(Origin):
    """Serves / over HTTP/3, with a certificate made for it."""

    name = "origin"
    options = ["--tls", "--http3"]
    scheme = "https"
