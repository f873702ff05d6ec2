"""More clients: two load generators and two that copy files."""

import json
import subprocess
from urllib.parse import urlsplit

from clients import Answer, Unreadable, find


# About as many as one CPU's TLS handshakes.
CONNECTIONS_A_SECOND = 4000


class H2load:
    name = "h2load"
    program = "h2load"
    version = ["h2load", "--version"]
    records = "request, connect and first-byte times of each request, kept to the end; reads heads"

    def can(self, load):
        # It resumes whatever the server lets it.
        kept = load.keep_alive or load.secure
        return kept and load.http < 3 and not load.files and load.body is None

    def command(self, load, family, url, folder):
        # Of itself it leaves the brackets of an IPv6 address out, which nginx refuses.
        heads = ["-H", f":authority: {urlsplit(url).netloc}"]
        heads += [] if load.keep_alive else ["-H", "Connection: close"]
        shape = ["-t1", f"-c{load.connections}", *self.until(load)]
        return [self.program, *self.spoken(load), *shape, *heads, url]

    def spoken(self, load):
        return ["--h1"] if load.http == 1 else ["-m", str(load.streams)]

    def until(self, load):
        if load.requests:
            return ["-n", str(load.requests)]
        if load.keep_alive:
            return ["-D", str(load.seconds)]
        # With -D it would not end once connections close.
        return ["-n", str(load.seconds * CONNECTIONS_A_SECOND)]

    def read(self, text, load, family, folder):
        rate = float(find(r"finished in [\d.]+\w+, ([\d.]+) req/s", text)[0])
        done, failed = map(int, find(r"(\d+) done, \d+ succeeded, (\d+) failed", text))
        return Answer(done, done / rate if rate else None, failed)


class Http3H2load(H2load):
    """A build with HTTP/3, which is no package of Debian's: it is used for nothing else."""

    name = "h2load h3"
    absence = "set H2LOAD=path to a build of h2load with HTTP/3"

    def __init__(self, program):
        """Without a program its rows give the reason in place of figures."""
        self.program = program
        self.version = [program, "--version"]

    def can(self, load):
        return load.keep_alive and load.http == 3 and load.body is None

    def spoken(self, load):
        return ["--h3", "-m", str(load.streams)]


def knows_http3(program):
    """Without HTTP/3 in it h2load's help lacks the option."""
    done = subprocess.run([program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return b"--h3" in done.stdout


class Oha:
    name = "oha"
    program = "oha"
    version = ["oha", "--version"]
    records = "start, connect, first byte and end of each request, kept to the end; reads every byte"

    def can(self, load):
        # It runs out of tickets, so that but a part of its sessions is resumed.
        return load.body is None and not load.resume

    def command(self, load, family, url, folder):
        until = ["-n", str(load.requests)] if load.requests else ["-z", f"{load.seconds}s"]
        keep_alive = [] if load.keep_alive else ["--disable-keepalive"]
        shape = ["--worker-threads", "1", "-c", str(load.connections), *until, *keep_alive]
        if load.http > 1:
            shape += ["--http-version", str(load.http), "-p", str(load.streams)]
        target = named(url) if load.secure else [url]
        return [self.program, "--no-tui", "--output-format", "json", *shape, *target]

    def read(self, text, load, family, folder):
        try:
            result = json.loads(text[text.index("{"):])
            statuses = result["statusCodeDistribution"]
            done = sum(statuses.values())
            good = sum(count for status, count in statuses.items() if status.startswith("2"))
            # What the end of the run cut off did not fail.
            errors = result["errorDistribution"].items()
            failed = sum(count for error, count in errors if error != "aborted due to deadline")
            # Over HTTP/3 its own figure includes a second in which connections close.
            elapsed_s = load.seconds if load.http == 3 else result["summary"]["total"]
            return Answer(done, elapsed_s, done - good + failed)
        except (ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"{type(error).__name__}: {error}") from error


def named(url):
    """With TLS oha needs a name where others take an address."""
    to = urlsplit(url)
    name = f"localhost:{to.port}"
    return ["--insecure", "--connect-to", f"{name}:{to.netloc}", f"https://{name}{to.path}"]


class Curl:
    name = "curl"
    program = "curl"
    version = ["curl", "--version"]
    records = "nothing; hands every byte to /dev/null"

    def can(self, load):
        return load.files and load.requests is not None

    def command(self, load, family, url, folder):
        # It asks for the same address so often as it has numbers for the query.
        many = f"{url}?[1-{load.requests}]"
        upload = ["-X", "POST", "-T", load.body] if load.body else []
        told = ["-o", "/dev/null", "-w", "%{stderr}status=%{http_code}\\n"]
        return [self.program, "-q", "-sS", *upload, *told, many]

    def read(self, text, load, family, folder):
        statuses = [line for line in text.splitlines() if line.startswith("status=")]
        return Answer(len(statuses), None, sum(one != "status=200" for one in statuses))


class Wget:
    name = "wget"
    program = "wget"
    version = ["wget", "--version"]
    records = "nothing; hands every byte to /dev/null"

    def can(self, load):
        return load.files and load.requests is not None and load.body is None

    def command(self, load, family, url, folder):
        urls = [f"{url}?{number}" for number in range(load.requests)]
        return [self.program, "--no-config", "-nv", "-O", "/dev/null", *urls]

    def read(self, text, load, family, folder):
        done = sum('-> "/dev/null"' in line for line in text.splitlines())
        return Answer(done, None, 0)
