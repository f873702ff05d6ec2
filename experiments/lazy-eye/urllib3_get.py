"""Gets a URL once with urllib3, without another attempt."""

import sys

import urllib3

urllib3.PoolManager().request("GET", sys.argv[1], retries=False)
