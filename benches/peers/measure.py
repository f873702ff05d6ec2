"""Runs one client once and says how fast it was and what it cost."""

import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from clients import Unreadable

# How long after its planned end a client may still be busy with its own summary.
GRACE_S = 60


@dataclass(frozen=True)
class Sample:
    """One run of one client."""

    requests: int
    failed: int
    elapsed_s: float
    client_cpu_s: float
    # Shares of one CPU, over the client's life.
    client_busy: float
    server_busy: float
    # Share of both CPUs that went to neither.
    others_busy: float
    # What was carried, without heads.
    gigabytes: float
    # Connections by what the server says was agreed on; empty where it doesn't.
    agreed: dict

    @property
    def per_s(self):
        return self.requests / self.elapsed_s

    @property
    def per_cpu_s(self):
        return self.requests / self.client_cpu_s

    @property
    def cpu_s_per_gb(self):
        return self.client_cpu_s / self.gigabytes

    def as_dict(self):
        names = ("per_s", "per_cpu_s", "cpu_s_per_gb")
        return asdict(self) | {name: getattr(self, name) for name in names}


def measure(client, case, family, url, server, cpus):
    load = case.load
    with tempfile.TemporaryDirectory(prefix="sixmark-peers-") as folder:
        command = client.command(load, family, url, folder)
        server.agreed()
        began, all_before, server_before = time.monotonic(), busy(cpus), server.cpu_seconds()
        text, usage = run(["taskset", "-c", str(cpus[0]), *command], folder, load.seconds or 0)
        server_s = server.cpu_seconds() - server_before
        all_s = busy(cpus) - all_before
        wall_s = time.monotonic() - began
        try:
            answer = client.read(text, load, family, folder)
        except Unreadable as error:
            raise SystemExit(f"{' '.join(command)}\nunreadable: {error}\n{text}") from error
    if answer.requests == 0:
        raise SystemExit(f"{' '.join(command)}\ncompleted no request:\n{text}")
    client_s = usage.ru_utime + usage.ru_stime
    return Sample(
        requests=answer.requests,
        failed=answer.failed,
        elapsed_s=answer.elapsed_s or wall_s,
        client_cpu_s=client_s,
        client_busy=client_s / wall_s,
        server_busy=server_s / wall_s,
        others_busy=max(0.0, all_s - server_s - client_s) / wall_s / len(cpus),
        gigabytes=answer.requests * case.bytes / 1e9,
        agreed=server.agreed(),
    )


def busy(cpus):
    """Seconds that these CPUs have spent on anything: user, nice, system, irq, softirq, steal."""
    names = {f"cpu{cpu}" for cpu in cpus}
    ticks = 0
    for line in Path("/proc/stat").read_text().splitlines():
        name, *fields = line.split()
        if name in names:
            user, nice, system, _idle, _iowait, *rest = map(int, fields[:8])
            ticks += user + nice + system + sum(rest)
    return ticks / os.sysconf("SC_CLK_TCK")


def run(command, folder, seconds):
    """The output and the resource usage of `command`, which taskset becomes: same process."""
    output = Path(folder) / "output"
    with output.open("wb") as file:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
    late = False
    try:
        late = not ended(child.pid, seconds + GRACE_S)
    finally:
        # Not reaped yet, so the id is still this child's.
        if late or not ended(child.pid, 0):
            os.kill(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = output.read_text(errors="replace")
    if late:
        raise SystemExit(f"{' '.join(command)}\nwas not done in time:\n{text}")
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nended with {child.returncode}:\n{text}")
    return text, usage


def ended(pid, seconds):
    """Waits without reaping: the child's usage is wait4's to tell."""
    file = os.pidfd_open(pid)
    try:
        return bool(select.select([file], [], [], seconds)[0])
    finally:
        os.close(file)
