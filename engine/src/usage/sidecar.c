/*
 * sidecar.c — opens, locks, reads and writes the file of statistics next to a cache.
 *
 * It is opened for each change and closed again: no descriptor of it is open while the host forks, but for a
 * moment, or closes its descriptors. A child that was forked in this moment shares the lock until the parent gives
 * it up.
 */
#define _GNU_SOURCE
#include "usage/sidecar.h"
#include "base/clock.h"
#include "base/crc.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/io.h"
#include "base/place.h"
#include "base/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define HEADER_BYTES 4096u
#define READS 3 /* of a block whose checksum is wrong: another process may be writing it */

_Static_assert(sizeof(larder_usage_counts) == 8 * LARDER_USAGE_WORDS, "counts in the file");
_Static_assert(sizeof(lard_sidecar_header) <= HEADER_BYTES, "the header fits its page");
_Static_assert(sizeof(lard_sidecar_row) == 224, "row of the table");
_Static_assert(sizeof(lard_sidecar_table) == 8 + 65 * 224, "table");
_Static_assert(sizeof(lard_sketch_entry) == 168, "entry of a sketch");
_Static_assert(sizeof(lard_sidecar_group) == 16 + 17 * 136, "group");

uint64_t lard_sidecar_sketches_at(void) { return HEADER_BYTES + sizeof(lard_sidecar_table); }

static uint64_t group_at(uint64_t number) {
    return lard_sidecar_sketches_at() + sizeof(lard_sidecar_sketches) + number * sizeof(lard_sidecar_group);
}

uint64_t lard_sidecar_minute_at(int64_t now_ms) {
    return group_at((uint64_t)now_ms / LARD_SIDECAR_MINUTE_MS % LARD_SIDECAR_MINUTES);
}

uint64_t lard_sidecar_hour_at(int64_t now_ms) {
    return group_at(LARD_SIDECAR_MINUTES + (uint64_t)now_ms / LARD_SIDECAR_HOUR_MS % LARD_SIDECAR_HOURS);
}

uint64_t lard_sidecar_bytes(void) { return group_at(LARD_SIDECAR_MINUTES + LARD_SIDECAR_HOURS); }

static larder_status path_of(const char *cache_path, char path[LARD_LOCK_PATH_MAX], larder_error *error) {
    int written = snprintf(path, LARD_LOCK_PATH_MAX, "%s%s", cache_path, LARD_SIDECAR_SUFFIX);
    return written < 0 || written >= LARD_LOCK_PATH_MAX
               ? lard_fail(error, LARDER_PATH_TOO_LONG, ENAMETOOLONG, "%.200s…", cache_path)
               : LARDER_OK;
}

void lard_sidecar_close(lard_sidecar *file) {
    if (lard_descriptor_check(file->fd, &file->info) == 0) {
        flock(file->fd, LOCK_UN); /* a forked child may have the descriptor, too */
    }
    lard_descriptor_close(file->fd, &file->info);
    file->fd = -1;
}

/* ---- blocks ---- */

static uint32_t crc_after(const void *block, size_t bytes) {
    return lard_crc_bytes(0, (const char *)block + 8, bytes - 8);
}

bool lard_sidecar_read(const lard_sidecar *file, void *block, size_t bytes, uint64_t at) {
    for (int i = 0; i < READS; i++) {
        size_t got = 0;
        uint32_t crc;
        if (lard_io_read(file->fd, block, bytes, at, &got) != 0) {
            return false;
        }
        memcpy(&crc, block, sizeof crc);
        if (got == bytes && crc == crc_after(block, bytes)) {
            return true;
        }
    }
    memset(block, 0, bytes);
    return true;
}

/* The number of rows whose checksums are wrong. Clears them if `clears`. */
static unsigned damaged_rows(lard_sidecar_table *table, bool clears) {
    unsigned damaged = 0;
    for (unsigned i = 0; i <= LARDER_KEYSPACES; i++) {
        lard_sidecar_row *row = &table->rows[i];
        bool is_blank = !row->crc && !row->hash && !row->since_ms;
        if (is_blank ? row->traffic : row->crc != crc_after(row, sizeof *row)) {
            damaged++;
            if (clears) {
                memset(row, 0, sizeof *row);
            }
        }
    }
    return damaged;
}

