"""A real server in a folder of its own, at ports of both families, and what it logs."""

import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from process import end
from server import certify, free_port

# Long enough for a busy machine and a Java runtime.
START_S = 60
# Some servers write their log some seconds late.
LOG_S = 20
HOSTS = {"ipv6": "::1", "ipv4": "127.0.0.1"}
URL_HOSTS = {"ipv6": "[::1]", "ipv4": "127.0.0.1"}


class Server:
    """Answers /hello with 13 bytes while the `with` block runs."""

    # Programs, or files and folders by their paths.
    needs = []
    # Ports: without TLS, and with.
    kinds = ["plain"]
    # What to ask in which ways (see WAYS in `run`).
    ways = ["http/1.1", "http/1.0", "close"]
    # Files whose text is formatted and written into the folder first.
    files = {}
    # A line of the log for each request; None where it has no log.
    logged = r"(?P<address>::1|127\.0\.0\.1)"
    # Without the address in its lines, a log counts both families together.
    by_family = True

    def __init__(self):
        self.folder = None
        self.processes = []
        self.ports = {}

    def commands(self):
        """The command of each process."""
        raise NotImplementedError

    def log(self):
        """The text of the log so far."""
        return (self.folder / "log").read_text(errors="replace")

    def logs(self):
        """Whether its log has begun; asked again and again at the start."""
        return True

    def url(self, family, kind):
        scheme = "https" if kind == "tls" else "http"
        return f"{scheme}://{URL_HOSTS[family]}:{self.ports[f'{kind}_{family}']}/hello"

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sixmark-servers-"))
        try:
            # Servers that give their privileges up still have to read it.
            self.folder.chmod(0o755)
            (self.folder / "files").mkdir()
            (self.folder / "files" / "hello").write_bytes(b"hello, world\n")
            certify(self.folder)
            pair = [(self.folder / name).read_bytes() for name in ("certificate.pem", "key.pem")]
            (self.folder / "pair.pem").write_bytes(b"".join(pair))
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        for process in self.processes:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            end(process, lambda file=children: file.read_text().split() if file.exists() else [])
        self.processes = []

    def _start(self):
        # Between finding a port free and the server taking it, somebody else may have taken it.
        for _ in range(5):
            for kind in self.kinds:
                for family, host in HOSTS.items():
                    self.ports[f"{kind}_{family}"] = free_port(host)
            if self._launch():
                return
        raise RuntimeError(f"did not start: {(self.folder / 'said').read_text()[-500:]}")

    def _launch(self):
        for name, text in self.files.items():
            (self.folder / name).write_text(text.format(folder=self.folder, **self.ports))
        (self.folder / "log").touch()
        for number, command in enumerate(self.commands()):
            # What it says is its log, for those that have no other.
            with (self.folder / "said").open("ab") as said:
                self.processes.append(
                    subprocess.Popen(
                        list(map(str, command)),
                        stdin=subprocess.DEVNULL,
                        stdout=said,
                        stderr=said,
                        cwd=self.folder,
                        # Ctrl-C is for this program, which then stops the server.
                        start_new_session=True,
                    )
                )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if any(process.poll() is not None for process in self.processes):
                break
            if all(self._listens(name) for name in self.ports) and self.logs():
                return True
            time.sleep(0.02)
        self.stop()
        return False

    def _listens(self, name):
        try:
            host = HOSTS[name.rpartition("_")[2]]
            socket.create_connection((host, self.ports[name]), timeout=1).close()
            return True
        except OSError:
            return False

    def counted(self):
        """How many requests the log has so far: by family, or under `both`."""
        counts = {}
        for line in self.log().splitlines():
            found = re.search(self.logged, line)
            if found and "/hello" in line:
                address = found.groupdict().get("address") if self.by_family else None
                family = "both" if address is None else "ipv6" if ":" in address else "ipv4"
                counts[family] = counts.get(family, 0) + 1
        return counts

    def counted_as(self, expected):
        """The same, once the log has as many as expected, or late."""
        deadline = time.monotonic() + LOG_S
        while True:
            counts = self.counted()
            enough = all(counts.get(name, 0) >= count for name, count in expected.items())
            if enough or time.monotonic() > deadline:
                return counts
            time.sleep(0.05)


class Talkative(Server):
    """Its log is what it says."""

    def log(self):
        return (self.folder / "said").read_text(errors="replace")


class OnePerFamily(Talkative):
    """Listens at one address, so that there are two of it, each with a log of its own."""

    logged = r"."

    def commands(self):
        return [self.command(family, HOSTS[family]) for family in HOSTS]

    def command(self, family, host):
        """The command of the process for this family."""
        raise NotImplementedError

    def told(self, family, *command):
        """A command whose words go to a file of the family's."""
        script = f'exec "$@" >>{self.folder}/said.{family} 2>&1'
        return ["sh", "-c", script, "sh", *command]

    def counted(self):
        counts = {}
        for family in HOSTS:
            file = self.folder / f"said.{family}"
            lines = file.read_text(errors="replace").splitlines() if file.exists() else []
            found = sum(bool(re.search(self.logged, line)) and "/hello" in line for line in lines)
            counts[family] = found
        return counts
