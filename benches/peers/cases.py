"""What is asked of every client."""

from dataclasses import dataclass, replace

from clients import Load

FILE = 100_000_000


@dataclass(frozen=True)
class Case:
    name: str
    says: str
    server: str
    path: str
    load: Load
    # Of a request's content, whichever way it goes.
    bytes: int


MANY = Load(connections=64, keep_alive=True, seconds=2)
SINGLE = Load(connections=64, keep_alive=False, seconds=2)
SECURE = replace(MANY, secure=True)
CONNECT = replace(SINGLE, secure=True)
STREAMS = Load(connections=8, keep_alive=True, seconds=2, secure=True, http=2, streams=32)
FEW_STREAMS = replace(STREAMS, connections=4, streams=10)

CASES = (
    Case("keep-alive", "64 connections kept open, 13 bytes", "turbo", "/", MANY, 13),
    Case("keep-alive-nginx", "64 connections kept open, 13 bytes", "nginx", "/hello", MANY, 13),
    Case("close", "64 connections, each for one request, 13 bytes", "turbo", "/", SINGLE, 13),
    Case(
        "close-nginx", "64 connections, each for one request, 13 bytes", "nginx", "/hello",
        SINGLE, 13,
    ),
    Case(
        "anma", "10,000 requests, 1,000 connections, each for one request, a file of 4,096 bytes",
        "nginx", "/4k", Load(connections=1000, keep_alive=False, requests=10_000), 4096,
    ),
    Case(
        "download", "20 downloads of 100 MB, one after another", "turbo", f"/bytes/{FILE}",
        Load(connections=1, keep_alive=True, requests=20, files=True), FILE,
    ),
    Case(
        "download-wrk", "100 MB again and again, beside wrk, which can't stop after a number",
        "turbo", f"/bytes/{FILE}",
        Load(connections=1, keep_alive=True, seconds=2, files=True), FILE,
    ),
    Case(
        "upload", "10 uploads of 100 MB (POST), one after another", "turbo", "/sink",
        Load(connections=1, keep_alive=True, requests=10, files=True, body="upload"), FILE,
    ),
    Case(
        "tls-keep-alive", "64 connections kept open, HTTP/1.1 over TLS 1.3, 13 bytes", "nginx",
        "/hello", SECURE, 13,
    ),
    Case(
        "tls-connect", "64 connections, each with a full TLS 1.3 handshake for one request",
        "nginx", "/hello", CONNECT, 13,
    ),
    Case(
        "tls-resume", "64 connections, each with a resumed TLS 1.3 handshake for one request",
        "nginx", "/hello", replace(CONNECT, resume=True), 13,
    ),
    Case(
        "h2-tls", "8 connections kept open, 32 streams on each, HTTP/2 over TLS 1.3, 13 bytes",
        "nginx", "/hello", STREAMS, 13,
    ),
    Case(
        "h2-tls-4x10", "4 connections kept open, 10 streams on each, HTTP/2 over TLS 1.3, 13 bytes",
        "nginx", "/hello", FEW_STREAMS, 13,
    ),
    Case(
        "h2c-8x32", "8 connections kept open, 32 streams on each, HTTP/2 without TLS, 13 bytes",
        "nginx", "/hello", replace(STREAMS, secure=False), 13,
    ),
    Case(
        "h2c-4x10", "4 connections kept open, 10 streams on each, HTTP/2 without TLS, 13 bytes",
        "nginx", "/hello", replace(FEW_STREAMS, secure=False), 13,
    ),
    Case(
        "h2-lighttpd", "4 connections kept open, 10 streams on each, HTTP/2 over TLS 1.3, 4,096 bytes",
        "lighttpd", "/4k", FEW_STREAMS, 4096,
    ),
    Case(
        "h2-jetty", "4 connections kept open, 10 streams on each, HTTP/2 without TLS, 13 bytes",
        "jetty", "/", replace(FEW_STREAMS, secure=False), 13,
    ),
    Case(
        "h2-jetty-one", "1 connection kept open, 10 streams, HTTP/2 without TLS, 13 bytes",
        "jetty", "/", replace(FEW_STREAMS, secure=False, connections=1), 13,
    ),
    Case(
        "keep-alive-haproxy", "64 connections kept open, 13 bytes", "haproxy", "/", MANY, 13,
    ),
    Case(
        "http3", "8 connections kept open, 32 streams on each, HTTP/3, 13 bytes", "origin",
        "/bytes/13", replace(STREAMS, http=3), 13,
    ),
    Case(
        "http3-caddy", "8 connections kept open, 10 streams on each, HTTP/3, a file of 4,096 bytes",
        "caddy", "/4k", replace(STREAMS, http=3, streams=10), 4096,
    ),
)
