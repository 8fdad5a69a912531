/*
 * image.h — forms a record in private memory, and writes it into the file by pwrite(2).
 *
 * The first store of a process to a page of a file on a disk is a page fault, also when the page was written back
 * since its last store. Records are appended, so a record of several pages would take a fault for each. pwrite(2)
 * takes none: it copies into the page cache, which is what all processes have mapped (POSIX leaves open whether a
 * map shows it; Linux's file systems on disks do, and others are refused, see base/filesystem.h).
 *
 * In a shard that is written through again before its pages are written back, they stay writable, and stores are
 * cheaper: lard_shard_hints.is_hot.
 */
#ifndef LARD_IMAGE_H
#define LARD_IMAGE_H

#include "base/reads.h"
#include "file/format.h"
#include "file/view.h"
#include "segment/record.h"

#ifndef LARD_IMAGE_LEAST                 /* engine/model makes images of short records, and has short pages */
#define LARD_IMAGE_LEAST (2 * LARD_PAGE) /* bytes of the shortest record that an image is made of */
#define LARD_IMAGE_PAGE LARD_PAGE        /* zeros complete the last of these of the file */
#endif
#define LARD_IMAGE_WORDS ((LARD_MAX_RECORD + LARD_IMAGE_PAGE) / 8)

typedef struct lard_image {
    lard_u64 *words;        /* LARD_IMAGE_WORDS of private memory: the record, then a page of zeros */
    uint64_t bytes;         /* of the record */
    size_t value_bytes;     /* of what it was formed of */
    unsigned configuration; /* the same */
    uint32_t crc;
} lard_image;

/* True if an image is the better way to write a record of this length. A hint, without the lock. */
static inline bool lard_image_suits(const lard_view *view, uint64_t bytes) {
    return bytes >= LARD_IMAGE_LEAST && bytes <= LARD_MAX_RECORD && view->map->is_on_disk &&
           !lard_reads_hints(&view->map->dircache[view->number])->is_hot;
}

/* True if the image was formed of this. Another writer may have taken room in the segment since, or the row of the
 * configuration. */
static inline bool lard_image_is_of(const lard_image *image, const lard_record_spec *spec) {
    return image->configuration == spec->configuration && image->value_bytes == spec->value_bytes;
}

/* Forms the record in image->words. */
void lard_image_form(lard_image *image, const lard_key *key, const lard_record_spec *spec);
/* Writes it at a reserved offset of a segment of `generation`, and zeros up to the end of its last page: nothing
 * reads there. If pwrite(2) cannot be used, stores it. Under the lock. */
void lard_image_put(lard_view *view, uint64_t offset, uint64_t generation, lard_image *image);
/* As lard_record_move, by an image. */
void lard_image_move(lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                     uint64_t generation);

#endif
