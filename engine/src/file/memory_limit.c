/*
 * memory_limit.c — reads the memory limits of this process's control groups, and checks that a file fits.
 *
 * A file on tmpfs is in memory. If a control group has less memory left than the file needs, the kernel does not
 * refuse the space but kills the process. So this is checked before a file is created, and before hints take
 * memory (hints_file.c). Both versions of control groups are supported (Linux,
 * Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst). If no limit can be read, there is none. Swap
 * is not counted: a cache in swap is useless. Takes no lock. Reads into memory that is not on the stack, because
 * threads and fibers may have little stack left.
 *
 * lib/larder/bytes/memory_limit.rb reads the same files for larder doctor, which asks something else: the least
 * limit of all groups and of the machine, whatever is in use.
 */
#define _GNU_SOURCE
#include "file/memory_limit.h"
#include "base/fail.h"
#include "base/descriptor.h"
#include "base/filesystem.h"
#include "base/place.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define UNLIMITED (1ull << 60) /* version 1 writes a greater number if there is no limit */
#define OVERHEAD_PART 64       /* part of a file's size that the kernel needs in addition, to find its pages */
#define MAX_LINE_BYTES 8192

typedef bool line_reader(void *context, char *line); /* false: no more lines */

static ssize_t read_some(int fd, char *out, size_t bytes) {
    ssize_t got;
    do {
        got = read(fd, out, bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Calls `reader` with each line of a file, which is read into `text`, of MAX_LINE_BYTES and one. Lines that are
 * too long are split. */
static void each_line(char *text, const char *path, line_reader *reader, void *context) {
    size_t have = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (bool more = fd >= 0; more;) {
        ssize_t got = read_some(fd, text + have, MAX_LINE_BYTES - have);
        have += got > 0 ? (size_t)got : 0;
        text[have] = '\0';
        char *line = text, *end;
        while (more && ((end = strchr(line, '\n')) || (*line && (got <= 0 || have == MAX_LINE_BYTES)))) {
            char *next = end ? end + 1 : text + have;
            if (end) {
                *end = '\0';
            }
            more = reader(context, line);
            line = next;
        }
        have -= (size_t)(line - text);
        memmove(text, line, have);
        more = more && got > 0;
    }
    bool is_kernels;
    if (fd >= 0) {
        lard_descriptor_close_read(fd, path, &is_kernels);
    }
}

/* ---- the directory of this process's group ---- */

typedef struct {
    bool first, second; /* version 1 controls memory; the process is in a group of version 2 */
    char path[LARD_PATH_MAX], path_of_second[LARD_PATH_MAX];
    char mount[LARD_PATH_MAX]; /* of the version that controls memory; empty: not found */
    char root[LARD_PATH_MAX];  /* the group at the root of the mount */
} placement;

typedef struct {
    placement where;
    char directory[LARD_PATH_MAX]; /* of the group that is read */
    char path[LARD_PATH_MAX + 32]; /* of a file there */
    char text[MAX_LINE_BYTES + 1];
} question;

static bool lists(const char *names, const char *name) { /* separated by commas */
    size_t length = strlen(name);
    for (const char *at = strstr(names, name); at; at = strstr(at + 1, name)) {
        if ((at == names || at[-1] == ',') && (at[length] == '\0' || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

/* 4:memory:/path or 0::/path */
static bool read_group(void *context, char *line) {
    placement *where = context;
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) {
        return true;
    }
    *path++ = '\0';
    if (lists(++controllers, "memory")) {
        where->first = true;
        snprintf(where->path, sizeof where->path, "%s", path);
    } else if (*controllers == '\0') {
        where->second = true;
        snprintf(where->path_of_second, sizeof where->path_of_second, "%s", path);
    }
    return true;
}

/* The part of the group's path below the root of a mount. NULL: the group is not in the mount. */
static const char *shown_below(const placement *where, const char *root) {
    const char *path = where->first ? where->path : where->path_of_second;
    size_t length = strcmp(root, "/") ? strlen(root) : 0;
    bool below = strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0') &&
                 strncmp(path, "/..", 3) != 0;
    return !below ? NULL : strcmp(path + length, "/") ? path + length : "";
}

/* Takes the first mount that contains the group, else the last mount.
 * 36 35 0:30 /root /mount rw,relatime - cgroup cgroup rw,memory */
static bool read_mount(void *context, char *line) {
    placement *where = context;
    char *fields[4], *rest = strstr(line, " - "), *save = NULL;
    if (!rest) {
        return true;
    }
    *rest = '\0';
    strtok_r(line, " ", &save);
    for (int i = 0; i < 4; i++) {
        fields[i] = strtok_r(NULL, " ", &save);
    }
    char *type = strtok_r(rest + 3, " ", &save), *options = NULL;
    if (!fields[3] || !type || (strtok_r(NULL, " ", &save) && !(options = strtok_r(NULL, " ", &save)))) {
        return true;
    }
    bool wanted =
        where->first ? !strcmp(type, "cgroup") && options && lists(options, "memory") : !strcmp(type, "cgroup2");
    if (wanted) {
        snprintf(where->root, sizeof where->root, "%s", fields[2]);
        snprintf(where->mount, sizeof where->mount, "%s", fields[3]);
    }
    return !(wanted && shown_below(where, where->root));
}

/* The group's directory, or the mount's if the group is not in it: that is a group above. */
static void directory_of(const placement *where, char *out, size_t bytes) {
    const char *below = shown_below(where, where->root);
    if ((size_t)snprintf(out, bytes, "%s%s", where->mount, below ? below : "") >= bytes) {
        snprintf(out, bytes, "%s", where->mount);
    }
}

/* ---- its limits ---- */

typedef struct {
    const char *active, *inactive;
    uint64_t bytes;
} file_pages;

static bool add_file_pages(void *context, char *line) {
    file_pages *pages = context;
    char *value = strchr(line, ' ');
    if (value) {
        *value = '\0';
        if (!strcmp(line, pages->active) || !strcmp(line, pages->inactive)) {
            pages->bytes += strtoull(value + 1, NULL, 10);
        }
    }
    return true;
}

typedef struct {
    uint64_t value;
} number;

static bool read_number(void *context, char *line) {
    number *found = context;
    char *end;
    found->value = strtoull(line, &end, 10);
    if (end == line) { /* "max" */
        found->value = UINT64_MAX;
    }
    return false;
}

static void read_in(question *asked, const char *file, line_reader *reader, void *context) {
    snprintf(asked->path, sizeof asked->path, "%s/%s", asked->directory, file);
    each_line(asked->text, asked->path, reader, context);
}

static uint64_t number_in(question *asked, const char *file) {
    number found = {UINT64_MAX};
    read_in(asked, file, read_number, &found);
    return found.value;
}

/* Memory in use, without the pages of files on disks, which the kernel can evict. */
static uint64_t used_in(question *asked) {
    bool first = asked->where.first;
    file_pages pages = first ? (file_pages){"total_active_file", "total_inactive_file", 0}
                             : (file_pages){"active_file", "inactive_file", 0};
    uint64_t all = number_in(asked, first ? "memory.usage_in_bytes" : "memory.current");
    read_in(asked, "memory.stat", add_file_pages, &pages);
    return all == UINT64_MAX ? 0 : all > pages.bytes ? all - pages.bytes : 0;
}

/* Finds the directory of this process's group. False: it is in none that limits memory. */
static bool find_group(question *asked) {
    placement *where = &asked->where;
    each_line(asked->text, "/proc/self/cgroup", read_group, where);
    if (where->first || where->second) {
        each_line(asked->text, "/proc/self/mountinfo", read_mount, where);
    }
    if (!where->mount[0]) {
        return false;
    }
    directory_of(where, asked->directory, sizeof asked->directory);
    return true;
}

static bool least_of_groups(question *asked, uint64_t *limit_bytes, uint64_t *used_bytes) {
    uint64_t least = UINT64_MAX;
    char *directory = asked->directory;
    for (size_t shortest = strlen(asked->where.mount);
         strlen(directory) >= shortest;) { /* each group above limits it too */
        uint64_t limit = number_in(asked, asked->where.first ? "memory.limit_in_bytes" : "memory.max");
        if (limit < UNLIMITED) {
            uint64_t used = used_in(asked), left = limit > used ? limit - used : 0;
            if (left < least) {
                least = left;
                *limit_bytes = limit;
                *used_bytes = used;
            }
        }
        char *last = strrchr(directory, '/');
        if (!last) {
            break;
        }
        *last = '\0';
    }
    return least != UINT64_MAX;
}

/* Gives its memory back at once: the group may have little left. */
bool lard_memory_limit(uint64_t *limit_bytes, uint64_t *used_bytes) {
    question *asked = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (asked == MAP_FAILED) {
        return false;
    }
    bool found = find_group(asked) && least_of_groups(asked, limit_bytes, used_bytes);
    munmap(asked, sizeof *asked);
    return found;
}

uint64_t lard_memory_limit_left(uint64_t more) {
    uint64_t limit, used;
    return !lard_memory_limit(&limit, &used) ? UINT64_MAX : (limit > used ? limit - used : 0) + more;
}

larder_status lard_memory_limit_admits(int fd, const char *path, uint64_t bytes, uint64_t more,
                                       larder_error *error) {
    uint64_t limit, used, need = bytes + bytes / OVERHEAD_PART + more;
    if (!lard_filesystem_is_memory(fd) || !lard_memory_limit(&limit, &used) ||
        (used < limit && need <= limit - used)) {
        return LARDER_OK;
    }
    return lard_fail(
        error, LARDER_NO_SPACE, ENOSPC,
        "%s: it would be in memory, of which the control group allows %llu MiB and has %llu MiB in use; "
        "choose a size below %llu MiB, or a path on a disk",
        path, (unsigned long long)limit >> 20, (unsigned long long)used >> 20,
        (unsigned long long)(used + more < limit ? (limit - used - more) / (OVERHEAD_PART + 1) * OVERHEAD_PART
                                                 : 0) >>
            20);
}

#else

bool lard_memory_limit(uint64_t *limit_bytes, uint64_t *used_bytes) {
    (void)limit_bytes, (void)used_bytes;
    return false;
}

uint64_t lard_memory_limit_left(uint64_t more) {
    (void)more;
    return UINT64_MAX;
}

larder_status lard_memory_limit_admits(int fd, const char *path, uint64_t bytes, uint64_t more,
                                       larder_error *error) {
    (void)fd, (void)path, (void)bytes, (void)more, (void)error;
    return LARDER_OK;
}

#endif
