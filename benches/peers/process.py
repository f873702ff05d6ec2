"""What servers of one process have in common."""

import os
import subprocess
from pathlib import Path

# Long enough for a busy machine.
STOP_S = 5


def end(process, children=list):
    """Ends a process that was started here, if it runs; what does not end by itself is killed, with its children."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        left = children()
        process.kill()
        for pid in left:
            os.kill(int(pid), 9)
        process.wait()


class OneProcess:
    """A server that is one process, at a port for each family."""

    scheme = "http"

    def __init__(self):
        self.process = None
        self.ports = {}

    def __exit__(self, *_):
        self.stop()

    def url(self, family, path, load):
        host = {"ipv6": "[::1]", "ipv4": "127.0.0.1"}[family]
        return f"{self.scheme}://{host}:{self.ports[family]}{path}"

    def agreed(self):
        """It does not say."""
        return {}

    def cpu_seconds(self):
        """User and system time so far."""
        return cpu_seconds(self.process.pid)

    def stop(self):
        end(self.process)


def cpu_seconds(pid):
    """User and system time of a process so far."""
    # The name in the second field may include spaces; utime and stime are fields 14 and 15.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
