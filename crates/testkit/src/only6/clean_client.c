/* Fetches a URL from the first address of its host that answers.
 *
 *     clean_client URL
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LENGTH 1000 /* bytes */

static int open_connection(const char *host, const char *port)
{
    struct timeval timeout = {.tv_sec = 5};
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int status = getaddrinfo(host, port, &hints, &list), error = 0;
    if (status != 0)
        errx(1, "%s: %s", host, gai_strerror(status));
    for (struct addrinfo *one = list; one != NULL; one = one->ai_next) {
        int fd = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (fd >= 0) {
            /* This is also the timeout of connect. */
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
            if (connect(fd, one->ai_addr, one->ai_addrlen) == 0) {
                freeaddrinfo(list);
                return fd;
            }
        }
        error = errno == EINPROGRESS ? ETIMEDOUT : errno;
        if (fd >= 0)
            close(fd);
    }
    errno = error;
    err(1, "%s", host);
}

/* Reads the answer to its end and checks its status and the length of its body. */
static void check_answer(int fd)
{
    static char answer[65536];
    size_t length = 0;
    ssize_t count;
    while ((count = read(fd, answer + length, sizeof answer - 1 - length)) > 0)
        length += count;
    if (count < 0)
        err(1, "read");
    char *end = strstr(answer, "\r\n\r\n");
    if (strncmp(answer, "HTTP/1.1 200 ", 13) != 0 || end == NULL || answer + length - (end + 4) != LENGTH)
        errx(1, "a wrong answer of %zu bytes: %.12s", length, answer);
}

int main(int argc, char **argv)
{
    char authority[256], host[256], port[6] = "80", path[1024] = "/";
    if (argc != 2 || sscanf(argv[1], "http://%255[^/]%1023s", authority, path) < 1)
        errx(1, "usage: clean_client URL");
    if (sscanf(authority, "[%255[^]]]:%5s", host, port) < 1 && sscanf(authority, "%255[^:]:%5s", host, port) < 1)
        errx(1, "%s: no host", argv[1]);
    int fd = open_connection(host, port);
    dprintf(fd, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, authority);
    check_answer(fd);
    return 0;
}
