"""A client of HTTP that races as its arguments say: KEY=VALUE..., and the URL last.

Without any it does what RFC 8305 and draft-ietf-happy-happyeyeballs-v3 ask for. It asks the name server of
/etc/resolv.conf itself and takes addresses in the order of the answers.

queries   types of query; a comma stands between those that are sent together, ">" before one that is sent
          once the earlier ones are answered
wait      how long the answer for A waits for that for AAAA, in milliseconds; or what the first attempt waits
          for, for ever: both, aaaa, a
first     the family of the first attempt, 6 or 4
ahead     how many addresses of that family come before the families take turns
families  the families that are tried at all
most      how many addresses of each family are tried
delay     milliseconds from an attempt to the next one, or a list of them, whose last one is repeated
refused   next: after a failure the next attempt begins at once; wait: after the delay
earlier   stay: earlier attempts go on beside later ones; end: the next attempt ends the one before
losers    end: other attempts end once one has won; stay: they are left open
linger    how long it runs on when the content is there, in milliseconds
won       tls: an attempt over TLS has won after the handshake; tcp: before
server    the name server, if it is another one
log       a file, to which the port of each attempt and when it began in milliseconds are added
patience  after how many milliseconds it gives up
times     how often it connects: all but the first time to the same address, once the content is there
"""

import errno
import select
import socket
import struct
import sys
import time

TYPES = {"A": 1, "AAAA": 28, "HTTPS": 65}
BOOK = {
    "queries": "HTTPS,AAAA,A", "wait": "50", "first": "6", "ahead": "1", "families": "64", "most": "99",
    "delay": "250", "refused": "next", "earlier": "stay", "losers": "end", "linger": "0", "won": "tls",
    "patience": "10000", "times": "1", "server": "", "log": "",
}


def now():
    return time.monotonic()


