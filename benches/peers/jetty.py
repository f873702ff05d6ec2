"""Jetty, which speaks HTTP/2 without TLS, on a CPU of its own."""

import subprocess
from pathlib import Path

from process import OneProcess

JARS = Path("/usr/share/java")
NAMES = (
    "jetty9-server", "jetty9-http", "jetty9-io", "jetty9-util", "jetty9-http2-server",
    "jetty9-http2-common", "jetty9-http2-hpack", "servlet-api",
)
# How long it is loaded before it is measured: the machine that runs it translates what is used
# much, and is slow until it has.
WARM_S = 4


class Jetty(OneProcess):
    """Serves 13 bytes at / while the `with` block runs, warmed up."""

    name = "jetty"
    version = ["dpkg-query", "-Wf", "Jetty ${Version} of Debian", "libjetty9-java"]
    needs = ["java", "javac", *(str(JARS / f"{name}.jar") for name in NAMES)]

    def __init__(self, sixmark, cpu):
        super().__init__()
        self.sixmark = sixmark
        jars = ":".join(self.needs[2:])
        program = Path(__file__).with_name("Jetty.java")
        java = ["java", "-cp", jars, str(program), "::1", "127.0.0.1"]
        self.command = ["taskset", "-c", str(cpu), *java]

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this program, which then stops the server.
            start_new_session=True,
        )
        try:
            ports = self.process.stdout.readline().split()
            if len(ports) != 2:
                raise SystemExit(f"{' '.join(self.command)}\ndid not start")
            self.ports = dict(zip(("ipv6", "ipv4"), map(int, ports)))
            self._warm_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _warm_up(self):
        urls = [self.url(family, "/", None) for family in self.ports]
        load = ["--http2-prior-knowledge", "-c8", "--streams", "32", "-d", f"{WARM_S}s"]
        subprocess.run([self.sixmark, "run", *load, *urls], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
