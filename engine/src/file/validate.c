/*
 * validate.c — what a file at the cache's path is: fit to be used, Larder's but not fit,
 * or somebody else's.
 *
 * Called with the opener's lock held (process.c). Believes nothing that the format's
 * plan does not confirm. A file that is not Larder's is never touched, and one that
 * could not be read is not taken for damaged.
 */
#define _GNU_SOURCE
#include "file/validate.h"
#include "base/fail.h"
#include "base/io.h"
#include "file/format.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool all_zero(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/*
 * Whether a file without superblocks is one that create() did not finish, or lost them later: it has Larder's
 * control page, or nothing but zeros. Disk images begin with zeros too. Answers 0, or errno.
 */
static int is_unfinished(int fd, const lard_control *control, uint64_t file_bytes, bool *unfinished) {
    uint8_t chunk[16384];
    size_t got;
    *unfinished = true;
    if (control->clear_epoch.raw_ && control->superseded.raw_ <= 1 && control->clean.raw_ <= LARD_DIRTY &&
        control->reserved.raw_ == 0 && (control->boot_id[0].raw_ || control->boot_id[1].raw_)) {
        return 0;
    }
    for (off_t at = 0; (uint64_t)at < file_bytes;) {
#ifdef SEEK_DATA
        off_t data = lseek(fd, at, SEEK_DATA); /* reserved space is a hole until it is written */
        if (data < 0 && errno == ENXIO) {
            return 0;
        }
        at = data > at ? data : at;
#endif
        int code = lard_io_read(fd, chunk, sizeof chunk, (uint64_t)at, &got);
        if (code) {
            return code;
        }
        if (at <= LARD_CONTROL_OFFSET &&
            control->superseded.raw_ == 1) { /* who marked it did not come to remove it */
            memset(chunk + (LARD_CONTROL_OFFSET - at), 0, sizeof control->superseded);
        }
        if (!all_zero(chunk, got)) {
            *unfinished = false;
            return 0;
        }
        if (got == 0) {
            break;
        }
        at += (off_t)got;
    }
    return 0;
}

static bool is_newer(const lard_superblock *super) {
    return super->endian_probe == LARD_ENDIAN_PROBE &&
           (super->format_major > LARD_FORMAT_MAJOR ||
            (super->format_major == LARD_FORMAT_MAJOR && super->format_minor > LARD_FORMAT_MINOR));
}

/*
 * Whether the machine was booted since the file was first opened. Containers may have boot ids of their own, or
 * one for ever: so whoever is not alone does not ask, and an uptime that has become less is another boot, too.
 */
static bool is_same_boot(const lard_control *control, const uint64_t boot[2]) {
    int64_t uptime_ms = lard_uptime_ms();
    return (boot[0] || boot[1]) && control->boot_id[0].raw_ == boot[0] && control->boot_id[1].raw_ == boot[1] &&
           (uptime_ms == 0 || (int64_t)control->uptime_ms.raw_ <= uptime_ms);
}

/* Whether the file is still where it was made, and of the lock file's use: neither a copy nor put back. */
static bool is_original(const lard_control *control, const uint64_t inode[2], const lard_lockfile_content *lock) {
    const uint64_t noted[2] = {control->inode[0].raw_, control->inode[1].raw_};
    return lard_is_same_inode(noted, inode) && control->use.raw_ &&
           (control->use.raw_ == lock->use[0] || control->use.raw_ == lock->use[1]);
}

/* The superblock that is sound, or -1. */
static int sound_copy(const lard_superblock copies[2], uint64_t file_bytes) {
    return lard_format_valid(&copies[0], file_bytes) ? 0 : lard_format_valid(&copies[1], file_bytes) ? 1 : -1;
}

larder_status lard_validate(int fd, const char *path, const lard_lockfile_content *lock, bool alone,
                            const char **unfit, lard_superblock *super, larder_error *error) {
    uint8_t pages[LARD_CONTROL_OFFSET + sizeof(lard_control)];
    lard_superblock copies[2];
    lard_control control;
    uint64_t boot[2], inode[2], file_bytes = 0;
    struct stat info;
    size_t got;

    *unfit = "it was not finished";
    memset(pages, 0, sizeof pages);
    int code = fstat(fd, &info) == 0 ? lard_inode(fd, inode) : errno;
    file_bytes = code ? 0 : (uint64_t)info.st_size;
    code = code ? code : lard_io_read(fd, pages, sizeof pages, 0, &got);
    if (code) {
        return lard_fail_call(error, "read", path, code);
    }
    memcpy(&control, pages + LARD_CONTROL_OFFSET, sizeof control);
    if (all_zero(pages, LARD_CONTROL_OFFSET)) {
        bool unfinished;
        code = is_unfinished(fd, &control, file_bytes, &unfinished);
        return code         ? lard_fail_call(error, "read", path, code)
               : unfinished ? LARDER_OK
                            : lard_fail(error, LARDER_NOT_LARDER, 0, "%s", path);
    }
    memcpy(&copies[0], pages, sizeof *copies);
    memcpy(&copies[1], pages + LARD_PAGE, sizeof *copies);
    bool ours = false;
    for (int i = 0; i < 2; i++) {
        if (memcmp(copies[i].magic, LARD_MAGIC, sizeof copies[i].magic) != 0) {
            continue;
        }
        ours = true;
        if (is_newer(&copies[i]) && !alone) {
            return lard_fail(error, LARDER_NEWER_VERSION, 0, "%s", path);
        }
    }
    if (!ours) {
        return lard_fail(error, LARDER_NOT_LARDER, 0, "%s", path);
    }
    int sound = sound_copy(copies, file_bytes);
    *unfit = "it is damaged or of another version";
    if (sound < 0 || control.clear_epoch.raw_ == 0) {
        return LARDER_OK;
    }
    *unfit = "it, or its lock file, was replaced";
    if (memcmp(copies[sound].lock_id, lock->id, 16) != 0 || control.superseded.raw_) {
        return LARDER_OK;
    }
    *unfit = "it is a copy, or was put back from one";
    if (!is_original(&control, inode, lock)) {
        return LARDER_OK;
    }
    *unfit = "it was in use when the machine crashed";
    if ((code = lard_boot_id(boot)) != 0) {
        return lard_fail_call(error, "boot id for", path, code);
    }
    if (alone && control.clean.raw_ != LARD_CLEAN && !is_same_boot(&control, boot)) {
        return LARDER_OK; /* pages may have come back from the crash in any subset: a deleted value must not */
    }
    if (sound == 1) {
        lard_io_write(fd, &copies[1], sizeof *copies, 0); /* where this fails the copy goes on serving */
    }
    *super = copies[sound];
    *unfit = NULL;
    return LARDER_OK;
}
