/* Round trips to Redis over one TCP connection. Obeys lines on standard input as remote_client.rb does:
 * put BYTES N: RPUSH. take BYTES N: BLMOVE of an element that is there. taken BYTES N: BLMOVE, then LREM, as a take that is acknowledged.
 * fill BYTES N: as put. empty BYTES N: DEL. With the folder of the store's scripts: null BYTES N: a script that does nothing.
 * commit BYTES N: the store's, which ends two leases and puts two segments.
 * usage: redis_client PORT-OR-SOCKET [SCRIPTS] */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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

static size_t append(char *text, size_t n, const char *folder, const char *file) {
    static char path[1 << 12];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    if (!f) fail("a script");
    n += fread(text + n, 1, (1 << 17) - n - 2, f);
    fclose(f);
    text[n] = 0;
    return n;
}

/* Tells the server a script that does nothing, or the store's for a commit, put together as crates/redis/src/script/mod.rs does; and keeps its
 * name. */
static void load(char *sha, const char *folder) {
    static char text[1 << 17], own[1 << 17], said[1 << 18];
    size_t n = sprintf(text, "return 1");
    if (folder) {
        append(own, 0, folder, "commit.lua");
        char *rest = strstr(own, "--REST\n");
        if (!rest) fail("the plain case of a commit");
        n = append(text, 0, folder, "plain.lua");
        n += sprintf(text + n, "%.*s", (int)(rest - own), own);
        n = append(text, n, folder, "common.lua");
        n += sprintf(text + n, "%s", rest);
    }
    int size = sprintf(said, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n", n, text);
    say(said, size);
    reply();
    memcpy(sha, strchr(in, '\n') + 1, 40);
}

static size_t part(char *to, const char *data, size_t n) {
    size_t head = sprintf(to, "$%zu\r\n", n);
    memcpy(to + head, data, n);
    memcpy(to + head + n, "\r\n", 2);
    return head + n + 2;
}

static size_t parts(char *to, int count, const char **all) {
    size_t n = sprintf(to, "*%d\r\n", count);
    for (int i = 0; i < count; i++) n += part(to + n, all[i], strlen(all[i]));
    return n;
}

static int by_size(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    int one = 1, local = argv[1][0] == '/';
    if (local) strncpy(path.sun_path, argv[1], sizeof path.sun_path - 1);
    fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (!local) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr *where = local ? (struct sockaddr *)&path : (struct sockaddr *)&to;
    for (int i = 0; connect(fd, where, local ? sizeof path : sizeof to) != 0; i++) {
        if (i == 100) fail("connect");
        usleep(50000);
    }
    char null[41] = "", commit[41] = "";
    if (argc > 2) {
        load(null, NULL);
        load(commit, argv[2]);
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
        } else if (!strcmp(how, "null") || !strcmp(how, "commit")) {
            static char what[1 << 16], held[1 << 10];
            const char *script = how[0] == 'n' ? null : commit;
            static char number[24];
            /* No NUL may be in it, for all parts are C strings: no script looks. */
            static char entry_tail[13 + 64 + 1];
            memset(entry_tail, '1', 13 + (bytes < 64 ? bytes : 64));
            for (int i = 0; i < n; i++) {
                snprintf(number, sizeof number, "%ld", now());
                const char *call[] = {"EVALSHA", script, "8", "b:n:{a}:h", "b:n:{b}:h", "b:n:{x}:i", "b:n:{x}:q", "b:n:{y}:i", "b:n:{y}:q", "b:d:c", "b:keys",
                    "2", "2", "0", "0", number, "0", "l.1", "l.2", "", "x", entry_tail, "", "y", entry_tail};
                size_t size = parts(what, sizeof call / sizeof *call, call);
                /* What is to end stands there, beside another's lease, and of what was put the last one stays. A script that does nothing finds the
                 * server as a commit does. */
                for (int key = 0; key < 2; key++) {
                    char hash[] = "b:n:{a}:h", due[] = "b:n:{a}:t", out[] = "b:n:{x}:q", lease[] = "l.1", name[] = "ll.1", entry[29 + 64];
                    hash[5] = due[5] = 'a' + key, out[5] = 'x' + key, lease[2] = name[3] = '1' + key;
                    memset(entry, 'x', sizeof entry);
                    size_t h = sprintf(held, "*4\r\n$4\r\nHSET\r\n");
                    h += part(held + h, hash, 9), h += part(held + h, lease, 3), h += part(held + h, entry, sizeof entry);
                    say(held, h), reply();
                    const char *add[] = {"ZADD", due, "9000000000000000", name}, *trim[] = {"LTRIM", out, "-1", "-1"};
                    const char *other[] = {"HSET", hash, "other", "1"};
                    say(held, parts(held, 4, add)), reply();
                    say(held, parts(held, 4, trim)), reply();
                    say(held, parts(held, 4, other)), reply();
                }
                long from = now();
                say(what, size);
                reply();
                times[i] = now() - from;
                sum += times[i];
                if (strncmp(in, ":1", 2)) fail(in);
            }
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
