"""The servers of both sides: sixmark's origin, nginx, or one that accepts connections slowly."""

import json
import os
import subprocess
import sys

ORIGIN_PORT = 8080
SIZES = {"k13": 13_000, "k30": 30_000, "k100": 100_000}
NGINX = """
worker_processes 1; pid {folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 512; }}
http {{
  access_log off; default_type text/plain; keepalive_requests 100000; root {files};
  proxy_cache_path {folder}/cache keys_zone=cache:1m; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen {listen}{ssl};
    {tls}
    gzip {gzip}; gzip_types text/plain; gzip_min_length 1; gzip_comp_level 1;
    location /bytes/ {{ rewrite ^ /k1 break; }}
    location /k {{ gzip off; }}
    location = /slow {{ proxy_pass http://{origin}/delay/15; {cache} }}
  }}
}}
"""
TLS = """ssl_certificate {files}/{chain}.pem; ssl_certificate_key {files}/key.pem; ssl_protocols {protocols};
    ssl_session_cache {cache}; ssl_session_tickets off;"""
# Accepts a connection every so many seconds, with a queue of one.
ACCEPTS_SLOWLY = """
import socket, sys, time
host, port, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((host, port))
listener.listen(0)
while True:
    connection, _ = listener.accept()
    connection.settimeout(2)
    try:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\nConnection: close\\r\\n\\r\\n" + b"x" * 1000)
    except OSError:
        pass
    connection.close()
    time.sleep(pause)
"""


def make_files(folder):
    """Makes what the servers serve, and their certificates: alone, and with a chain of 16 others of 1.5 kB each."""
    for name, size in {"k1": 1_000, **SIZES}.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(os.urandom(size))
    with open(os.path.join(folder, "text"), "w", encoding="ascii") as file:
        file.write("The same line again and again.\n" * 4_000)
    os.chmod(folder, 0o755)
    make = ["openssl", "req", "-x509", "-nodes", "-days", "30", "-subj", "/CN=why.test"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", f"{folder}/key.pem"]
    subprocess.run([*make, *key, "-out", f"{folder}/short.pem"], check=True, capture_output=True)
    comment = ["-addext", "nsComment=" + "x" * 1_000]
    with open(f"{folder}/long.pem", "wb") as chain:
        chain.write(open(f"{folder}/short.pem", "rb").read())
        for _ in range(16):
            command = [*make, "-newkey", "rsa:2048", "-keyout", "/dev/null", *comment]
            chain.write(subprocess.run(command, check=True, capture_output=True).stdout)


def command(sixmark, kind, of, family, folder, files, port):
    """The words of the server of a family, as TOML. `of` is what it has of its own."""
    host = {"ipv6": "{six.ipv6}", "ipv4": "{four.ipv4}"}[family]
    inside = f"[{host}]" if family == "ipv6" else host
    if "accept" in of:
        return json.dumps([sys.executable, "-c", ACCEPTS_SLOWLY.replace("{", "{{").replace("}", "}}"), host, str(port), str(of["accept"])])
    words = [sixmark, "origin", "--listen", f"{inside}:{port}"]
    words += ["--pause", of["pause"]] if "pause" in of else []
    words += ["--goaway-after", "1"] if "closes" in of else []
    return json.dumps(words if kind == "origin" else ["nginx", "-c", write_nginx(of, family, folder, files, port), "-g", "daemon off;"])


def write_nginx(of, family, folder, files, port):
    home = os.path.join(folder, family)
    os.makedirs(home, exist_ok=True)
    os.chmod(folder, 0o755)
    sessions = "shared:tls:1m" if of.get("sessions", True) else "off"
    tls = TLS.format(files=files, chain=of.get("chain", "short"), protocols=of.get("protocols", "TLSv1.3"), cache=sessions)
    text = NGINX.format(
        folder=home, files=files, listen=f"{'[::]' if family == 'ipv6' else '0.0.0.0'}:{port}", ssl=" ssl" if port == 443 else "",
        tls=tls if port == 443 else "", gzip="on" if of.get("gzip") else "off",
        origin={"ipv6": "[::1]", "ipv4": "127.0.0.1"}[family] + f":{ORIGIN_PORT}",
        cache='proxy_cache cache; proxy_cache_valid 200 1h; add_header X-Cache hit;' if of.get("cache") else 'add_header X-Cache miss;',
    )
    path = os.path.join(home, "nginx.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path
