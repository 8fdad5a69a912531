/*
 * image.h — forms a record in private memory, and writes it into the file by pwritev(2).
 *
 * The first store of a process to a page of a file on a disk is a page fault, also when the page was written back
 * since its last store. Records are appended, so a record of several pages would take a fault for each. pwritev(2)
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

typedef struct lard_image {
    lard_u64 *words;        /* the record, in private memory that is not on the stack: it takes up to 64 KiB */
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

/* Forms the record in image->words, which has room for it. */
void lard_image_form(lard_image *image, const lard_key *key, const lard_record_spec *spec);
/* Writes it at a reserved offset of a segment of `generation`, and zeros up to the end of its last page: nothing
 * reads there. False: pwritev(2) cannot be used, and the caller stores the record. Under the lock. */
bool lard_image_put(const lard_view *view, uint64_t offset, uint64_t generation, const lard_image *image);
/* As lard_record_move, from the map by pwritev(2). False: it cannot be used. */
bool lard_image_move(const lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                     uint64_t generation);

#endif
