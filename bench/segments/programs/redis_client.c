/* Round trips to Redis over one TCP connection. Obeys lines on standard input as remote_client.rb does:
 * put BYTES N: RPUSH. take BYTES N: BLMOVE of an element that is there. taken BYTES N: BLMOVE, then LREM, as a take that is acknowledged.
 * fill BYTES N: as put. empty BYTES N: DEL.
 * usage: redis_client PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int fd;
static char in[1 << 22];

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char *what) {
    printf("error %s\n", what);
    exit(1);
}

static void say(const char *data, size_t n) {
    while (n > 0) {
        ssize_t w = write(fd, data, n);
        if (w <= 0) fail("write");
        data += w;
        n -= w;
    }
}

/* One reply: a line, and for a string its bytes and their end. */
static void reply(void) {
    size_t n = 0;
    for (;;) {
        ssize_t r = read(fd, in + n, sizeof in - 1 - n);
        if (r <= 0) fail("read");
        n += r;
        in[n] = 0;
        char *end = strstr(in, "\r\n");
        if (!end) continue;
        if (in[0] == '-') fail(in);
        if (in[0] != '$') return;
        long size = atol(in + 1);
        if (size < 0 || n >= (size_t)(end + 2 - in) + size + 2) return;
    }
}

static int by_size(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[argc - 1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int i = 0; connect(fd, (struct sockaddr *)&to, sizeof to) != 0; i++) {
        if (i == 100) fail("connect");
        usleep(50000);
    }
    puts("ready");
    fflush(stdout);
    char line[200], how[50];
    int bytes, n;
    while (fgets(line, sizeof line, stdin) && sscanf(line, "%49s %d %d", how, &bytes, &n) == 3) {
        char *data = malloc(bytes), *push = malloc(bytes + 200), *remove = malloc(bytes + 200);
        memset(data, 'x', bytes);
        int pushed = sprintf(push, "*3\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n$%d\r\n", bytes);
        memcpy(push + pushed, data, bytes);
        memcpy(push + pushed + bytes, "\r\n", 2);
        pushed += bytes + 2;
        int removed = sprintf(remove, "*4\r\n$4\r\nLREM\r\n$1\r\ni\r\n$1\r\n1\r\n$%d\r\n", bytes);
        memcpy(remove + removed, data, bytes);
        memcpy(remove + removed + bytes, "\r\n", 2);
        removed += bytes + 2;
        static const char *move = "*6\r\n$6\r\nBLMOVE\r\n$1\r\nq\r\n$1\r\ni\r\n$4\r\nLEFT\r\n$5\r\nRIGHT\r\n$1\r\n0\r\n";
        static const char *empty = "*3\r\n$3\r\nDEL\r\n$1\r\nq\r\n$1\r\ni\r\n";
        long *times = calloc(n, sizeof(long)), sum = 0;
        int put = !strcmp(how, "put") || !strcmp(how, "fill"), both = !strcmp(how, "taken");
        if (!strcmp(how, "empty")) {
            say(empty, strlen(empty));
            reply();
            n = 1;
        } else for (int i = 0; i < n; i++) {
            long from = now();
            say(put ? push : move, put ? (size_t)pushed : strlen(move));
            reply();
            if (both) {
                say(remove, removed);
                reply();
            }
            times[i] = now() - from;
            sum += times[i];
        }
        qsort(times, n, sizeof(long), by_size);
        printf("%ld %ld %f\n", times[n / 2], times[n * 99L / 100], (double)sum / n);
        fflush(stdout);
        free(data), free(push), free(remove), free(times);
    }
    return 0;
}
