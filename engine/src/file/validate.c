/*
 * validate.c — decides whether an existing file can be used, must be replaced, or must not be touched.
 *
 * lard_validate_read reads the facts; lard_validate, a pure function, judges them. It trusts a superblock only if
 * the format's plan confirms every offset. The opener's lock is held.
 */
#define _GNU_SOURCE
#include "file/validate.h"
#include "base/boot.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/inode.h"
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

/* A process marked the file but did not remove it. If it was interrupted, only some bytes of the mark are there.
 */
static bool is_marked(uint32_t superseded) { return (superseded & 0x01010101u) * 0xffu == superseded; }
_Static_assert(LARD_SUPERSEDED == 0xffffffffu, "is_marked compares each byte of it");

/*
 * Is a file without superblocks one that create() did not finish, or that lost them later? Then it has Larder's
 * control page, or is all zeros. It is not enough that it begins with zeros, because disk images do too. 0, or
 * errno.
 */
static int look_whether_unfinished(int fd, const lard_control *control, uint64_t file_bytes, bool *unfinished) {
    uint8_t chunk[16384];
    size_t got;
    *unfinished = true;
    if (control->clear_epoch.raw_ && (control->clean.raw_ <= LARD_DIRTY || control->clean.raw_ == LARD_CLEAN) &&
        control->features.raw_ == 0 && (control->boot_id[0].raw_ || control->boot_id[1].raw_)) {
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
        if (at <= LARD_CONTROL_OFFSET && is_marked(control->superseded.raw_)) {
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

static bool is_newer(const lard_superblock *super, const lard_control *control) {
    return super->endian_probe == LARD_ENDIAN_PROBE &&
           (super->format_major > LARD_FORMAT_MAJOR ||
            (super->format_major == LARD_FORMAT_MAJOR &&
             (super->format_minor > LARD_FORMAT_MINOR || control->features.raw_)));
}

/*
 * False if the machine was booted since the file was first opened. A container may have its own boot id, or one
 * that never changes: so this is asked only if no other process is attached, and a smaller uptime means a boot
 * too.
 */
static bool is_same_boot(const lard_validate_facts *facts) {
    const lard_control *control = &facts->control;
    const uint64_t *boot = facts->boot;
    return (boot[0] || boot[1]) && control->boot_id[0].raw_ == boot[0] && control->boot_id[1].raw_ == boot[1] &&
           (facts->uptime_ms == 0 || (int64_t)control->uptime_ms.raw_ <= facts->uptime_ms);
}

/* Does the file have the inode it was created with, and the lock file's use number? Otherwise it is a copy, or was
 * put back from one. */
static bool is_original(const lard_validate_facts *facts, const lard_lockfile_content *lock) {
    const lard_control *control = &facts->control;
    const uint64_t noted[2] = {control->inode[0].raw_, control->inode[1].raw_};
    return lard_inode_is_same(noted, facts->inode) && control->use.raw_ &&
           (control->use.raw_ == lock->use[0] || control->use.raw_ == lock->use[1]);
}

/* The number of a valid superblock, or -1. */
static int sound_copy(const lard_superblock copies[2], uint64_t file_bytes) {
    return lard_format_valid(&copies[0], file_bytes) ? 0 : lard_format_valid(&copies[1], file_bytes) ? 1 : -1;
}

larder_status lard_validate_read(int fd, const char *path, const struct stat *info, lard_validate_facts *facts,
                                 larder_error *error) {
    uint8_t pages[LARD_CONTROL_OFFSET + sizeof(lard_control)];
    size_t got;

    memset(facts, 0, sizeof *facts);
    memset(pages, 0, sizeof pages);
    int code = lard_inode(fd, facts->inode);
    code = code ? code : lard_io_read(fd, pages, sizeof pages, 0, &got);
    if (code) {
        return lard_fail_call(error, "read", path, code);
    }
    facts->file_bytes = (uint64_t)info->st_size;
    memcpy(&facts->copies[0], pages, sizeof facts->copies[0]);
    memcpy(&facts->copies[1], pages + LARD_PAGE, sizeof facts->copies[1]);
    memcpy(&facts->control, pages + LARD_CONTROL_OFFSET, sizeof facts->control);
    facts->has_superblocks = !all_zero(pages, LARD_CONTROL_OFFSET);
    facts->uptime_ms = lard_boot_uptime_ms();
    if (!facts->has_superblocks) {
        code = look_whether_unfinished(fd, &facts->control, facts->file_bytes, &facts->is_unfinished);
    }
    code = code ? code : lard_descriptor_check(fd, info);
    if (code || !facts->has_superblocks) {
        return code ? lard_fail_call(error, "read", path, code) : LARDER_OK;
    }
    code = lard_boot_id(facts->boot);
    return code ? lard_fail_call(error, "boot id for", path, code) : LARDER_OK;
}

static lard_verdict unfit(const char *reason) { return (lard_verdict){LARD_FILE_UNFIT, reason, -1}; }

static bool is_larders(const lard_superblock *super) {
    return memcmp(super->magic, LARD_MAGIC, sizeof super->magic) == 0;
}

/* The reason why a file with a sound superblock of that `lock_id` must not be used, or NULL. */
static const char *objection(const lard_validate_facts *facts, const uint8_t lock_id[16],
                             const lard_lockfile_content *lock, bool alone) {
    if (memcmp(lock_id, lock->id, sizeof lock->id) != 0 || facts->control.superseded.raw_) {
        return "it, or its lock file, was replaced";
    }
    if (!is_original(facts, lock)) {
        return "it is a copy, or was put back from one";
    }
    /* After a crash of the machine any subset of the pages may be on disk, so a deleted value might come back. */
    if (alone && facts->control.clean.raw_ != LARD_CLEAN && !is_same_boot(facts)) {
        return "it was in use when the machine crashed";
    }
    return NULL;
}

lard_verdict lard_validate(const lard_validate_facts *facts, const lard_lockfile_content *lock, bool alone) {
    const lard_superblock *copies = facts->copies;
    if (!facts->has_superblocks && facts->is_unfinished) {
        return unfit("it was not finished");
    }
    if (!is_larders(&copies[0]) && !is_larders(&copies[1])) {
        return (lard_verdict){LARD_FILE_FOREIGN, NULL, -1};
    }
    for (int i = 0; i < 2; i++) {
        if (is_larders(&copies[i]) && is_newer(&copies[i], &facts->control) && !alone) {
            return (lard_verdict){LARD_FILE_NEWER, NULL, -1};
        }
    }
    int sound = sound_copy(copies, facts->file_bytes);
    if (sound < 0 || facts->control.clear_epoch.raw_ == 0 || facts->control.features.raw_) {
        return unfit("it is damaged or of another version");
    }
    const char *reason = objection(facts, copies[sound].lock_id, lock, alone);
    return reason ? unfit(reason) : (lard_verdict){LARD_FILE_FIT, NULL, sound};
}
