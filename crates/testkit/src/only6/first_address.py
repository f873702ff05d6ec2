"""Fetches a URL from the first address of its host.

    first_address.py URL
"""

import http.client
import socket
import sys
from urllib.parse import urlsplit

TIMEOUT = 5  # seconds
LENGTH = 1000  # bytes


def connect(host, port):
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = addresses[0]
    connected = socket.socket(family, kind, protocol)
    connected.settimeout(TIMEOUT)
    connected.connect(address)
    return connected


def fetch(url):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80)
    connection.sock = connect(parts.hostname, parts.port or 80)
    try:
        connection.request("GET", parts.path, headers={"Host": parts.netloc})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def main():
    try:
        status, body = fetch(sys.argv[1])
    except (OSError, http.client.HTTPException) as error:
        sys.exit(f"first_address: {error}")
    if status != 200 or len(body) != LENGTH:
        sys.exit(f"first_address: status {status}, {len(body)} bytes")


main()
