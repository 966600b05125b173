// The bare limits that a downloader can be measured against: one HTTP/1.1 GET on one connection, the body to a file.
//
//   limits copy|splice HOST PORT PATH FILE
//
// `copy` is recv(2) into 1 MiB and pwrite(2); `splice` moves pages through a pipe and never sees the bytes.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };
static char buffer[SIZE];

static void fail(const char *what) { perror(what); exit(1); }

static int connect_to(const char *host, const char *port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1) fail(host);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
    return fd;
}

// Reads the head; returns how many body bytes came with it and moves them to the front of the buffer.
static size_t read_head(int fd, long long *length) {
    size_t have = 0;
    for (;;) {
        ssize_t n = recv(fd, buffer + have, SIZE - 1 - have, 0);
        if (n <= 0) fail("recv");
        have += (size_t)n;
        buffer[have] = 0;
        char *end = strstr(buffer, "\r\n\r\n");
        if (!end) continue;
        char *field = strcasestr(buffer, "content-length:");
        if (!field || field > end) { fprintf(stderr, "no Content-Length\n"); exit(1); }
        *length = atoll(field + 15);
        size_t head = (size_t)(end + 4 - buffer);
        memmove(buffer, end + 4, have - head);
        return have - head;
    }
}

int main(int argc, char **argv) {
    if (argc != 6) { fprintf(stderr, "usage: limits copy|splice HOST PORT PATH FILE\n"); return 2; }
    int fd = connect_to(argv[2], argv[3]);
    int file = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) fail(argv[5]);
    int n = snprintf(buffer, SIZE, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[4], argv[2]);
    if (send(fd, buffer, (size_t)n, 0) != n) fail("send");
    long long length = 0, at = 0;
    size_t first = read_head(fd, &length);
    if (pwrite(file, buffer, first, 0) != (ssize_t)first) fail("pwrite");
    at = (long long)first;
    if (!strcmp(argv[1], "splice")) {
        int ends[2];
        if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, SIZE) < 0) fail("pipe");
        if (lseek(file, at, SEEK_SET) < 0) fail("lseek");
        while (at < length) {
            ssize_t in = splice(fd, NULL, ends[1], NULL, SIZE, SPLICE_F_MOVE);
            if (in <= 0) fail("splice in");
            for (ssize_t left = in; left > 0;) {
                ssize_t out = splice(ends[0], NULL, file, NULL, (size_t)left, SPLICE_F_MOVE);
                if (out <= 0) fail("splice out");
                left -= out;
            }
            at += in;
        }
    } else {
        while (at < length) {
            ssize_t got = recv(fd, buffer, SIZE, 0);
            if (got <= 0) fail("recv");
            if (pwrite(file, buffer, (size_t)got, at) != got) fail("pwrite");
            at += got;
        }
    }
    return 0;
}
