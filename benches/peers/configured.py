"""Servers of one process that are told all in a file: lighttpd, haproxy, Caddy."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from process import OneProcess
from server import START_S, certify, free_port


class Configured(OneProcess):
    """Serves /hello (13 bytes) while the `with` block runs."""

    def __init__(self, cpu):
        super().__init__()
        self.cpu = cpu
        self.folder = None

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sixmark-peers-"))
        try:
            (self.folder / "files").mkdir()
            (self.folder / "files" / "hello").write_bytes(b"hello, world\n")
            (self.folder / "files" / "4k").write_bytes(os.urandom(4096))
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

    def _start(self):
        # Between finding a port free and the server taking it, somebody else may have taken it.
        for _ in range(5):
            self.ports = {"ipv6": free_port("::1"), "ipv4": free_port("127.0.0.1")}
            if self._launch():
                return
        raise SystemExit(f"{self.name} did not start:\n{(self.folder / 'log').read_text()}")

    def _launch(self):
        config = self.folder / "config"
        config.write_text(self.config.format(folder=self.folder, **self.ports))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["taskset", "-c", str(self.cpu), *self.command, str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | self._homes(),
                # Ctrl-C is for this program, which then stops the server.
                start_new_session=True,
            )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            if all(map(self._listens, ("::1", "127.0.0.1"), self.ports.values())):
                return True
            time.sleep(0.01)
        self.stop()
        return False

    def _homes(self):
        """Where a server may keep what it likes to keep: nothing outlives the `with` block."""
        return dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(self.folder))

    def _listens(self, host, port):
        try:
            socket.create_connection((host, port), timeout=1).close()
            return True
        except OSError:
            return False


class Lighttpd(Configured):
    """Serves /hello and /4k, both files, over TLS 1.3."""

    name = "lighttpd"
    version = ["lighttpd", "-v"]
    # The module comes with a package of its own.
    needs = ["lighttpd", "/usr/lib/lighttpd/mod_openssl.so", "openssl"]
    command = ["lighttpd", "-D", "-f"]
    scheme = "https"
    config = """\
server.modules = ( "mod_openssl" )
server.document-root = "{folder}/files"
server.bind = "[::1]"
server.port = {ipv6}
server.max-connections = 4096
server.max-fds = 16384
server.listen-backlog = 4096
mimetype.assign = ( "" => "application/octet-stream" )
ssl.engine = "enable"
ssl.pemfile = "{folder}/pair.pem"
# As nginx beside it, so that all clients agree on the same.
ssl.openssl.ssl-conf-cmd = (
    "MinProtocol" => "TLSv1.3", "Ciphersuites" => "TLS_AES_256_GCM_SHA384", "Curves" => "X25519"
)
$SERVER["socket"] == "127.0.0.1:{ipv4}" {{ ssl.engine = "enable" }}
"""


class Haproxy(Configured):
    """Answers whatever is asked with 13 bytes of its own."""

    name = "haproxy"
    version = ["haproxy", "-v"]
    needs = ["haproxy", "openssl"]
    command = ["haproxy", "-db", "-f"]
    config = """\
global
    nbthread 1
    maxconn 8192
defaults
    mode http
    timeout client 60s
    timeout server 60s
    timeout connect 5s
frontend hello
    bind [::1]:{ipv6} backlog 4096
    bind 127.0.0.1:{ipv4} backlog 4096
    http-request return status 200 content-type text/plain string "hello, world\\n"
"""


class Caddy(Configured):
    """Serves /hello and /4k, both files, over HTTP/3, 2 and 1.1 with TLS 1.3."""

    name = "caddy"
    version = ["caddy", "version"]
    needs = ["caddy", "openssl"]
    command = ["caddy", "run", "--adapter", "caddyfile", "--config"]
    scheme = "https"
    config = """\
{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2 h3
    }}
}}
(all) {{
    tls {folder}/certificate.pem {folder}/key.pem {{
        protocols tls1.3
        curves x25519
    }}
    root * {folder}/files
    file_server
}}
https://:{ipv6} {{
    bind ::1
    import all
}}
https://:{ipv4} {{
    bind 127.0.0.1
    import all
}}
"""

    def _listens(self, host, port):
        """HTTP/3's socket follows that of TCP."""
        return super()._listens(host, port) and takes_datagrams(host, port)


def takes_datagrams(host, port):
    """On loopback the kernel refuses at once what no socket takes."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.settimeout(0.05)
        try:
            one.connect((host, port))
            one.send(b"?")
            one.recv(1)
        except TimeoutError:
            return True
        except OSError:
            return False
    return True
