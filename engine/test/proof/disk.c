/*
 * disk.c — records what the engine does to its files. See disk.h. Images are made
 * by image.c.
 */
#include "record.h"

#include <stdarg.h>
#include <sys/syscall.h>

int disk_boot = 1;
disk_record *the_disk;
static char the_directory[300];

/* Maps of this process; a forked child inherits them at the same addresses. */
static struct {
    uint8_t *base;
    size_t bytes;
    int file;
} maps[DISK_FILES];
static bool busy; /* inside the recorder, whose own calls are not recorded */

extern int __real_open(const char *path, int flags, ...);
extern int __real_unlink(const char *path);
extern int __real_fsync(int fd);
extern int __real_msync(void *at, size_t bytes, int flags);
extern int __real_munmap(void *at, size_t bytes);
extern void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
extern ssize_t __real_pwrite(int fd, const void *from, size_t bytes, off_t at);
extern int __real_posix_fallocate(int fd, off_t from, off_t bytes);

static bool recording(void) { return the_disk && the_disk->on && !busy; }

const char *disk_path(int name) {
    static char paths[2][400];
    snprintf(paths[name], sizeof paths[name], "%s/t.larder%s", the_directory, name == NAME_LOCK ? ".lock" : "");
    return paths[name];
}

static int name_of(const char *path) {
    return strcmp(path, disk_path(NAME_CACHE)) == 0  ? NAME_CACHE
           : strcmp(path, disk_path(NAME_LOCK)) == 0 ? NAME_LOCK
                                                     : -1;
}

static void *more(uint32_t *count, uint32_t most, void *table, size_t bytes, const char *what) {
    if (*count >= most) {
        fprintf(stderr, "the record has no room for more %s\n", what);
        abort();
    }
    return (char *)table + bytes * (*count)++;
}
#define MORE(table, count, what)                                                              \
    more(&the_disk->count, sizeof the_disk->table / sizeof *the_disk->table, the_disk->table, \
         sizeof *the_disk->table, what)

static uint32_t tick(void) { return ++the_disk->now; }

uint32_t disk_now(void) { return the_disk->now; }
uint32_t disk_first(void) { return the_disk->first; }

static void moment(void) {
    disk_moment *at = MORE(moments, moment_count, "moments");
    at->time = the_disk->now;
}

static void see_page(int file, uint32_t page, const uint8_t *bytes, uint32_t length) {
    disk_file *f = &the_disk->files[file];
    if (page >= DISK_PAGES || memcmp(f->now[page], bytes, length) == 0) {
        return;
    }
    memcpy(f->now[page], bytes, length);
    disk_version *version = MORE(versions, version_count, "versions");
    *version = (disk_version){.time = the_disk->now, .before = f->latest[page]};
    memcpy(version->bytes, f->now[page], DISK_PAGE);
    f->latest[page] = the_disk->version_count; /* its number + 1 */
    if (page == 2) {
        moment();
    }
}

void disk_look(void) {
    if (!recording()) {
        return;
    }
    tick();
    for (int i = 0; i < DISK_FILES; i++) {
        for (uint32_t page = 0; maps[i].base && page < maps[i].bytes / DISK_PAGE; page++) {
            see_page(maps[i].file, page, maps[i].base + (size_t)page * DISK_PAGE, DISK_PAGE);
        }
    }
}

/* Before each store: the page of the store before it has changed, and no other but for statistics. */
static void look_at(const void *store) {
    tick();
    for (int i = 0; i < DISK_FILES; i++) {
        const uint8_t *at = store, *base = maps[i].base;
        if (base && at >= base && at < base + maps[i].bytes) {
            uint32_t page = (uint32_t)((size_t)(at - base) / DISK_PAGE);
            see_page(maps[i].file, page, base + (size_t)page * DISK_PAGE, DISK_PAGE);
        }
    }
}

void __wrap_lard_crash_point(const void *at) {
    extern void __real_lard_crash_point(const void *at);
    static const void *before;
    if (recording()) {
        before ? look_at(before) : disk_look();
    }
    before = at;
    __real_lard_crash_point(at);
}

static int file_of_fd(int fd) {
    struct stat info;
    if (fstat(fd, &info) == 0) {
        for (int i = (int)the_disk->file_count - 1; i >= 0; i--) {
            if (the_disk->files[i].inode == info.st_ino) {
                return i;
            }
        }
    }
    return -1;
}

