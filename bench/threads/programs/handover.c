/* The machine's own hand-over: two OS threads pass a turn back and forth, by futex and by spinning, on two CPUs where
   there are two, and by futex on one. Prints three figures: nanoseconds per round trip of each.
   usage: handover ROUNDS */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Alignas(128) atomic_int turn;
static long rounds;
static int spinning, cpus[2];

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void await(int mine) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != mine)
        if (!spinning) syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, NULL, NULL, 0);
}

static void pass(int to) {
    atomic_store_explicit(&turn, to, memory_order_release);
    if (!spinning) syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *echo(void *unused) {
    (void)unused;
    pin(cpus[1]);
    for (long i = 0; i < rounds; i++) await(1), pass(0);
    return NULL;
}

static double trial(int spin, int a, int b, long n) {
    struct timespec from, to;
    pthread_t other;
    spinning = spin, cpus[0] = a, cpus[1] = b, rounds = n;
    atomic_store(&turn, 0);
    pin(a);
    pthread_create(&other, NULL, echo, NULL);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < n; i++) pass(1), await(0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    pthread_join(other, NULL);
    return ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / n;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 20000;
    cpu_set_t set;
    int found[2], k = 0;
    sched_getaffinity(0, sizeof set, &set);
    for (int c = 0; c < CPU_SETSIZE && k < 2; c++)
        if (CPU_ISSET(c, &set)) found[k++] = c;
    if (k < 2) found[1] = found[0];
    double apart = trial(0, found[0], found[1], n);
    double spun = k < 2 ? apart : trial(1, found[0], found[1], n * 10);
    printf("%.1f %.1f %.1f\n", apart, spun, trial(0, found[0], found[0], n));
    return 0;
}