class Resolver:
    """Asks for all types, each once."""

    def __init__(self, name, queries, server):
        server = server or next(line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver"))
        self.name = name
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((server, 53))
        self.steps = [step.split(",") for step in queries.split(">")]
        self.asked = []
        self.answers = {}
        self.ask()

    def ask(self):
        """Sends the queries of the next step, if all earlier ones are answered."""
        while self.steps and all(kind in self.answers for kind in self.asked):
            for kind in self.steps.pop(0):
                labels = b"".join(bytes([len(of)]) + of.encode() for of in self.name.split("."))
                head = struct.pack(">6H", TYPES[kind], 0x0100, 1, 0, 0, 0)
                self.socket.send(head + labels + b"\0" + struct.pack(">2H", TYPES[kind], 1))
                self.asked.append(kind)

    def read(self):
        message = self.socket.recv(4096)
        kind = next(of for of, number in TYPES.items() if number == struct.unpack(">H", message[:2])[0])
        records, place = struct.unpack(">H", message[6:8])[0], 12
        while message[place]:
            place += 1 + message[place]
        place += 5
        addresses = []
        for _ in range(records):
            while 0 < message[place] < 0xC0:
                place += 1 + message[place]
            place += 2 if message[place] else 1
            of, _, _, length = struct.unpack(">HHIH", message[place:place + 10])
            data = message[place + 10:place + 10 + length]
            place += 10 + length
            if of in (1, 28):
                family = socket.AF_INET6 if of == 28 else socket.AF_INET
                addresses.append(socket.inet_ntop(family, data))
        self.answers.setdefault(kind, (now(), addresses))
        self.ask()

    def addresses(self, family):
        return self.answers.get("AAAA" if family == "6" else "A", (0, []))[1]

    def begins_from(self, wait):
        """When the first attempt may begin; None if that is not known yet."""
        aaaa, a = self.answers.get("AAAA"), self.answers.get("A")
        if wait in ("both", "aaaa", "a"):
            needed = {"both": [aaaa, a], "aaaa": [aaaa], "a": [a]}[wait]
            return max(of[0] for of in needed) if all(needed) else None
        if aaaa and aaaa[1]:
            return aaaa[0]
        if a is None:
            return None
        return max(a[0], aaaa[0]) if aaaa else a[0] + int(wait) / 1e3


class Attempt:
    def __init__(self, family, address, port, context, host):
        self.family, self.context, self.host = family, context, host
        kind = socket.AF_INET6 if family == "6" else socket.AF_INET
        self.socket = socket.socket(kind, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.state = "connecting"
        self.got = b""
        self.begun = now()
        failed = self.socket.connect_ex((address, port))
        self.port = self.socket.getsockname()[1]
        if failed not in (0, errno.EINPROGRESS):
            raise OSError(failed, address)

    def advance(self):
        """Goes on after an event. Raises OSError on a failure."""
        if self.state == "connecting":
            failed = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failed:
                raise OSError(failed, "connect")
            self.state = "established"
            if self.context:
                self.socket = self.context.wrap_socket(
                    self.socket, server_hostname=self.host, do_handshake_on_connect=False)
        if self.state == "established" and self.is_done(getattr(self.socket, "do_handshake", lambda: None)):
            self.state = "secured"
        elif self.state == "asked":
            self.is_done(self.receive)

    def is_done(self, work):
        """Returns whether work was done that a TLS handshake may hold up."""
        try:
            work()
            return True
        except OSError as error:
            if type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError", "BlockingIOError"):
                return False
            raise

    def ask(self, path):
        self.socket.send(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\nConnection: close\r\n\r\n".encode())
        self.state = "asked"

    def receive(self):
        while self.state == "asked":
            data = self.socket.recv(65536)
            self.got += data
            head, _, body = self.got.partition(b"\r\n\r\n")
            if not data or head and len(body) >= 1000:
                self.state = "content"


class Client:
    def __init__(self, words, url):
        self.set = BOOK | dict(word.split("=", 1) for word in words)
        scheme, _, rest = url.partition("://")
        self.host, _, path = rest.partition("/")
        self.path = "/" + path
        self.port, self.context = 80, None
        if scheme == "https":
            import ssl
            self.port, self.context = 443, ssl._create_unverified_context()
        self.delays = [int(of) / 1e3 for of in self.set["delay"].split(",")]
        self.resolver = Resolver(self.host, self.set["queries"], self.set["server"])
        self.attempts, self.tried, self.winner = [], [], None
        self.begun = []
        self.next_due = 0.0

    def next_address(self):
        """The family and address of the next attempt; None if there is none."""
        def left(family):
            if family not in self.set["families"]:
                return []
            count = self.tried.count(family)
            return self.resolver.addresses(family)[:int(self.set["most"])][count:]

        first = self.set["first"]
        other = {"6": "4", "4": "6"}
        wanted = first if len(self.tried) < int(self.set["ahead"]) else other[self.tried[-1]]
        for family in (wanted, other[wanted]):
            if left(family):
                return family, left(family)[0]
        return None

    def due(self):
        """When the next attempt begins; None if that is not known."""
        begins = self.resolver.begins_from(self.set["wait"])
        if self.winner or begins is None or self.next_address() is None:
            return None
        return max(begins, self.next_due)

    def begin(self):
        family, address = self.next_address()
        self.tried.append(family)
        self.next_due = now() + self.delays[min(len(self.tried), len(self.delays)) - 1]
        if self.set["earlier"] == "end":
            for of in self.attempts:
                of.socket.close()
            self.attempts = []
        try:
            attempt = Attempt(family, address, self.port, self.context, self.host)
            self.attempts.append(attempt)
            self.begun.append(f"{attempt.port} {attempt.begun * 1e3:.3f}\n")
        except OSError:
            self.fail()

    def fail(self):
        if self.set["refused"] == "next":
            self.next_due = 0.0

    def look(self, attempt):
        """Notes what became of an attempt."""
        try:
            attempt.advance()
            winning = ("established", "secured") if self.set["won"] == "tcp" else ("secured",)
            if attempt.state in winning and self.winner is None:
                self.winner = attempt
                if self.set["losers"] == "end":
                    for of in self.attempts:
                        if of is not attempt:
                            of.socket.close()
                    self.attempts = [attempt]
            if attempt.state == "secured" and attempt is self.winner:
                attempt.ask(self.path)
        except OSError:
            attempt.socket.close()
            self.attempts.remove(attempt)
            self.winner = None if attempt is self.winner else self.winner
            self.fail()

    def run(self):
        end = now() + int(self.set["patience"]) / 1e3
        while now() < end:
            due = self.due()
            if due is not None and due <= now():
                self.begin()
                continue
            until = end if due is None else min(due, end)
            connecting = [of.socket for of in self.attempts if of.state == "connecting"]
            others = [of.socket for of in self.attempts if of.state not in ("connecting", "secured")]
            readable, writable, _ = select.select(
                [self.resolver.socket] + others, connecting, [], max(0.0, until - now()))
            if self.resolver.socket in readable:
                self.resolver.read()
            for of in list(self.attempts):
                if of.socket in readable or of.socket in writable:
                    self.look(of)
            if self.winner and self.winner.state == "content":
                address = self.resolver.addresses(self.winner.family)[0]
                for _ in range(1, int(self.set["times"])):
                    Attempt(self.winner.family, address, self.port, None, self.host).socket.close()
                time.sleep(int(self.set["linger"]) / 1e3)
                return 0
        return 28


def main():
    client = Client(sys.argv[1:-1], sys.argv[-1])
    status = client.run()
    if client.set["log"]:
        with open(client.set["log"], "a") as log:
            log.writelines(client.begun)
    return status


if __name__ == "__main__":
    sys.exit(main())
