/*
 * image.c — writes a record by pwritev(2). Under the shard's lock, but lard_image_form.
 *
 * The zeros complete the last page, so that the kernel need not read it from the disk if it is not in memory.
 */
#define _GNU_SOURCE
#include "segment/image.h"
#include "base/descriptor.h"
#include "base/io.h"

#include <sys/uio.h>

void lard_image_form(lard_image *image, const lard_key *key, const lard_record_spec *spec) {
    image->bytes = lard_record_bytes_of(key, spec);
    image->value_bytes = spec->value_bytes;
    image->configuration = spec->configuration;
    image->crc = lard_record_form(image->words, key, spec);
}

#ifdef __linux__

/* The descriptor of a file that has all bytes of the map, or -1. pwritev(2) would make a truncated file longer. */
static int descriptor_of(const lard_map *map) {
    int fd = map->poisoned ? -1 : __atomic_load_n(&map->fd, __ATOMIC_RELAXED);
    return lard_descriptor_bytes(fd, map->device, map->inode) >= (int64_t)map->bytes ? fd : -1;
}

/* Writes a record of `bytes` bytes with the header *info, whose other words are those of `record`. */
static bool put(const lard_view *view, uint64_t offset, uint64_t generation, const lard_record_info *info,
                const lard_u64 *record, uint64_t bytes) {
    static const uint8_t zeros[LARD_IMAGE_PAGE];
    const lard_u64 *body = record + LARD_RECORD_HEADER / 8;
    uint64_t at = lard_view_in_file(view, offset);
    uint64_t to_page = (LARD_IMAGE_PAGE - (at + bytes) % LARD_IMAGE_PAGE) % LARD_IMAGE_PAGE;
    uint64_t to_end = lard_segment_left(view, offset) - bytes;
    uint64_t header[LARD_RECORD_HEADER / 8] = {
        info->word0, lard_record_sealed(info->word0, info->word1, LARD_ORIGIN(offset, generation))};
    struct iovec parts[] = {
        {.iov_base = header, .iov_len = sizeof header},
        {.iov_base = (void *)(uintptr_t)body, .iov_len = bytes - sizeof header},
        {.iov_base = (void *)(uintptr_t)zeros, .iov_len = to_page < to_end ? to_page : to_end},
    };
    int fd = descriptor_of(view->map);
    return fd >= 0 && lard_io_write_parts(fd, parts, 3, at) == 0;
}

#else

static bool put(const lard_view *view, uint64_t offset, uint64_t generation, const lard_record_info *info,
                const lard_u64 *record, uint64_t bytes) {
    return (void)view, (void)offset, (void)generation, (void)info, (void)record, (void)bytes, false;
}

#endif

bool lard_image_put(const lard_view *view, uint64_t offset, uint64_t generation, const lard_image *image) {
    lard_record_info header = {.word0 = lard_load(&image->words[0]), .word1 = lard_load(&image->words[1])};
    return put(view, offset, generation, &header, image->words, image->bytes);
}

bool lard_image_move(const lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                     uint64_t generation) {
    return put(view, to, generation, info, lard_view_words(view, from), lard_record_bytes_at(info));
}
