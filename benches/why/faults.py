"""Faults of one of two servers that are otherwise alike, with the part of the response that each makes longer."""

from dataclasses import dataclass, field

# The round trip to both servers without a fault, and with the fault "delay", in milliseconds.
ROUND_TRIP_MS = 20
LONGER_MS = 30
# A round trip of the faulty server's path, as it was measured.
A_ROUND_TRIP = "a round trip"


@dataclass(frozen=True)
class Fault:
    name: str
    # The parts that become longer, with the milliseconds; None if these are not known. Any of them may be the first cause. Empty
    # if the sides are alike.
    parts: dict
    # Lines of the file of the lab: of the faulty server's host, and of the links that lead to it.
    host: str = ""
    router: str = ""
    link: str = ""
    delay_ms: int = ROUND_TRIP_MS // 2
    # The server of both sides, and what the faulty one has of its own; see servers.py.
    server: str = "origin"
    usual: dict = field(default_factory=dict)
    faulty: dict = field(default_factory=dict)
    # The path of the request to the faulty server and to the other.
    paths: tuple = ("/bytes/1000", "/bytes/1000")
    # The sides can't be compared, because their responses differ or requests fail: no cause is right.
    unlike: bool = False
    # Options of compare.
    options: tuple = ()
    block: str = "500ms"
    secure: bool = False


NEW = ("--no-keep-alive",)
RESUMED = ("--no-keep-alive", "--resume", "on")
BIG, MIDDLE, SEGMENTS = ("/k100",) * 2, ("/k30",) * 2, ("/k13",) * 2
SLOWER = ("/delay/22", "/delay/12")
OLD = {"protocols": "TLSv1.2"}
CACHED, UNCACHED = {"cache": True}, {"cache": False}


def no_faults():
    return [
        Fault("none", {}),
        Fault("none, new connections", {}, options=NEW),
        Fault("none, TLS", {}, options=NEW, server="nginx", secure=True),
        Fault("none, 100 kB", {}, paths=BIG, server="nginx", options=NEW),
    ]


def single_faults():
    delayed = LONGER_MS // 2
    return [
        Fault("delay", {"round_trips": 10}, delay_ms=delayed),
        Fault("loss of 1 %", {"recovery": None, "pauses": None}, link='loss = "1%"', paths=BIG, server="nginx", block="1s"),
        Fault("reordering of 5 %", {"recovery": None, "flights": None, "transfer": None}, link='delay = "9ms"\nreorder = "5%"', delay_ms=1, paths=BIG, server="nginx", block="1s"),
        Fault("rate of 20 Mbit/s", {"transfer": None}, link='rate = "20Mbit/s"', paths=BIG, server="nginx"),
        Fault("MTU of 1280, Packet Too Big", {"flights": A_ROUND_TRIP}, link="mtu = 1280", paths=SEGMENTS, server="nginx", options=NEW),
        Fault("MSS clamped", {"flights": A_ROUND_TRIP}, link="mtu = 1280", router="clamp-mss = true", paths=SEGMENTS, server="nginx", options=NEW),
        Fault("initial window of 2 segments", {"flights": None}, host="initial-window = 2", paths=MIDDLE, server="nginx", options=NEW),
        Fault("long chain of certificates", {"tls": None}, server="nginx", faulty={"chain": "long"}, options=NEW, secure=True),
        Fault("TLS 1.2", {"tls": A_ROUND_TRIP}, server="nginx", faulty=OLD, options=NEW, secure=True),
        Fault("no resumption", {"tls": A_ROUND_TRIP}, server="nginx", usual=OLD, faulty={"sessions": False}, options=RESUMED, secure=True),
        Fault("slow application", {"server": 10}, paths=SLOWER),
        Fault("busy application", {"server": 4}, paths=("/busy/4000", "/busy/0")),
        Fault("starved listener", {"server": None}, faulty={"pause": "30ms/40ms"}),
        Fault("another cache", {"server": None}, server="nginx", usual=CACHED, faulty=UNCACHED, paths=("/slow",) * 2),
        Fault("keep-alive off", {"connect": A_ROUND_TRIP}, faulty={"closes": True}),
        Fault("compression off", {}, unlike=True, server="nginx", usual={"gzip": True}, faulty={"gzip": False},
              paths=("/text",) * 2, options=(*NEW, "-H", "Accept-Encoding: gzip")),
        Fault("full accept queue", {}, unlike=True, faulty={"accept": 0.25}, options=NEW, block="4s"),
    ]


def pairs_of_faults():
    delayed = LONGER_MS // 2
    tls = {"server": "nginx", "options": NEW, "secure": True}
    slow = {"usual": CACHED, "paths": ("/slow",) * 2}
    return [
        Fault("delay, slow application", {"round_trips": 10, "server": 10}, delay_ms=delayed, paths=SLOWER),
        Fault("delay, busy application", {"round_trips": 10, "server": 4}, delay_ms=delayed, paths=("/busy/4000", "/busy/0")),
        Fault("short delay, slow application", {"round_trips": 4, "server": 10}, delay_ms=12, paths=SLOWER),
        Fault("delay, keep-alive off", {"round_trips": 10, "connect": A_ROUND_TRIP}, delay_ms=delayed, faulty={"closes": True}),
        Fault("slow application, keep-alive off", {"server": 10, "connect": A_ROUND_TRIP}, faulty={"closes": True}, paths=SLOWER),
        Fault("delay, TLS 1.2", {"round_trips": 30, "tls": A_ROUND_TRIP}, delay_ms=delayed, faulty=OLD, **tls),
        Fault("other cache, TLS 1.2", {"server": None, "tls": A_ROUND_TRIP}, faulty={**OLD, **UNCACHED}, **tls, **slow),
        Fault("other cache, long chain", {"server": None, "tls": None}, faulty={"chain": "long", **UNCACHED}, **tls, **slow),
        Fault("delay, long chain", {"round_trips": 30, "tls": None}, delay_ms=delayed, faulty={"chain": "long"}, **tls),
        Fault("delay, no resumption", {"round_trips": 30, "tls": A_ROUND_TRIP}, delay_ms=delayed, usual=OLD, faulty={"sessions": False},
              **{**tls, "options": RESUMED}),
    ]


def all_faults():
    return [*no_faults(), *single_faults(), *pairs_of_faults()]