bool lard_sidecar_read_table(lard_sidecar *file) {
    size_t got = 0;
    for (int i = 0; i < READS; i++) {
        if (lard_io_read(file->fd, &file->table, sizeof file->table, HEADER_BYTES, &got) != 0) {
            return false;
        }
        if (got == sizeof file->table && damaged_rows(&file->table, false) == 0) {
            return true;
        }
    }
    memset((char *)&file->table + got, 0, sizeof file->table - got);
    damaged_rows(&file->table, true);
    return true;
}

int lard_sidecar_write_table(lard_sidecar *file) {
    for (unsigned i = 0; i <= LARDER_KEYSPACES; i++) {
        file->table.rows[i].crc = crc_after(&file->table.rows[i], sizeof file->table.rows[i]);
    }
    int code = lard_descriptor_check(file->fd, &file->info);
    return code ? code : lard_io_write(file->fd, &file->table, sizeof file->table, HEADER_BYTES);
}

int lard_sidecar_write(const lard_sidecar *file, void *block, size_t bytes, uint64_t at) {
    uint32_t crc = crc_after(block, bytes);
    memcpy(block, &crc, sizeof crc);
    int code = lard_descriptor_check(file->fd, &file->info);
    return code ? code : lard_io_write(file->fd, block, bytes, at);
}

static uint32_t crc_of(const lard_sidecar_header *header) {
    return lard_crc_bytes(0, header, offsetof(lard_sidecar_header, crc));
}

int lard_sidecar_write_header(lard_sidecar *file) {
    file->header.crc = crc_of(&file->header);
    int code = lard_descriptor_check(file->fd, &file->info);
    return code ? code : lard_io_write(file->fd, &file->header, sizeof file->header, 0);
}

/* ---- opening ---- */

/* True if these bytes of a header are zeros: the machine crashed before the header was on the disk. A longer file
 * that begins with zeros may be a disk image. */
static bool is_unwritten(const lard_sidecar *file, size_t bytes) {
    static const lard_sidecar_header zeros;
    return memcmp(&file->header, &zeros, bytes) == 0 && (uint64_t)file->info.st_size <= lard_sidecar_bytes();
}

/* OK; UNFIT: it has no valid header of this version, or none was written; NEWER_VERSION or NOT_LARDER. */
static larder_status read_header(lard_sidecar *file, const char *path, larder_error *error) {
    lard_sidecar_header *header = &file->header;
    size_t got = 0;
    int code = lard_io_read(file->fd, header, sizeof *header, 0, &got);
    if (code) {
        return lard_fail_call(error, "read", path, code);
    }
    size_t of_magic = got < sizeof header->magic ? got : sizeof header->magic;
    if (memcmp(header->magic, LARD_SIDECAR_MAGIC, of_magic) != 0 && !is_unwritten(file, got)) {
        return lard_fail(error, LARDER_NOT_LARDER, 0, "%s: it holds no statistics of a cache", path);
    }
    bool is_whole = got == sizeof *header && header->crc == crc_of(header);
    if (is_whole && header->version > LARD_SIDECAR_VERSION) {
        return lard_fail(error, LARDER_NEWER_VERSION, 0, "%s", path);
    }
    bool fits = is_whole && header->version == LARD_SIDECAR_VERSION && header->endian_probe == 0x01020304u &&
                header->file_bytes == lard_sidecar_bytes() && lard_keyspace_is_valid(&header->rules);
    return fits ? LARDER_OK : lard_fail(error, LARDER_UNFIT, 0, "%s", path);
}

/* Opens what is at the path, if it may be trusted. */
static larder_status open_trusted(lard_sidecar *file, const char *path, int flags, larder_error *error) {
    file->fd = lard_descriptor_open(path, flags | O_NONBLOCK, &file->info); /* of a pipe it would wait */
    if (file->fd < 0 && errno == ENOENT) {
        return lard_fail(error, LARDER_NOT_THERE, 0, "%s", path);
    }
    if (file->fd < 0 && errno == ELOOP) {
        return lard_fail(error, LARDER_NOT_REGULAR, 0, "%s", path);
    }
    if (file->fd < 0) {
        return lard_fail_call(error, "open", path, errno);
    }
    larder_status status = lard_place_trusted(file->fd, path, &file->info, error);
    if (status != LARDER_OK) {
        lard_descriptor_close(file->fd, &file->info);
    }
    return status;
}

