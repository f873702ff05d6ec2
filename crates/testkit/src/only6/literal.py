"""Fetches a URL from the service, whose address is written here.

    literal.py URL
"""

import http.client
import sys
from urllib.parse import urlsplit

ADDRESS = "203.0.113.80"
TIMEOUT = 5  # seconds
LENGTH = 1000  # bytes


def fetch(url):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(ADDRESS, parts.port or 80, timeout=TIMEOUT)
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
        sys.exit(f"literal: {ADDRESS}: {error}")
    if status != 200 or len(body) != LENGTH:
        sys.exit(f"literal: status {status}, {len(body)} bytes")


main()