static void name_changed(int name, int file) {
    disk_naming *change = MORE(namings, naming_count, "names");
    *change = (disk_naming){.time = tick(), .name = name, .file = file};
    moment();
}

static void length_changed(int file, uint64_t bytes) {
    disk_file *f = &the_disk->files[file];
    if (bytes > f->lengths[f->length_count - 1].bytes && f->length_count < DISK_LENGTHS) {
        f->lengths[f->length_count++] = (disk_length){.time = tick(), .bytes = bytes};
    }
}

static int new_file(int fd) {
    struct stat info;
    disk_file *f = MORE(files, file_count, "files");
    memset(f, 0, sizeof *f);
    f->inode = fstat(fd, &info) == 0 ? info.st_ino : 0;
    f->lengths[0] = (disk_length){.time = the_disk->now, .bytes = 0};
    f->length_count = 1;
    return (int)the_disk->file_count - 1;
}

int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    int name = recording() ? name_of(path) : -1;
    bool makes = name >= 0 && (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = __real_open(path, flags, mode);
    if (makes && fd >= 0) {
        name_changed(name, new_file(fd));
    }
    return fd;
}

int __wrap_unlink(const char *path) {
    int failed = __real_unlink(path);
    if (!failed && recording() && name_of(path) >= 0) {
        name_changed(name_of(path), -1);
    }
    return failed;
}

void disk_unlink(int name) { __wrap_unlink(disk_path(name)); }

ssize_t __wrap_pwrite(int fd, const void *from, size_t bytes, off_t at) {
    uint8_t page[DISK_PAGE];
    ssize_t done = __real_pwrite(fd, from, bytes, at);
    int file = done > 0 && recording() ? file_of_fd(fd) : -1;
    if (file >= 0) {
        length_changed(file, (uint64_t)(at + done));
        tick();
        for (uint32_t p = (uint32_t)(at / DISK_PAGE); p <= (uint32_t)((at + done - 1) / DISK_PAGE); p++) {
            ssize_t got = pread(fd, page, DISK_PAGE, (off_t)p * DISK_PAGE);
            see_page(file, p, page, got > 0 ? (uint32_t)got : 0);
        }
    }
    return done;
}

int __wrap_posix_fallocate(int fd, off_t from, off_t bytes) {
    int failed = __real_posix_fallocate(fd, from, bytes);
    int file = !failed && recording() ? file_of_fd(fd) : -1;
    if (file >= 0) {
        length_changed(file, (uint64_t)(from + bytes));
    }
    return failed;
}

/* Space that is released reads as zeros: that is a version of the page, like any other change. */
int __wrap_fallocate(int fd, int mode, off_t from, off_t bytes) {
    extern int __real_fallocate(int fd, int mode, off_t from, off_t bytes);
    int failed = __real_fallocate(fd, mode, from, bytes);
    disk_look();
    return failed;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    void *base = __real_mmap(at, bytes, protection, flags, fd, offset);
    bool read = base != MAP_FAILED && protection != PROT_NONE; /* the page that holds a lock is not */
    int file = read && recording() && fd >= 0 && (flags & MAP_SHARED) ? file_of_fd(fd) : -1;
    for (int i = 0; file >= 0 && i < DISK_FILES; i++) {
        if (!maps[i].base) {
            maps[i].file = file;
            maps[i].bytes = bytes;
            maps[i].base = base;
            break;
        }
    }
    return base;
}

int __wrap_munmap(void *at, size_t bytes) {
    if (recording()) {
        disk_look();
    }
    for (int i = 0; i < DISK_FILES; i++) {
        if (maps[i].base == at) {
            maps[i].base = NULL;
        }
    }
    return __real_munmap(at, bytes);
}

/* A sync of pages, or of a directory (file -1), promised once it has returned. */
static void promise(int file, uint32_t begin, uint32_t first, uint32_t last, bool failed) {
    disk_sync *sync = MORE(syncs, sync_count, "syncs");
    *sync =
        (disk_sync){.begin = begin, .end = tick(), .file = file, .first = first, .last = last, .failed = failed};
    moment();
}

static bool is_forgotten(const uint8_t *base, size_t bytes) {
    const lard_control *control = (const lard_control *)base;
    switch (the_disk->how) {
    case FORGETS_DATA:
        return bytes > DISK_PAGE;
    case FORGETS_REOPENING:
        return bytes == DISK_PAGE && lard_load(&control->clean) == LARD_DIRTY;
    case FORGETS_MARK:
        return bytes == DISK_PAGE && lard_load(&control->clean) == LARD_CLEAN;
    default:
        return false;
    }
}

