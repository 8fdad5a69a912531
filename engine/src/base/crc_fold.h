/*
 * crc_fold.h — CRC-32C of long runs by carry-less multiplication, where the processor multiplies 32 or 64 bytes at
 * once.
 *
 * A run is as fast to copy with its checksum as without. Bytes of the file are the same either way: crc.c
 * processes what is left over, and whole runs on other processors.
 */
#ifndef LARD_CRC_FOLD_H
#define LARD_CRC_FOLD_H

#include "base/shared.h"

/* Where each word is copied: nowhere, from shared to private memory, from private to shared memory. */
typedef enum { LARD_CRC_OVER, LARD_CRC_OUT, LARD_CRC_IN } lard_crc_way;

#define LARD_CRC_FOLDED 16 /* words that a run becomes */

/* Bytes that the processor multiplies at once: 0 (lard_crc_fold is not called), 32 or 64. Tests change it. */
extern unsigned lard_crc_folds;

/* Once in a process, with the polynomial of the checksum, its bits reflected. */
void lard_crc_fold_init(uint32_t polynomial);

/*
 * Copies the first words of a run, as many as are a multiple of 16, if the run has at least 32. Returns their
 * number. If it is not 0, the checksum of `folded`, begun with 0, is that of these words, begun with `crc`. `own`
 * is not used if `way` is LARD_CRC_OVER.
 */
size_t lard_crc_fold(lard_crc_way way, uint64_t crc, lard_u64 *shared, unsigned char *own, size_t count,
                     uint64_t folded[LARD_CRC_FOLDED]);

#endif
