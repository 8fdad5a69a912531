/*
 * memory_group.h — makes a memory control group for tests and measuring programs that need a limit.
 *
 * Supports version 1 and version 2 of control groups. The group is made beside the other groups at the root of the
 * mount, a child process enters it, and its creator removes it. Needs root, or a delegated group.
 */
#ifndef LARD_MEMORY_GROUP_H
#define LARD_MEMORY_GROUP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    char directory[300];
    bool second; /* version 2 */
} memory_group;

/* 0, or errno. */
static inline int memory_group_write(const memory_group *group, const char *file, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", group->directory, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int code = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return code;
}

/* Where control groups with memory limits are mounted; false where none are. */
static inline bool memory_group_mount(char root[256], bool *second) {
    char line[1024], type[64], options[512], controllers[512] = "";
    FILE *mounts = fopen("/proc/self/mounts", "re");
    bool found = false;
    while (mounts && !found && fgets(line, sizeof line, mounts)) {
        if (sscanf(line, "%*s %255s %63s %511s", root, type, options) != 3) {
            continue;
        }
        if (!strcmp(type, "cgroup") && strstr(options, "memory")) {
            *second = false;
            found = true;
        } else if (!strcmp(type, "cgroup2")) {
            char path[300];
            snprintf(path, sizeof path, "%s/cgroup.controllers", root);
            FILE *file = fopen(path, "re");
            *second = found =
                file && fgets(controllers, sizeof controllers, file) && strstr(controllers, "memory");
            if (file) {
                fclose(file);
            }
        }
    }
    if (mounts) {
        fclose(mounts);
    }
    return found;
}

/* NULL, or why there is none. It has no limit yet. */
static inline const char *memory_group_make(memory_group *group) {
    static unsigned made;
    static char reason[400];
    char root[256];
    if (!memory_group_mount(root, &group->second)) {
        return "no control groups with a memory controller are mounted";
    }
    if (group->second) { /* fails where it is on already, or may not be: then a limit cannot be set */
        snprintf(group->directory, sizeof group->directory, "%s", root);
        memory_group_write(group, "cgroup.subtree_control", "+memory");
    }
    snprintf(group->directory, sizeof group->directory, "%s/larder-%ld-%u", root, (long)getpid(), made++);
    if (mkdir(group->directory, 0755) != 0) {
        snprintf(reason, sizeof reason, "mkdir %s: %s", group->directory, strerror(errno));
        return reason;
    }
    return NULL;
}

/* 0, or errno: EBUSY where that much cannot be taken away now. */
static inline int memory_group_limit(const memory_group *group, uint64_t bytes) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    return memory_group_write(group, group->second ? "memory.max" : "memory.limit_in_bytes", text);
}

/* The calling process, and the children it will have: 0, or errno. */
static inline int memory_group_enter(const memory_group *group) {
    return memory_group_write(group, "cgroup.procs", "0");
}

/* When all who entered have ended; the kernel takes a moment to see that. */
static inline void memory_group_remove(const memory_group *group) {
    struct timespec moment = {0, 5000000};
    for (int i = 0; i < 400 && rmdir(group->directory) != 0 && errno == EBUSY; i++) {
        nanosleep(&moment, NULL);
    }
}

#endif
