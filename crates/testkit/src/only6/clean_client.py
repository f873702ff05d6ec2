"""Fetches a URL with urllib, which tries all addresses of its host.

    clean_client.py URL
"""

import http.client
import sys
import urllib.request

TIMEOUT = 5  # seconds, for each address
LENGTH = 1000  # bytes


def main():
    # No proxy, whatever the environment says.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(sys.argv[1], timeout=TIMEOUT) as answer:
            status, body = answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        sys.exit(f"clean_client: {error}")
    if status != 200 or len(body) != LENGTH:
        sys.exit(f"clean_client: status {status}, {len(body)} bytes")


main()
