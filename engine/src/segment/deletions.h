/*
 * deletions.h — the deletions of tags: what has a tag that was deleted is absent (docs/adr/0032-tags.md).
 *
 * A deletion has a stamp, a number of the file that each deletion raises. An item with tags has the stamp that was
 * current before its value was computed. So it is deleted if a deletion of one of its tags has a later one. Each
 * shard has a table of the deletions of the tags whose hash selects it. The table forgets old deletions for new
 * ones, and then takes all items of the same part of the table that are as old for deleted.
 *
 * Each line of a table has a checksum, which includes everything that its meaning depends on. What cannot be read
 * is taken for deleted.
 */
#ifndef LARD_DELETIONS_H
#define LARD_DELETIONS_H

#include "file/view.h"
#include "segment/extension.h"

#define LARD_DELETIONS_ALL UINT64_MAX /* the table cannot be read */

uint64_t lard_deletions_hash(const lard_map *map, const void *tag, size_t bytes);
static inline uint32_t lard_deletions_shard(const lard_map *map, uint64_t hash) {
    return (uint32_t)(hash >> LARD_SHARD_SHIFT) & map->shard_mask;
}

/* Of the file and this epoch of it: stamps of other files and from before a clear are of no use. Never 0. */
uint64_t lard_deletions_origin(const lard_map *map, uint32_t clear_epoch);

/*
 * What has the tag and an earlier stamp than the result is deleted; 0: nothing is. LARD_DELETIONS_ALL: all is, as
 * the table cannot be read. *exact (may be NULL): the tag itself was deleted then; false: a deletion was forgotten
 * that may have been of this tag. For items of `clear_epoch`. Takes no lock.
 */
uint64_t lard_deletions_since(lard_map *map, uint64_t hash, uint32_t clear_epoch, bool *exact);

typedef enum { LARD_TAGS_VALID, LARD_TAGS_DELETED, LARD_TAGS_FORGOTTEN } lard_tags;

/* Of an item of this epoch of a shard: was one of its tags deleted, or may it have been? */
lard_tags lard_deletions_of(lard_map *map, const lard_extension *extension, uint64_t epoch);
static inline bool lard_deletions_hit(const lard_view *view, const lard_extension *extension) {
    return LARD_UNLIKELY(extension->fields & LARD_FIELD_TAGS) &&
           lard_deletions_of(view->map, extension, lard_load(&view->header->epoch)) != LARD_TAGS_VALID;
}

/* Takes all items of before the stamp that have a tag of the shard for deleted. Needs no lock. */
void lard_deletions_forget(const lard_view *view, uint64_t stamp);

/* The others: under the shard's lock. */

/* Notes the deletion of a tag. True: an older one was forgotten for it. The shard has a table. */
bool lard_deletions_note(lard_view *view, uint64_t hash, uint64_t stamp);
/* Empties lines of the tag that cannot be read; takes what is older than the stamp for deleted. */
void lard_deletions_repair(lard_view *view, uint64_t hash, uint64_t stamp);
/* The shard is being emptied, and had this epoch. */
void lard_deletions_empty(lard_view *view, uint64_t epoch);

#endif