int __wrap_msync(void *at, size_t bytes, int flags) {
    if (!recording()) {
        return __real_msync(at, bytes, flags);
    }
    disk_look();
    uint32_t begin = disk_now();
    moment();
    bool fails = the_disk->sync_failures && the_disk->syncs_before_failure-- <= 0;
    for (int i = 0; i < DISK_FILES; i++) {
        uint8_t *base = maps[i].base;
        if (base && (uint8_t *)at >= base && (uint8_t *)at < base + maps[i].bytes && (flags & MS_SYNC) &&
            !is_forgotten(at, bytes)) {
            uint32_t first = (uint32_t)((size_t)((uint8_t *)at - base) / DISK_PAGE);
            promise(maps[i].file, begin, first, first + (uint32_t)((bytes - 1) / DISK_PAGE), fails);
        }
    }
    if (fails) {
        the_disk->sync_failures--;
        errno = EIO;
        return -1;
    }
    return 0;
}

static int sync_file(int fd) {
    struct stat info;
    if (!recording()) {
        return __real_fsync(fd);
    }
    disk_look();
    uint32_t begin = disk_now();
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (the_disk->how != FORGETS_NAMES) {
            promise(-1, begin, 0, 0, false);
        }
    } else if (file_of_fd(fd) >= 0) {
        promise(file_of_fd(fd), begin, 0, DISK_PAGES - 1, false);
    }
    return 0;
}

int __wrap_fsync(int fd) { return sync_file(fd); }
int __wrap_fdatasync(int fd) { return sync_file(fd); }

/* An image is the same file, whatever directory it is made in. */
int __wrap_lard_inode(int fd, uint64_t inode[2]);
int __wrap_lard_inode(int fd, uint64_t inode[2]) {
    (void)fd;
    inode[0] = inode[1] = 1;
    return 0;
}

int __wrap_lard_boot_id(uint64_t id[2]) {
    id[0] = disk_boot > 0 ? 0x1111111111111111ull * (unsigned)disk_boot : 0;
    id[1] = disk_boot > 0 ? 77u * (unsigned)disk_boot : 0;
    return 0;
}

void disk_fail_syncs(int after, int count) {
    the_disk->syncs_before_failure = after;
    the_disk->sync_failures = count;
}

void disk_be(dishonesty how) { the_disk->how = how; }
uint64_t disk_syncs(void) { return the_disk->sync_count; }
uint64_t disk_versions(void) { return the_disk->version_count; }

size_t disk_moments(uint32_t *out, size_t most) {
    size_t count = 0;
    for (uint32_t i = 0; i < the_disk->moment_count && count < most; i++) {
        if (count == 0 || out[count - 1] != the_disk->moments[i].time) {
            out[count++] = the_disk->moments[i].time;
        }
    }
    return count;
}

static void promise_what_is_there(int name) {
    uint8_t page[DISK_PAGE];
    struct stat info;
    int fd = __real_open(disk_path(name), O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        name_changed(name, -1);
        return;
    }
    int file = new_file(fd);
    the_disk->files[file].lengths[0].bytes = (uint64_t)info.st_size;
    for (uint32_t p = 0; (off_t)p * DISK_PAGE < info.st_size; p++) {
        ssize_t got = pread(fd, page, DISK_PAGE, (off_t)p * DISK_PAGE);
        see_page(file, p, page, got > 0 ? (uint32_t)got : 0);
    }
    close(fd);
    name_changed(name, file);
    promise(file, the_disk->now, 0, DISK_PAGES - 1, false);
}

void disk_start(const char *directory) {
    if (!the_disk) {
        the_disk = __real_mmap(NULL, sizeof *the_disk, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (the_disk == MAP_FAILED) {
            perror("mmap");
            exit(1);
        }
    } else {
        memset(the_disk, 0, offsetof(disk_record, files));
    }
    memset(maps, 0, sizeof maps);
    snprintf(the_directory, sizeof the_directory, "%s", directory);
    promise_what_is_there(NAME_CACHE);
    promise_what_is_there(NAME_LOCK);
    promise(-1, the_disk->now, 0, 0, false);
    the_disk->first = the_disk->now;
    the_disk->moment_count = 0;
    the_disk->on = true;
}

void disk_stop(void) { the_disk->on = false; }
