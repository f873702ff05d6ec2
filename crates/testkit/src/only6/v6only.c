/* Serves 1000 bytes at any path, on a socket of IPv6 alone.
 *
 *     v6only PORT
 */
#include <err.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LENGTH 1000 /* bytes */

static int open_listener(int port)
{
    int one = 1;
    struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0)
        err(1, "socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&own, sizeof own) < 0)
        err(1, "bind");
    if (listen(fd, SOMAXCONN) < 0)
        err(1, "listen");
    return fd;
}

/* Answers one request, whose head has at most 8 KiB. */
static void serve(int fd)
{
    char request[8192], body[LENGTH + 1];
    size_t length = 0;
    ssize_t count;
    do {
        count = read(fd, request + length, sizeof request - 1 - length);
        if (count <= 0)
            return;
        length += count;
        request[length] = '\0';
    } while (strstr(request, "\r\n\r\n") == NULL);
    memset(body, 'x', LENGTH);
    body[LENGTH] = '\0';
    dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", LENGTH, body);
}

int main(int argc, char **argv)
{
    struct timeval timeout = {.tv_sec = 5};
    if (argc < 2)
        errx(1, "usage: v6only PORT");
    int listener = open_listener(atoi(argv[1]));
    signal(SIGCHLD, SIG_IGN); /* Nobody waits for the children. */
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (fork() == 0) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
            serve(fd);
            return 0;
        }
        close(fd);
    }
}
