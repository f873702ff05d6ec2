"""What there is to test."""

import dataclasses
import itertools

KINDS = {"equal": "compare", "slower": "compare", "shared": "run"}
LOADS = {"compare": ["closed", "constant", "poisson"], "run": ["closed", "constant", "poisson", "ramp"]}
RATIOS = ["1:1", "4:1", "1:4"]
THREADS = [1, 2]
DRIVERS = ["uring", "epoll"]
PROTOCOLS = ["HTTP/1.1", "HTTP/2", "HTTP/3"]
# Beside noise: two processes of low priority compute and rest at random.
PLACES = ["loopback", "noisy", "lab"]


@dataclasses.dataclass(frozen=True)
class Mode:
    """One way to load a server. Only runs have a ratio: the sides of a comparison are one family each."""

    kind: str
    load: str
    ratio: str = RATIOS[0]
    threads: int = THREADS[0]
    driver: str = DRIVERS[0]
    protocol: str = PROTOCOLS[0]
    place: str = PLACES[0]

    @property
    def command(self):
        return KINDS[self.kind]

    def name(self):
        """As it stands in tables and in the file of results."""
        ratio = [self.ratio] if self.command == "run" else []
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        words = [f"{self.command}, {self.kind}", self.load, *ratio, threads, self.driver, self.protocol, self.place]
        return ", ".join(words)

    def fits(self, words):
        return all(word in self.name() for word in words.split())

    def departures(self):
        """In how much it is not the usual one of its kind and load."""
        usual = Mode(self.kind, self.load)
        return sum(getattr(self, field.name) != getattr(usual, field.name) for field in dataclasses.fields(Mode))


def all_modes(every):
    """The usual one of each kind and load, and those that differ from it in one thing; or every combination."""
    combinations = (
        Mode(kind, load, *rest)
        for kind, command in KINDS.items()
        for load in LOADS[command]
        for rest in itertools.product(RATIOS if command == "run" else RATIOS[:1], THREADS, DRIVERS, PROTOCOLS, PLACES)
    )
    return [mode for mode in combinations if every or mode.departures() <= 1]
