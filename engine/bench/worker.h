/*
 * worker.h — a process of the same program that carries out orders: it reads them from its standard input, and
 * writes its answers to its standard output.
 */
#ifndef LARD_BENCH_WORKER_H
#define LARD_BENCH_WORKER_H

#include "bench.h"

typedef struct {
    pid_t pid;
    int in, out;
} worker;

/* False: the other side has ended. */
static bool write_all(int fd, const void *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = write(fd, (const char *)from + done, bytes - done);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static bool read_all(int fd, void *into, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = read(fd, (char *)into + done, bytes - done);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Starts the program with these arguments; the first is its name, and the last is NULL. */
static worker start_worker(char *const arguments[]) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        bench_die("pipe: %s", strerror(errno));
    }
    pid_t child = bench_fork();
    if (child == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    return (worker){child, to[1], from[0]};
}

static void tell_worker(const worker *who, const void *order, size_t bytes) {
    if (!write_all(who->in, order, bytes)) {
        bench_die("a process ended early");
    }
}

static void hear_worker(const worker *who, void *answer, size_t bytes) {
    if (!read_all(who->out, answer, bytes)) {
        bench_die("a process ended early");
    }
}

static void end_worker(const worker *who) {
    int status;
    close(who->in);
    close(who->out);
    while (waitpid(who->pid, &status, 0) < 0 && errno == EINTR) {
    }
}

#endif
