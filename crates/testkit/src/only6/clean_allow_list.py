"""Serves 1000 bytes at any path to the hosts of an allow list.

    clean_allow_list.py PORT NETWORK,NETWORK...
"""

import http.server
import ipaddress
import socket
import socketserver
import sys

BODY = b"x" * 1000


class Server(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    networks = []

    def do_GET(self):
        if not self.is_allowed():
            self.send_error(403)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def is_allowed(self):
        peer = ipaddress.ip_address(self.client_address[0])
        # A dual-stack socket shows an IPv4 address as ::ffff:a.b.c.d.
        peer = getattr(peer, "ipv4_mapped", None) or peer
        return any(peer in network for network in self.networks)

    def log_message(self, *_):
        pass


def main():
    port, networks = sys.argv[1:]
    Handler.networks = [ipaddress.ip_network(network) for network in networks.split(",")]
    with Server(("", int(port)), Handler) as server:
        server.serve_forever()


main()
