/*
 * children.h — helpers of tests with several processes: shared memory outside the cache, time, children, waits.
 *
 * Children end with the test, and each wait has a limit.
 */
#ifndef LARD_CHILDREN_H
#define LARD_CHILDREN_H

#include "harness.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { LONGEST_MS = 120000 }; /* only a test that fails waits that long */

static inline void *shared_memory(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

static inline int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static inline void sleep_us(unsigned us) {
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* fork; the child ends with its parent, however that ends. */
static inline pid_t fork_child(void) {
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    if (pid == 0) {
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() != parent) {
            _exit(2);
        }
    }
    return pid;
}

/* The wait status of a child that ended or stopped, or -1 (and the child killed) if neither within `limit_ms`. */
static inline int wait_within(pid_t pid, int limit_ms) {
    int status;
    int64_t until = now_us() + (int64_t)limit_ms * 1000;
    for (unsigned pause_us = 50; now_us() < until; pause_us = pause_us < 5000 ? pause_us * 2 : pause_us) {
        pid_t done = waitpid(pid, &status, WNOHANG | WUNTRACED);
        if (done == pid) {
            return status;
        }
        if (done < 0 && errno != EINTR) {
            return -1;
        }
        sleep_us(pause_us);
    }
    kill(pid, SIGKILL);
    wait_for(pid);
    return -1;
}

/* Waits until the child stops itself. False: it has ended. */
static inline bool has_stopped(pid_t pid) {
    int status = wait_within(pid, LONGEST_MS);
    return status != -1 && WIFSTOPPED(status);
}

static inline bool exited_well(pid_t pid) {
    int status = wait_within(pid, LONGEST_MS);
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "  child %d of %s: %s %d\n", (int)pid, test_name,
                status == -1          ? "did not end"
                : WIFSIGNALED(status) ? "killed by signal"
                                      : "exit code",
                status == -1          ? 0
                : WIFSIGNALED(status) ? WTERMSIG(status)
                                      : WEXITSTATUS(status));
        return false;
    }
    return true;
}

/* Runs `body` in a child of its own and says whether it went well. */
static inline bool in_child(void (*body)(void *), void *with) {
    pid_t pid = fork_child();
    if (pid == 0) {
        body(with);
        _exit(0);
    }
    return exited_well(pid);
}

/* The stages of a play between processes: each waits until the others have come as far. */
static inline bool await(uint32_t *stage, uint32_t least) {
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(200)) {
        if (__atomic_load_n(stage, __ATOMIC_ACQUIRE) >= least) {
            return true;
        }
    }
    return false;
}

static inline void advance(uint32_t *stage) { __atomic_fetch_add(stage, 1, __ATOMIC_ACQ_REL); }

#endif
