/* Opens N connections to an echo server and sends a line on each. Prints "open SECONDS" when all have answered. A line on
   standard input lets it send on each again, one after the other, and print "again NANOSECONDS" per round trip. Source
   addresses change every 20,000 connections, because ports of one address run out. A port is chosen when it connects: a bind that
   chooses one looks through those that are taken, half a minute for 20,000.
   usage: echo_client PORT N */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void echo(int fd, int i) {
    char line[32], answer[32];
    int size = snprintf(line, sizeof line, "line %d\n", i), got = 0;
    if (write(fd, line, size) != size) fail("write");
    while (got < size) {
        ssize_t k = read(fd, answer + got, size - got);
        if (k <= 0) fail("read");
        got += k;
    }
    if (memcmp(line, answer, size)) fail("another answer");
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    int n = atoi(argv[2]), *fds = malloc(sizeof(int) * (n ? n : 1)), one = 1;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    double from = now();
    for (int i = 0; i < n; i++) {
        if ((fds[i] = socket(AF_INET, SOCK_STREAM, 0)) < 0) fail("socket");
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(fds[i], IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        struct sockaddr_in own = {.sin_family = AF_INET};
        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + i / 20000);
        if (bind(fds[i], (struct sockaddr *)&own, sizeof own)) fail("bind");
        if (connect(fds[i], (struct sockaddr *)&server, sizeof server)) fail("connect");
        echo(fds[i], i);
    }
    printf("open %f\n", now() - from);
    fflush(stdout);
    for (char line[64]; fgets(line, sizeof line, stdin);) {
        from = now();
        for (int i = 0; i < n; i++) echo(fds[i], i);
        printf("again %.0f\n", (now() - from) * 1e9 / (n ? n : 1));
        fflush(stdout);
    }
    return 0;
}
