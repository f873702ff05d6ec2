"""Passes each GET to a backend.

    clean_proxy.py PORT BACKEND_URL
"""

import http.client
import http.server
import socket
import socketserver
import sys
from urllib.parse import urlsplit

TIMEOUT = 5  # seconds


class Server(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


def fetch(backend, path):
    parts = urlsplit(backend)
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=TIMEOUT)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    backend = ""

    def do_GET(self):
        try:
            status, body = fetch(self.backend, self.path)
        except (OSError, http.client.HTTPException) as error:
            print(f"clean_proxy: {self.backend}: {error}", file=sys.stderr)
            self.send_error(502)
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    port, Handler.backend = sys.argv[1:]
    with Server(("", int(port)), Handler) as server:
        server.serve_forever()


main()
