"""A real nginx with its own folder and ports, on a CPU of its own."""

import grp
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from process import cpu_seconds, end

# Long enough for a busy machine; nginx needs some 20 ms.
START_S = 10

# Of ports, one of each family.
KINDS = ("plain", "h2c", "tls", "resuming")

CONFIG = """\
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
{user}
events {{ worker_connections 8192; }}
http {{
    access_log off;
    # Each TLS connection's first request tells what was agreed on.
    map $connection_requests $first {{ 1 1; default 0; }}
    map $ssl_session_reused $handshake {{ r resumed; default full; }}
    log_format agreed "$server_protocol $ssl_protocol $ssl_cipher $ssl_curve $handshake";
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 60s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    default_type application/octet-stream;
    root {folder}/files;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    # Without this nginx 1.22 speaks TLS 1.2 at best.
    ssl_protocols TLSv1.3;
    # What all clients can do: left to themselves they agree on this and that.
    ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
    ssl_ecdh_curve X25519;
    server {{
        listen [::1]:{plain_ipv6} backlog=4096;
        listen 127.0.0.1:{plain_ipv4} backlog=4096;
        location = /hello {{ return 200 "hello, world\\n"; }}
    }}
    # Without TLS nginx 1.22 speaks one version at a port.
    server {{
        listen [::1]:{h2c_ipv6} http2 backlog=4096;
        listen 127.0.0.1:{h2c_ipv4} http2 backlog=4096;
        location = /hello {{ return 200 "hello, world\\n"; }}
    }}
    server {{
        listen [::1]:{tls_ipv6} ssl http2 backlog=4096;
        listen 127.0.0.1:{tls_ipv4} ssl http2 backlog=4096;
        access_log {folder}/agreed.log agreed if=$first;
        # Some clients resume whatever they can.
        ssl_session_tickets off;
        ssl_session_cache off;
        location = /hello {{ return 200 "hello, world\\n"; }}
    }}
    server {{
        listen [::1]:{resuming_ipv6} ssl http2 backlog=4096;
        listen 127.0.0.1:{resuming_ipv4} ssl http2 backlog=4096;
        access_log {folder}/agreed.log agreed if=$first;
        location = /hello {{ return 200 "hello, world\\n"; }}
    }}
}}
"""


class Nginx:
    """Serves /hello (13 bytes from memory) and /4k (a file) while the `with` block runs."""

    name = "nginx"
    version = ["nginx", "-v"]
    needs = ["nginx", "openssl"]

    def __init__(self, cpu):
        self.cpu = cpu
        self.folder = None
        self.process = None
        self.ports = {}

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="sixmark-peers-"))
        try:
            (self.folder / "files").mkdir()
            (self.folder / "files" / "4k").write_bytes(os.urandom(4096))
            certify(self.folder)
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, family, path, load):
        kind = kind_for(load)
        scheme = "https" if load.secure else "http"
        host = {"ipv6": "[::1]", "ipv4": "127.0.0.1"}[family]
        return f"{scheme}://{host}:{self.ports[f'{kind}_{family}']}{path}"

    def agreed(self):
        """TLS connections since the last time, by what was agreed on."""
        log = self.folder / "agreed.log"
        lines = log.read_text().splitlines()
        os.truncate(log, 0)
        return dict(Counter(lines))

    def cpu_seconds(self):
        """User and system time of the worker so far."""
        return sum(map(cpu_seconds, self._workers()))

    def _workers(self):
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

    def _start(self):
        # Between finding a port free and nginx taking it, somebody else may have taken it.
        for _ in range(5):
            for kind in KINDS:
                self.ports[f"{kind}_ipv6"] = free_port("::1")
                self.ports[f"{kind}_ipv4"] = free_port("127.0.0.1")
            if self._launch():
                return
        raise SystemExit(f"nginx did not start:\n{self._complaints()}")

    def _launch(self):
        config = self.folder / "nginx.conf"
        config.write_text(
            CONFIG.format(folder=self.folder, user=as_this_user(), **self.ports)
        )
        self.process = subprocess.Popen(
            ["taskset", "-c", str(self.cpu), "nginx", "-p", str(self.folder)]
            + ["-e", str(self.folder / "error.log"), "-c", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this program, which then stops nginx.
            start_new_session=True,
        )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return False
            if self._workers() and all(map(self._answers, ("ipv6", "ipv4"))):
                return True
            time.sleep(0.01)
        self._stop()
        return False

    def _answers(self, family):
        host = {"ipv6": "::1", "ipv4": "127.0.0.1"}[family]
        try:
            with socket.create_connection((host, self.ports[f"plain_{family}"]), timeout=1) as peer:
                peer.sendall(b"GET /hello HTTP/1.0\r\n\r\n")
                return peer.recv(64).startswith(b"HTTP/1.1 200")
        except OSError:
            return False

    def _stop(self):
        end(self.process, self._workers)

    def _complaints(self):
        log = self.folder / "error.log"
        return log.read_text() if log.exists() else "(it wrote no log)"


def kind_for(load):
    """Which of nginx's ports a load is for."""
    if load.secure:
        return "resuming" if load.resume else "tls"
    return "h2c" if load.http == 2 else "plain"


def certify(folder):
    """A certificate for loopback (ECDSA, P-256) that signs itself: no client here verifies it."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        + ["-nodes", "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost,IP:::1,IP:127.0.0.1"]
        + ["-keyout", str(folder / "key.pem"), "-out", str(folder / "certificate.pem")],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def free_port(host):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.bind((host, 0))
        return one.getsockname()[1]


def as_this_user():
    """root's worker would become nobody, who may not read a temporary folder."""
    if os.geteuid() != 0:
        return ""
    user = pwd.getpwuid(os.geteuid()).pw_name
    return f"user {user} {grp.getgrgid(os.getegid()).gr_name};"
