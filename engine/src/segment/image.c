/*
 * image.c — writes a record by pwrite(2). Under the shard's lock, but lard_image_form.
 *
 * The zeros complete the last page, so that the kernel need not read it from the disk if it is not in memory.
 */
#define _GNU_SOURCE
#include "segment/image.h"
#include "base/descriptor.h"
#include "base/io.h"

#include <string.h>

void lard_image_form(lard_image *image, const lard_key *key, const lard_record_spec *spec) {
    image->bytes = lard_record_bytes_of(key, spec);
    image->value_bytes = spec->value_bytes;
    image->configuration = spec->configuration;
    image->crc = lard_record_form(image->words, key, spec);
    memset(image->words + image->bytes / 8, 0, LARD_IMAGE_PAGE);
}

#ifdef __linux__

/* The descriptor of a file that has all bytes of the map, or -1. pwrite(2) would make a truncated file longer. */
static int descriptor_of(const lard_map *map) {
    int fd = map->poisoned ? -1 : __atomic_load_n(&map->fd, __ATOMIC_RELAXED);
    return lard_descriptor_bytes(fd, map->device, map->inode) >= (int64_t)map->bytes ? fd : -1;
}

static bool put_by_write(const lard_view *view, uint64_t offset, const lard_image *image) {
    uint64_t at = lard_view_in_file(view, offset);
    uint64_t to_page = (LARD_IMAGE_PAGE - (at + image->bytes) % LARD_IMAGE_PAGE) % LARD_IMAGE_PAGE;
    uint64_t to_end = lard_segment_left(view, offset) - image->bytes;
    int fd = descriptor_of(view->map);
    return fd >= 0 &&
           lard_io_write(fd, image->words, image->bytes + (to_page < to_end ? to_page : to_end), at) == 0;
}

#else

static bool put_by_write(const lard_view *view, uint64_t offset, const lard_image *image) {
    return (void)view, (void)offset, (void)image, false;
}

#endif

void lard_image_put(lard_view *view, uint64_t offset, uint64_t generation, lard_image *image) {
    uint64_t word0 = lard_load(&image->words[0]), word1 = lard_load(&image->words[1]);
    lard_store(&image->words[1], lard_record_sealed(word0, word1, LARD_ORIGIN(offset, generation)));
    if (LARD_LIKELY(put_by_write(view, offset, image))) {
        return;
    }
    lard_u64 *words = lard_view_words(view, offset);
    for (uint64_t i = 0; i < image->bytes / 8; i++) {
        lard_store(&words[i], lard_load(&image->words[i]));
    }
}

void lard_image_move(lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                     uint64_t generation) {
    lard_u64 words[LARD_IMAGE_WORDS];
    lard_image image = {.words = words, .bytes = lard_record_bytes_at(info)};
    const lard_u64 *source = lard_view_words(view, from);
    memset(words + image.bytes / 8, 0, LARD_IMAGE_PAGE);
    lard_store(&words[0], info->word0);
    lard_store(&words[1], info->word1);
    for (uint64_t i = LARD_RECORD_HEADER / 8; i < image.bytes / 8; i++) {
        lard_store(&words[i], lard_load(&source[i]));
    }
    lard_image_put(view, to, generation, &image);
}
