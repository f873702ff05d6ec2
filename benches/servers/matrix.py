"""The servers, by the name of their package or runtime."""

import getpass
import socket
from pathlib import Path

from server import as_this_user
from started import HOSTS, OnePerFamily, Server, Talkative

APPS = Path(__file__).parent / "apps"
PYTHON = "/usr/bin/python3"
ONE = ["http/1.1", "http/1.0", "close"]
TLS = ["tls"]


class Nginx(Server):
    name = "nginx"
    needs = ["nginx"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2"]
    files = {"config": """\
daemon off;
pid {folder}/pid;
error_log {folder}/said;
%(user)s
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    log_format line "$remote_addr $request_uri $server_protocol $status";
    access_log {folder}/log line;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    root {folder}/files;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
    server {{ listen [::1]:{plain_ipv6}; listen 127.0.0.1:{plain_ipv4}; }}
    server {{ listen [::1]:{tls_ipv6} ssl http2; listen 127.0.0.1:{tls_ipv4} ssl http2; }}
}}
""" % {"user": as_this_user().replace("{", "{{").replace("}", "}}")}}

    def commands(self):
        return [["nginx", "-p", self.folder, "-e", "said", "-c", self.folder / "config"]]


class Apache(Server):
    name = "apache2"
    needs = ["/usr/sbin/apache2"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c"]
    files = {"config": """\
ServerRoot {folder}
ServerName localhost
PidFile {folder}/pid
ErrorLog {folder}/said
DefaultRuntimeDir {folder}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
Listen [::1]:{plain_ipv6}
Listen 127.0.0.1:{plain_ipv4}
Listen [::1]:{tls_ipv6}
Listen 127.0.0.1:{tls_ipv4}
Protocols h2 h2c http/1.1
MaxKeepAliveRequests 0
DocumentRoot {folder}/files
LogFormat "%h %U %H %>s" line
CustomLog {folder}/log line
SSLSessionCache none
<VirtualHost *:{tls_ipv6} *:{tls_ipv4}>
    SSLEngine on
    SSLCertificateFile {folder}/certificate.pem
    SSLCertificateKeyFile {folder}/key.pem
</VirtualHost>
"""}

    def commands(self):
        return [["/usr/sbin/apache2", "-X", "-d", self.folder, "-f", self.folder / "config"]]


class Lighttpd(Server):
    name = "lighttpd"
    needs = ["lighttpd", "/usr/lib/lighttpd/mod_openssl.so"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c"]
    files = {"config": """\
server.modules = ( "mod_openssl", "mod_accesslog" )
server.document-root = "{folder}/files"
server.bind = "[::1]"
server.port = {plain_ipv6}
server.max-keep-alive-requests = 100000
mimetype.assign = ( "" => "text/plain" )
accesslog.filename = "{folder}/log"
accesslog.format = "%h %U %s"
ssl.pemfile = "{folder}/pair.pem"
$SERVER["socket"] == "127.0.0.1:{plain_ipv4}" {{ }}
$SERVER["socket"] == "[::1]:{tls_ipv6}" {{ ssl.engine = "enable" }}
$SERVER["socket"] == "127.0.0.1:{tls_ipv4}" {{ ssl.engine = "enable" }}
"""}

    def commands(self):
        return [["lighttpd", "-D", "-f", self.folder / "config"]]


class Haproxy(Talkative):
    name = "haproxy"
    needs = ["haproxy"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c"]
    files = {"config": """\
global
    log stdout format raw local0
defaults
    mode http
    log global
    timeout client 60s
    timeout server 60s
    timeout connect 5s
frontend hello
    bind [::1]:{plain_ipv6}
    bind 127.0.0.1:{plain_ipv4}
    bind [::1]:{tls_ipv6} ssl crt {folder}/pair.pem alpn h2,http/1.1
    bind 127.0.0.1:{tls_ipv4} ssl crt {folder}/pair.pem alpn h2,http/1.1
    log-format "%ci %HP %HV %ST"
    http-request return status 200 content-type text/plain string "hello, world\\n"
"""}

    def commands(self):
        return [["haproxy", "-db", "-f", self.folder / "config"]]


class Caddy(Server):
    name = "caddy"
    needs = ["caddy"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c", "h3"]
    logged = r'"request":\{"remote_ip":"(?P<address>[0-9.:]+)"'
    files = {"config": """\
{{
    admin off
    auto_https off
    servers {{
        protocols h1 h2 h2c h3
    }}
}}
(all) {{
    bind ::1 127.0.0.1
    log {{
        output file {folder}/log
        format json
    }}
    respond "hello, world
"
}}
http://:{plain_ipv6}, http://:{plain_ipv4} {{
    import all
}}
https://:{tls_ipv6}, https://:{tls_ipv4} {{
    import all
    tls {folder}/certificate.pem {folder}/key.pem
}}
"""}

    def commands(self):
        # It looks for a home of its own.
        own = [f"HOME={self.folder}", f"XDG_DATA_HOME={self.folder}", f"XDG_CONFIG_HOME={self.folder}"]
        run = ["caddy", "run", "--adapter", "caddyfile", "--config", self.folder / "config"]
        return [["env", *own, *run]]


class Nghttpd(OnePerFamily):
    name = "nghttpd"
    needs = ["nghttpd"]
    kinds = ["plain", "tls"]
    ways = ["h2", "h2c"]
    logged = r":path: "

    def commands(self):
        return [self.command(family, HOSTS[family], kind) for family in HOSTS for kind in self.kinds]

    def command(self, family, host, kind):
        pair = [self.folder / "key.pem", self.folder / "certificate.pem"] if kind == "tls" else []
        port = self.ports[f"{kind}_{family}"]
        how = ["-v", "-d", self.folder / "files", "-a", host, *([] if pair else ["--no-tls"])]
        return self.told(family, "nghttpd", *how, port, *pair)


class H2o(Server):
    name = "h2o"
    needs = ["h2o"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c"]
    files = {"config": """\
# As root it would become another user, who may not write here.
user: %(user)s
num-threads: 1
pid-file: {folder}/pid
error-log: {folder}/said
access-log:
  path: {folder}/log
  format: "%%h %%U %%H %%s"
hosts:
  plain6:
    listen: {{ host: "::1", port: {plain_ipv6} }}
    paths: &files {{ "/": {{ file.dir: {folder}/files }} }}
  plain4:
    listen: {{ host: 127.0.0.1, port: {plain_ipv4} }}
    paths: *files
  tls6:
    listen:
      host: "::1"
      port: {tls_ipv6}
      ssl: &pair {{ certificate-file: {folder}/certificate.pem, key-file: {folder}/key.pem }}
    paths: *files
  tls4:
    listen: {{ host: 127.0.0.1, port: {tls_ipv4}, ssl: *pair }}
    paths: *files
""" % {"user": getpass.getuser()}}

    def commands(self):
        return [["h2o", "-c", self.folder / "config"]]


class Varnish(Server):
    """Answers by itself, with nothing behind it. Its log is in shared memory; it counts in the same."""

    name = "varnish"
    needs = ["varnishd", "varnishncsa"]
    ways = [*ONE, "h2c"]
    files = {"config": """\
vcl 4.1;
backend none none;
sub vcl_recv {{ return (synth(200)); }}
sub vcl_synth {{
    synthetic("hello, world" + {{"
"}});
    return (deliver);
}}
"""}

    def commands(self):
        ends = ["-a", f"[::1]:{self.ports['plain_ipv6']}", "-a", f"127.0.0.1:{self.ports['plain_ipv4']}"]
        name = ["-n", self.folder / "work"]
        how = ["-F", "-j", "none", "-p", "feature=+http2", "-f", self.folder / "config"]
        # It waits for the other to begin, and has nothing of what was before.
        log = ["varnishncsa", *name, "-t", "off", "-F", "%h %U %H %s", "-w", self.folder / "log"]
        return [["varnishd", *how, *name, *ends], log]

    def logs(self):
        with socket.create_connection((HOSTS["ipv4"], self.ports["plain_ipv4"]), timeout=1) as peer:
            peer.sendall(b"GET /begun HTTP/1.0\r\n\r\n")
            peer.recv(64)
        return "/begun" in self.log()


class Gunicorn(Talkative):
    name = "gunicorn"
    needs = ["gunicorn"]

    def commands(self):
        ends = ["-b", f"[::1]:{self.ports['plain_ipv6']}", "-b", f"127.0.0.1:{self.ports['plain_ipv4']}"]
        how = ["--worker-class", "gthread", "--threads", 16, "--worker-tmp-dir", self.folder]
        log = ["--access-logfile", "-", "--access-logformat", "%(h)s %(U)s %(H)s %(s)s"]
        return [["gunicorn", *how, *log, "--chdir", APPS, *ends, "hello:wsgi"]]


class Uvicorn(OnePerFamily):
    name = "uvicorn"
    needs = ["uvicorn"]

    def command(self, family, host):
        port = self.ports[f"plain_{family}"]
        how = ["--app-dir", APPS, "--no-use-colors", "--host", host, "--port", port]
        return self.told(family, "uvicorn", *how, "hello:asgi")


class Hypercorn(Talkative):
    name = "hypercorn"
    needs = [f"{PYTHON}:hypercorn"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2", "h2c"]

    def commands(self):
        plain = [f"[::1]:{self.ports['plain_ipv6']}", f"127.0.0.1:{self.ports['plain_ipv4']}"]
        tls = [f"[::1]:{self.ports['tls_ipv6']}", f"127.0.0.1:{self.ports['tls_ipv4']}"]
        ends = [word for end in plain for word in ("--insecure-bind", end)]
        ends += [word for end in tls for word in ("-b", end)]
        pair = ["--certfile", self.folder / "certificate.pem", "--keyfile", self.folder / "key.pem"]
        log = ["--access-logfile", "-", "--access-logformat", "%(h)s %(U)s %(H)s %(s)s"]
        run = [PYTHON, "-B", "-m", "hypercorn", *log, *pair, *ends, "hello:asgi"]
        return [["env", f"PYTHONPATH={APPS}", *run]]


class PythonApp(Talkative):
    """A server of a Python package, which Debian has under this name."""

    def commands(self):
        ends = [self.ports["plain_ipv6"], self.ports["plain_ipv4"]]
        return [[PYTHON, "-B", "-u", APPS / "hello.py", self.name, *ends]]


class Cheroot(PythonApp):
    name = "cheroot"
    needs = [f"{PYTHON}:cheroot"]


class Waitress(PythonApp):
    name = "waitress"
    needs = [f"{PYTHON}:waitress"]


class Aiohttp(PythonApp):
    name = "aiohttp"
    needs = [f"{PYTHON}:aiohttp"]


class Tornado(PythonApp):
    name = "tornado"
    needs = [f"{PYTHON}:tornado"]


class HttpServer(OnePerFamily):
    """Python's own."""

    name = "http.server"
    needs = [PYTHON]

    def command(self, family, host):
        how = ["--bind", host, "--directory", self.folder / "files", self.ports[f"plain_{family}"]]
        return self.told(family, PYTHON, "-u", "-m", "http.server", *how)


class Puma(Talkative):
    name = "puma"
    needs = ["puma"]

    def commands(self):
        ends = [f"tcp://[::1]:{self.ports['plain_ipv6']}", f"tcp://127.0.0.1:{self.ports['plain_ipv4']}"]
        binds = [word for end in ends for word in ("-b", end)]
        return [["puma", "-t", "16:16", *binds, APPS / "config.ru"]]


class Webrick(OnePerFamily):
    name = "webrick"
    needs = ["ruby"]
    # Beside a line with what referred to it.
    logged = r'"GET '

    def command(self, family, host):
        app = ["-rwebrick", APPS / "hello.rb", host, self.ports[f"plain_{family}"]]
        return self.told(family, "ruby", *app, self.folder / "files")


class Busybox(OnePerFamily):
    """Its words name no path; each request has a line with its status."""

    name = "busybox"
    needs = ["busybox"]
    ways = ["http/1.1", "http/1.0"]

    def command(self, family, host):
        end = f"[{host}]" if ":" in host else host
        how = ["-f", "-vv", "-p", f"{end}:{self.ports[f'plain_{family}']}"]
        return self.told(family, "busybox", "httpd", *how, "-h", self.folder / "files")

    logged = r"url:/hello"


class OpensslServer(OnePerFamily):
    """One connection after the other, each for one file."""

    name = "s_server"
    needs = ["openssl"]
    kinds = ["tls"]
    ways = ["tls"]
    logged = r"^FILE:hello"

    def command(self, family, host):
        end = f"[{host}]" if ":" in host else host
        pair = ["-cert", self.folder / "certificate.pem", "-key", self.folder / "key.pem"]
        how = ["-WWW", "-accept", f"{end}:{self.ports[f'tls_{family}']}", *pair]
        # -WWW has files of the folder that it runs in.
        script = f'cd {self.folder}/files && exec "$@" >>{self.folder}/said.{family} 2>&1'
        return ["sh", "-c", script, "sh", "openssl", "s_server", *how]

    def counted(self):
        counts = {}
        for family in HOSTS:
            file = self.folder / f"said.{family}"
            lines = file.read_text(errors="replace").splitlines() if file.exists() else []
            counts[family] = sum(line == "FILE:hello" for line in lines)
        return counts


class Node(Talkative):
    name = "node"
    needs = ["node"]
    kinds = ["plain", "tls", "cleartext2"]
    ways = [*ONE, *TLS, "h2", "h2c"]
    # Its server of HTTP/1 does not speak HTTP/2 in plain text.
    places = {"h2c": "cleartext2"}

    def commands(self):
        return [["node", APPS / "hello.js", self.folder, *self.ports.values()]]


class Go(Talkative):
    """Go's net/http. It builds the server first."""

    name = "go"
    needs = ["go"]
    kinds = ["plain", "tls"]
    ways = [*ONE, *TLS, "h2"]

    def commands(self):
        build = f'GO111MODULE=off GOCACHE={self.folder}/cache go build -o hello {APPS}/hello.go'
        ends = [str(port) for port in self.ports.values()]
        return [["sh", "-c", f'{build} && exec ./hello "$@"', "sh", self.folder, *ends]]


class Jdk(Talkative):
    """The server that comes with the JDK (jdk.httpserver)."""

    name = "jdk"
    needs = ["java"]

    def commands(self):
        ends = [self.ports["plain_ipv6"], self.ports["plain_ipv4"]]
        return [["java", APPS / "Hello.java", *ends]]


ALL = [
    Nginx, Apache, Lighttpd, Haproxy, Caddy, Nghttpd, H2o, Varnish, Gunicorn, Uvicorn, Hypercorn,
    Cheroot, Waitress, Aiohttp, Tornado, HttpServer, Puma, Webrick, Busybox, OpensslServer, Node,
    Go, Jdk,
]
