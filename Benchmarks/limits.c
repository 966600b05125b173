// The bare limits that a downloader can be measured against: HTTP/1.1, the bodies to files, nothing checked.
//
//   limits copy|splice HOST PORT PATH FILE           one GET on one connection
//   limits tls HOST PORT PATH FILE CACERT            the same over TLS: SSL_read(3) and pwrite(2)
//   limits many HOST PORT FOLDER COUNT CONNECTIONS [CACERT]
//                                                    FOLDER/f0, FOLDER/f1, … on kept connections, to new files
//
// `copy` is recv(2) into 1 MiB and pwrite(2); `splice` moves pages through a pipe and never sees the bytes; `many` is
// one thread with epoll(7), and open, write and close for each file.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 1 << 20, RECORDS = 256 << 10, PIECE = 64 << 10 };
static char buffer[SIZE];

static void fail(const char *what) { perror(what); exit(1); }

static int connect_to(const char *host, const char *port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1) fail(host);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static SSL_CTX *trust(const char *file) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_locations(context, file, NULL) != 1) { fprintf(stderr, "%s\n", file); exit(1); }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    // As Pawl: of two ciphers that differ only in key length the shorter, and several records per recv(2).
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 4 * (16384 + 256));
    return context;
}

static SSL *secure(SSL_CTX *context, int fd) {
    SSL *tls = SSL_new(context);
    if (!tls || SSL_set_fd(tls, fd) != 1 || SSL_connect(tls) != 1) { fprintf(stderr, "no TLS connection\n"); exit(1); }
    return tls;
}

// At most `size` bytes; −1 when there are none now.
static ssize_t get(int fd, SSL *tls, char *to, size_t size, int flags) {
    if (!tls) {
        ssize_t n = recv(fd, to, size, flags);
        if (n < 0 && errno == EAGAIN) return -1;
        if (n <= 0) fail("recv");
        return n;
    }
    size_t n = 0;
    if (SSL_read_ex(tls, to, size, &n) == 1) return (ssize_t)n;
    if (SSL_get_error(tls, 0) != SSL_ERROR_WANT_READ) { fprintf(stderr, "SSL_read failed\n"); exit(1); }
    return -1;
}

static void put(int fd, SSL *tls, const char *bytes, size_t size) {
    if (tls ? SSL_write(tls, bytes, (int)size) != (int)size : send(fd, bytes, size, 0) != (ssize_t)size) fail("send");
}

// The head's length and the body's, or 0 while the head is not complete; `bytes` has room for another byte.
static size_t scan(char *bytes, size_t have, long long *length) {
    bytes[have] = 0;
    char *end = strstr(bytes, "\r\n\r\n");
    if (!end) return 0;
    char *field = strcasestr(bytes, "content-length:");
    if (!field || field > end || strncmp(bytes + 8, " 200", 4)) { fprintf(stderr, "not 200 with a length\n"); exit(1); }
    *length = atoll(field + 15);
    return (size_t)(end + 4 - bytes);
}

// One file.

static int one(char **argv, SSL_CTX *context) {
    int fd = connect_to(argv[2], argv[3]);
    SSL *tls = context ? secure(context, fd) : NULL;
    int file = open(argv[5], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) fail(argv[5]);
    int n = snprintf(buffer, SIZE, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", argv[4], argv[2]);
    put(fd, tls, buffer, (size_t)n);
    long long length = 0;
    size_t have = 0, head = 0;
    while (!(head = scan(buffer, have, &length))) have += (size_t)get(fd, tls, buffer + have, SIZE - 1 - have, 0);
    long long at = (long long)(have - head);
    if (pwrite(file, buffer + head, (size_t)at, 0) != at) fail("pwrite");
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
        return 0;
    }
    while (at < length) {
        ssize_t got = get(fd, tls, buffer, SIZE, 0);
        // Enough records for a call of pwrite(2).
        while (tls && got < RECORDS && at + got < length) got += get(fd, tls, buffer + got, (size_t)(RECORDS - got), 0);
        if (pwrite(file, buffer, (size_t)got, at) != got) fail("pwrite");
        at += got;
    }
    return 0;
}

// Many files.

struct connection { int fd, file; SSL *tls; int number; size_t have; long long left; char bytes[PIECE + 1]; };
static int next, count;

static void request(struct connection *c, char **argv) {
    c->number = next++;
    c->have = 0;
    c->file = -1;
    char text[512];
    int n = snprintf(text, sizeof text, "GET %s/f%d HTTP/1.1\r\nHost: %s:%s\r\nAccept: */*\r\n\r\n", argv[4], c->number,
                     argv[2], argv[3]);
    put(c->fd, c->tls, text, (size_t)n);
}

// Whether the file is complete.
static int take(struct connection *c) {
    ssize_t got = get(c->fd, c->tls, c->bytes + c->have, PIECE - c->have, MSG_DONTWAIT);
    if (got < 0) return -1;
    char *body = c->bytes;
    size_t size = (size_t)got;
    if (c->file < 0) {
        c->have += size;
        size_t head = scan(c->bytes, c->have, &c->left);
        if (!head) return 0;
        char name[32];
        snprintf(name, sizeof name, "f%d", c->number);
        c->file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (c->file < 0) fail(name);
        body += head;
        size = c->have - head;
        c->have = 0;
    }
    if (size && write(c->file, body, size) != (ssize_t)size) fail("write");
    c->left -= (long long)size;
    if (c->left > 0) return 0;
    close(c->file);
    return 1;
}

static int many(char **argv, SSL_CTX *context) {
    count = atoi(argv[5]);
    int width = atoi(argv[6]), active = 0, poller = epoll_create1(0);
    struct epoll_event events[64];
    for (int i = 0; i < width && next < count; i++) {
        struct connection *c = calloc(1, sizeof *c);
        c->fd = connect_to(argv[2], argv[3]);
        if (context) c->tls = secure(context, c->fd);
        if (context) fcntl(c->fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &event)) fail("epoll_ctl");
        request(c, argv);
        active++;
    }
    while (active) {
        int ready = epoll_wait(poller, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            struct connection *c = events[i].data.ptr;
            int state;
            // What TLS has buffered raises no event.
            do state = take(c); while (c->tls && state == 0);
            if (state < 1) continue;
            if (next < count) { request(c, argv); continue; }
            close(c->fd);
            active--;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int isMany = !strcmp(how, "many"), isTLS = !strcmp(how, "tls");
    if (isMany ? argc != 7 && argc != 8 : argc != (isTLS ? 7 : 6)) {
        fprintf(stderr, "usage: limits copy|splice HOST PORT PATH FILE\n       limits tls HOST PORT PATH FILE CACERT\n"
                        "       limits many HOST PORT FOLDER COUNT CONNECTIONS [CACERT]\n");
        return 2;
    }
    if (isMany) return many(argv, argc == 8 ? trust(argv[7]) : NULL);
    return one(argv, isTLS ? trust(argv[6]) : NULL);
}
