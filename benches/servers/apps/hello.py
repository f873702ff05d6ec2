"""The same few bytes as an application of WSGI and of ASGI, and servers that are given one here."""

import os
import sys

HELLO = b"hello, world\n"
HOSTS = ("::1", "127.0.0.1")


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(HELLO)))])
    return [HELLO]


def log(address, path):
    """In one call, so that threads tear no line of another's."""
    os.write(1, f"{address} {path}\n".encode())


def logged(environ, start_response):
    """As `wsgi`, with a line for each request."""
    log(environ["REMOTE_ADDR"], environ["PATH_INFO"])
    return wsgi(environ, start_response)


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    # Hypercorn closes the connection of a request that nobody has read, and does not say so.
    await receive()
    length = (b"content-length", str(len(HELLO)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": HELLO})


def cheroot(ends):
    import threading

    from cheroot.wsgi import Server

    servers = [Server(end, logged, numthreads=16) for end in ends]
    threads = [threading.Thread(target=server.start) for server in servers]
    for thread in threads:
        thread.start()


def waitress(ends):
    from waitress import serve

    listen = " ".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in ends)
    serve(logged, listen=listen, threads=16)


def aiohttp(ends):
    import asyncio

    from aiohttp import web

    async def answer(request):
        log(request.remote, request.path)
        return web.Response(body=HELLO)

    async def serve():
        app = web.Application()
        app.router.add_get("/hello", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        for end in ends:
            await web.TCPSite(runner, *end).start()
        await asyncio.Event().wait()

    asyncio.run(serve())


def tornado(ends):
    import asyncio

    from tornado import web

    class Answer(web.RequestHandler):
        def get(self):
            log(self.request.remote_ip, self.request.path)
            self.write(HELLO)

    async def serve():
        app = web.Application([("/hello", Answer)], log_function=lambda _: None)
        for host, port in ends:
            app.listen(port, host)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    name, *ports = sys.argv[1:]
    {"cheroot": cheroot, "waitress": waitress, "aiohttp": aiohttp, "tornado": tornado}[name](
        list(zip(HOSTS, map(int, ports)))
    )
