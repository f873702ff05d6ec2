"""Where there is a server to load: on loopback, and behind a link of a lab. Each is made when it is first asked for."""

import contextlib
import multiprocessing
import os
import random
import subprocess
import tempfile
import time

LAB = """
name = "verdicts"
[hosts.client]
[hosts.server]
[links.way]
between = ["client", "server"]
delay = "5ms"
[services.plain]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
[services.secure]
host = "server"
command = ["{sixmark}", "origin", "--tls", "--http3", "--listen", "[{server.ipv6}]:443", "--listen", "{server.ipv4}:443"]
urls = ["https://[{server.ipv6}]:443", "https://{server.ipv4}:443"]
"""
HOST = {"ipv6": "[fd00:0:0:1::2]", "ipv4": "10.0.1.2"}


class Places:
    """Servers that run until the end."""

    def __init__(self, sixmark):
        self.sixmark = sixmark
        self.undo = contextlib.ExitStack()
        self.origins = {}
        self.lab = None
        self.noise = None

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.undo.close()

    def url(self, mode, family):
        """Of the mode's server over a family, without a path."""
        secure = mode.protocol != "HTTP/1.1"
        if mode.place == "lab":
            self.lab = self.lab or self.bring_up()
            return f"{'https' if secure else 'http'}://{HOST[family]}"
        if mode.place == "noisy":
            self.noise = self.noise or self.begin_noise()
        elif self.noise:
            self.end_noise()
        if secure not in self.origins:
            self.origins[secure] = self.origin(["--tls", "--http3"] if secure else [])
        return self.origins[secure][family]

    def words(self, mode):
        """Options that the place asks for."""
        return ["--in", "client", "--lab", self.lab] if mode.place == "lab" else []

    def origin(self, options):
        server = subprocess.Popen([self.sixmark, "origin", *options], stdout=subprocess.PIPE, text=True)
        self.undo.callback(stop, server)
        v6, v4 = (server.stdout.readline().strip().rstrip("/") for _ in range(2))
        return {"ipv6": v6, "ipv4": v4}

    def bring_up(self):
        folder = self.undo.enter_context(tempfile.TemporaryDirectory())
        file, name = os.path.join(folder, "lab.toml"), f"verdicts-{os.getpid()}"
        with open(file, "w", encoding="utf-8") as text:
            text.write(LAB)
        subprocess.run([self.sixmark, "lab", "up", file, "--name", name, "--detach"], check=True, stdout=subprocess.DEVNULL)
        down = [self.sixmark, "lab", "down", name]
        self.undo.callback(subprocess.run, down, check=False, stdout=subprocess.DEVNULL)
        return name

    def begin_noise(self):
        workers = [multiprocessing.Process(target=come_and_go, args=(seed,), daemon=True) for seed in (6, 7)]
        for worker in workers:
            worker.start()
        return workers

    def end_noise(self):
        for worker in self.noise:
            worker.terminate()
            worker.join()
        self.noise = None


def stop(server):
    server.terminate()
    server.wait()


def come_and_go(seed):
    """Computes and rests for random times, at low priority."""
    os.nice(10)
    chance = random.Random(seed)
    while True:
        end = time.monotonic() + chance.expovariate(1 / 0.05)
        while time.monotonic() < end:
            pass
        time.sleep(chance.expovariate(1 / 0.2))