larder_status lard_sidecar_look(lard_sidecar *file, const char *cache_path, larder_error *error) {
    char path[LARD_LOCK_PATH_MAX];
    larder_status status = path_of(cache_path, path, error);
    status = status == LARDER_OK ? open_trusted(file, path, O_RDONLY, error) : status;
    if (status != LARDER_OK) {
        return status;
    }
    for (int i = 0; i < READS && (status = read_header(file, path, error)) == LARDER_UNFIT; i++) {
    }
    if (status != LARDER_OK) {
        lard_sidecar_close(file);
    }
    return status;
}

static int empty(const lard_sidecar *file) {
    int code = lard_descriptor_check(file->fd, &file->info);
    return code ? code : ftruncate(file->fd, 0) == 0 ? 0 : errno;
}

/* Makes an empty sidecar of a file that has no valid header. It has all its blocks, so that a full disk does not
 * stop later changes. */
static larder_status make(lard_sidecar *file, const char *path, larder_error *error) {
    int code = empty(file);
    code = code ? code : lard_space_reserve(file->fd, &file->info, 0, lard_sidecar_bytes());
    file->header = (lard_sidecar_header){.magic = LARD_SIDECAR_MAGIC,
                                         .version = LARD_SIDECAR_VERSION,
                                         .endian_probe = 0x01020304u,
                                         .file_bytes = lard_sidecar_bytes(),
                                         .made_ms = lard_clock_ms()};
    code = code ? code : lard_sidecar_write_header(file);
    if (code) {
        empty(file); /* a part of the blocks may be reserved: gives the room back */
        return lard_fail_call(error, "write", path, code);
    }
    return LARDER_OK;
}

/* Creates none next to no cache: its files were removed. */
static larder_status open_or_create(lard_sidecar *file, const char *cache_path, const char *path,
                                    larder_error *error) {
    struct stat info;
    larder_status status = open_trusted(file, path, O_RDWR, error);
    if (status != LARDER_NOT_THERE || (lstat(cache_path, &info) != 0 && errno == ENOENT)) {
        return status;
    }
    status = open_trusted(file, path, O_RDWR | O_CREAT | O_EXCL, error);
    if (status == LARDER_SYSTEM && error->system_errno == EEXIST) { /* another process was faster */
        return open_trusted(file, path, O_RDWR, error);
    }
    int code = status == LARDER_OK ? lard_place_give(file->fd, path, 0600) : 0;
    if (code) { /* the owner of the directory could not use it */
        if (lard_descriptor_stat(file->fd, path, &info) == 0) {
            unlink(path);
        }
        lard_sidecar_close(file);
        return lard_fail_call(error, "set owner and mode of", path, code);
    }
    return status;
}

larder_status lard_sidecar_open(lard_sidecar *file, const char *cache_path, larder_error *error) {
    char path[LARD_LOCK_PATH_MAX];
    if (!lard_space_may_reach(lard_sidecar_bytes())) {
        return lard_fail(error, LARDER_FILE_LIMIT, 0, "%s%s", cache_path, LARD_SIDECAR_SUFFIX);
    }
    larder_status status = path_of(cache_path, path, error);
    status = status == LARDER_OK ? open_or_create(file, cache_path, path, error) : status;
    if (status != LARDER_OK) {
        return status;
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        status = errno == EWOULDBLOCK ? lard_fail(error, LARDER_LOCKED, 0, "%s", path)
                                      : lard_fail_call(error, "flock", path, errno);
    }
    status = status == LARDER_OK ? read_header(file, path, error) : status;
    if (status == LARDER_UNFIT) {
        status = make(file, path, error);
    }
    if (status != LARDER_OK) {
        lard_sidecar_close(file);
    }
    return status;
}
