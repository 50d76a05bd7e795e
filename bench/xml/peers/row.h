/* What both C peers do with a row: decoding of the values, the checksums, and the symmetric hash join; the same as row.rs.
 * A parser calls `begin`, `text` and `end` below with a document as their first argument. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum kind { INTEGER, DECIMAL, DATE, WORDS };
struct column { const char *name; enum kind kind; int wanted; };

static const struct column LINEITEM[] = {
    {"L_ORDERKEY", INTEGER, 1}, {"L_PARTKEY", INTEGER, 0}, {"L_SUPPKEY", INTEGER, 0}, {"L_LINENUMBER", INTEGER, 1},
    {"L_QUANTITY", INTEGER, 1}, {"L_EXTENDEDPRICE", DECIMAL, 1}, {"L_DISCOUNT", DECIMAL, 0}, {"L_TAX", DECIMAL, 0},
    {"L_RETURNFLAG", WORDS, 0}, {"L_LINESTATUS", WORDS, 0}, {"L_SHIPDATE", DATE, 1}, {"L_COMMITDATE", DATE, 0},
    {"L_RECEIPTDATE", DATE, 0}, {"L_SHIPINSTRUCT", WORDS, 0}, {"L_SHIPMODE", WORDS, 1}, {"L_COMMENT", WORDS, 0}, {0}};
static const struct column ORDERS[] = {
    {"O_ORDERKEY", INTEGER, 1}, {"O_CUSTKEY", INTEGER, 1}, {"O_ORDERSTATUS", WORDS, 0}, {"O_TOTALPRICE", DECIMAL, 1},
    {"O_ORDERDATE", DATE, 1}, {"O_ORDERPRIORITY", WORDS, 1}, {"O_CLERK", WORDS, 0}, {"O_SHIPPRIORITY", INTEGER, 0},
    {"O_COMMENT", WORDS, 0}, {0}};

static void die(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int64_t integer(const char *s, size_t n) {
    int minus = n && *s == '-';
    if (minus) s++, n--;
    if (!n || n > 18) die("a value does not decode");
    int64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') die("a value does not decode");
        v = v * 10 + (s[i] - '0');
    }
    return minus ? -v : v;
}

static int64_t cents(const char *s, size_t n) {
    int minus = n && *s == '-';
    if (minus) s++, n--;
    if (n < 4 || s[n - 3] != '.') die("a value does not decode");
    int64_t v = integer(s, n - 3) * 100 + integer(s + n - 2, 2);
    return minus ? -v : v;
}

static int64_t days(const char *s, size_t n) {
    if (n != 10 || s[4] != '-' || s[7] != '-') die("a value does not decode");
    int64_t y = integer(s, 4), m = integer(s + 5, 2), d = integer(s + 8, 2);
    if (m < 1 || m > 12 || d < 1 || d > 31) die("a value does not decode");
    if (m <= 2) y--;
    int64_t of_era = y % 400, of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
    return y / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static uint64_t fnv(const char *s, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return h;
}

/* The join's rows: a chain for each bucket, a block for each row. Columns stand in the order of `wanted`. */
struct row { struct row *next; int64_t v[5]; int words; char text[]; };
struct side { struct row **buckets; size_t mask, count; };
struct join { struct side side[2]; double begun, first; uint64_t pairs; int64_t sum; };

struct document {
    const struct column *columns;
    int column, at, mode, index;
    char text[8192];
    size_t length;
    uint64_t events, rows, mixed;
    int64_t plain, v[6];
    char words[256];
    size_t words_length;
    struct join *join;
};

static void grow(struct side *s) {
    size_t mask = s->buckets ? s->mask * 2 + 1 : 1023;
    struct row **buckets = calloc(mask + 1, sizeof *buckets);
    if (!buckets) die("no memory");
    for (size_t i = 0; s->buckets && i <= s->mask; i++)
        for (struct row *r = s->buckets[i], *next; r; r = next) {
            struct row **to = &buckets[(uint64_t)r->v[0] * 0x9E3779B97F4A7C15u >> 32 & mask];
            next = r->next;
            r->next = *to;
            *to = r;
        }
    free(s->buckets);
    s->buckets = buckets;
    s->mask = mask;
}

static void pair(struct join *j, const struct row *l, const struct row *o) {
    if (!j->pairs++) j->first = now() - j->begun;
    j->sum += l->v[0] + 3 * l->v[1] + 5 * l->v[2] + 7 * l->v[3] + 11 * l->v[4] + 13 * l->words + 17 * o->v[1] + 19 * o->v[2] + 23 * o->v[3] + 29 * o->words;
}

static void join_row(struct document *d) {
    struct join *j = d->join;
    struct side *own = &j->side[d->index], *other = &j->side[!d->index];
    if (own->count >= own->mask) grow(own);
    struct row *r = malloc(sizeof *r + d->words_length);
    if (!r) die("no memory");
    memcpy(r->v, d->v, sizeof r->v);
    r->words = (int)d->words_length;
    memcpy(r->text, d->words, d->words_length);
    uint64_t hash = (uint64_t)r->v[0] * 0x9E3779B97F4A7C15u >> 32;
    for (struct row *o = other->buckets[hash & other->mask]; o; o = o->next)
        if (o->v[0] == r->v[0]) pair(j, d->index ? o : r, d->index ? r : o);
    struct row **to = &own->buckets[hash & own->mask];
    r->next = *to;
    *to = r;
    own->count++;
}

