/*
 * containers.h — containers: processes with PID, mount and IPC namespaces of their own, and where it matters a
 * boot id, /tmp and /dev/shm. They share one directory. Needs root.
 */
#ifndef LARD_PROOF_CONTAINERS_H
#define LARD_PROOF_CONTAINERS_H

#include "../children.h"
#include "places.h"

#include <sys/syscall.h>

/* What a container has of its own besides the PIDs and mounts. */
typedef struct {
    const char *boot_id; /* text that its /proc shows, "": /dev/null is over it; NULL: the machine's */
    bool own_memory;     /* /dev/shm, and /tmp but for the cache's directory */
    bool no_proc;
} container;

static inline bool is_full_run(void) { return getenv("LARDER_PROOF_FULL") != NULL; }

static inline void count_of(unsigned long count, const char *what) { printf("@ %lu %s\n", count, what); }

static inline const char *new_boot_id(uint64_t seed) {
    static char texts[8][40];
    static int next;
    char *text = texts[next++ % 8];
    uint64_t a = next_random(&seed), b = next_random(&seed);
    snprintf(text, sizeof texts[0], "%08x-%04x-4%03x-8%03x-%012llx\n", (unsigned)(a >> 32),
             (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b >> 52),
             (unsigned long long)(b & 0xffffffffffff));
    return text;
}

/* A directory of the test on top of which its own file systems are mounted, so that its place stays the same. */
static inline bool own_memory_file_systems(void) {
    char kept[64];
    int fd = open(test_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(kept, sizeof kept, "/proc/self/fd/%d", fd);
    bool in_tmp = strncmp(test_directory, "/tmp/", 5) == 0;
    bool done =
        fd >= 0 && (access("/dev/shm", F_OK) != 0 || mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") == 0);
    if (done && in_tmp) { /* the new /tmp hides the directory, until it is bound there again */
        done = mount("tmpfs", "/tmp", "tmpfs", 0, "size=1m") == 0 && run("mkdir -p %s", test_directory) &&
               mount(kept, test_directory, NULL, MS_BIND, NULL) == 0;
    }
    close(fd);
    return done;
}

static inline bool show_boot_id(const char *text) {
    char from[300];
    snprintf(from, sizeof from, "%s/boot-id-XXXXXX", test_directory);
    int fd = mkstemp(from);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
                mount(*text ? from : "/dev/null", "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL) == 0;
    close(fd);
    unlink(from);
    return done;
}

static inline bool furnish(const container *own) {
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount("proc", "/proc", "proc", 0, NULL) != 0) {
        return false;
    }
    return (!own->own_memory || own_memory_file_systems()) && (!own->boot_id || show_boot_id(own->boot_id)) &&
           (!own->no_proc || mount("tmpfs", "/proc", "tmpfs", 0, "size=1m") == 0);
}

/* The first process of a new container runs `body`; made by clone itself, so it is our child. */
static inline pid_t start_container(const container *own, void (*body)(int), int who) {
    fflush(NULL);
    pid_t pid =
        (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CHILD_CHECK(furnish(own));
        body(who);
        _exit(0);
    }
    return pid;
}

static inline bool in_container(const container *own, void (*body)(int), int who) {
    pid_t pid = start_container(own, body, who);
    return pid > 0 && exited_well(pid);
}

static inline bool may_contain(const char *what) {
    static const container plain = {0};
    pid_t pid =
        (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        _exit(furnish(&plain) ? 0 : 1);
    }
    bool may = pid > 0 && wait_for(pid) == 0;
    if (!may) {
        printf("@note not run here, for no namespaces can be made: %s\n", what);
    }
    return may;
}

#endif
