/*
 * patch.h — damages a cache file: a superblock, the control page, a row of a table, a slot, a record, or any byte.
 */
#ifndef LARD_FUZZ_PATCH_H
#define LARD_FUZZ_PATCH_H

#include "stream.h"
#include "world.h"

/* What the damage may excuse. */
enum {
    PATCH_FORGES_RECORD = 1, /* a record was changed and its checksum made to fit */
    PATCH_FORGES_INDEX = 2,  /* where the shard's tables or slots lead was changed: to older records, too */
    PATCH_SUPERSEDES = 4,    /* the control page was changed */
    PATCH_LOCKS = 8          /* the word of a lock, or who is behind it, was changed */
};

/* Damages `base`, a file that looked like `pristine` when it was made. Returns what that may excuse. */
unsigned patch_apply(uint8_t *base, const unsigned char *pristine, const command *c);

#endif