/* A start tag. The columns of a row stand in one order, but it is not taken for granted. */
static void begin(struct document *d, const char *name) {
    d->events++;
    d->column = -1;
    if (d->mode == 'T') return;
    for (int k = 0, i = d->at; d->columns[k].name; k++, i++) {
        if (!d->columns[i].name) i = 0;
        if (strcmp(d->columns[i].name, name) == 0) {
            d->column = i;
            d->at = i + 1;
            if (!d->columns[d->at].name) d->at = 0;
            d->length = 0;
            return;
        }
    }
}

static void text(struct document *d, const char *s, size_t n) {
    d->events++;
    if (d->column < 0) return;
    if (n > sizeof d->text - d->length) die("a text is too long");
    memcpy(d->text + d->length, s, n);
    d->length += n;
}

static void value(struct document *d, enum kind kind) {
    int64_t v;
    switch (kind) {
    case INTEGER: v = integer(d->text, d->length); break;
    case DECIMAL: v = cents(d->text, d->length); break;
    case DATE: v = days(d->text, d->length); break;
    default: v = d->mode == 'P' ? (int64_t)d->length : d->mode == 'J' ? 0 : (int64_t)fnv(d->text, d->length);
    }
    if (d->mode == 'J') {
        if (kind == WORDS) {
            d->words_length = d->length < sizeof d->words ? d->length : sizeof d->words;
            memcpy(d->words, d->text, d->words_length);
        } else {
            int i = 0;
            for (int k = 0; k < d->column; k++) i += d->columns[k].wanted;
            d->v[i] = v;
        }
    } else if (d->mode == 'P') {
        d->plain += v;
    } else {
        d->mixed = ((d->mixed << 5 | d->mixed >> 59) ^ (uint64_t)v) * 0x9E3779B97F4A7C15u;
    }
}

static void end(struct document *d, const char *name) {
    d->events++;
    if (d->mode == 'T') return;
    if (d->column >= 0) {
        if (d->mode != 'J' || d->columns[d->column].wanted) value(d, d->columns[d->column].kind);
        d->column = -1;
    } else if (strcmp(name, "T") == 0) {
        d->rows++;
        if (d->mode == 'J') join_row(d);
    }
}

static long peak(void) {
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %ld", &kb);
    if (f) fclose(f);
    return kb * 1024;
}

/* A parser's side: makes one for a document, feeds it, and ends it (n == 0). */
static void *parser_new(struct document *d);
static void parser_feed(void *parser, const char *piece, size_t n);

int main(int argc, char **argv) {
    int mode = argc > 2 ? argv[1][0] : 0, files = mode == 'J' ? 2 : 1;
    if (!strchr("TEPJ", mode) || !mode || argc != 2 + files) {
        fprintf(stderr, "usage: %s T FILE | E LINEITEM | P LINEITEM | J LINEITEM ORDERS\n", argv[0]);
        return 2;
    }
    static struct document d[2];
    static char piece[1 << 16];
    static struct join join;
    void *parsers[2];
    FILE *in[2];
    long long bytes = 0;
    join.begun = now();
    for (int i = 0; i < files; i++) {
        in[i] = fopen(argv[2 + i], "rb");
        if (!in[i]) die("cannot open the document");
        setvbuf(in[i], 0, _IONBF, 0);
        d[i] = (struct document){.columns = i ? ORDERS : LINEITEM, .mode = mode, .index = i, .column = -1, .join = &join};
        grow(&join.side[i]);
        parsers[i] = parser_new(&d[i]);
    }
    for (int open = files; open;)
        for (int i = 0; i < files; i++) {
            if (!in[i]) continue;
            size_t n = fread(piece, 1, sizeof piece, in[i]);
            parser_feed(parsers[i], piece, n);
            bytes += n;
            if (n == 0) {
                fclose(in[i]);
                in[i] = 0;
                open--;
            }
        }
    double s = now() - join.begun;
    char sum[32] = "", first[32] = "null";
    if (mode == 'E') snprintf(sum, sizeof sum, "%016llx", (unsigned long long)d[0].mixed);
    if (mode == 'P') snprintf(sum, sizeof sum, "%lld", (long long)d[0].plain);
    if (mode == 'J') snprintf(sum, sizeof sum, "%lld", (long long)join.sum), snprintf(first, sizeof first, "%.9f", join.first);
    printf("{\"mode\":\"%c\",\"s\":%.9f,\"bytes\":%lld,\"count\":%llu,\"sum\":\"%s\",\"first_s\":%s,\"peak\":%ld}\n", mode, s, bytes,
           (unsigned long long)(mode == 'T' ? d[0].events : mode == 'J' ? join.pairs : d[0].rows), sum, first, peak());
    return 0;
}
