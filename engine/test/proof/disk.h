/*
 * disk.h — what a disk may hold when the power fails.
 *
 * Owns a record of every version of every page of the files in one directory, of
 * their lengths and names, and of what each msync and fsync has promised. From it
 * an image can be made of any moment: each page, length and name is independently
 * any version between what was promised last and what was there last.
 *
 * The engine's calls come here by --wrap; its stores by the hook of the crash
 * points. The record is in shared memory, so that several processes may write it,
 * one at a time. Times are counted in recorded events.
 */
#ifndef LARD_PROOF_DISK_H
#define LARD_PROOF_DISK_H

#include "../children.h"

enum { DISK_PAGE = 4096, DISK_PAGES = 256, DISK_FILES = 24, DISK_NAMES = 2, DISK_SECTOR = 512 };
enum { NAME_CACHE, NAME_LOCK };

/* How an image is put together from what may be there. */
typedef enum {
    IMAGE_PROMISED, /* nothing but what was promised */
    IMAGE_LATEST,   /* everything was written back */
    IMAGE_EITHER,   /* each page the one or the other */
    IMAGE_ANY,      /* each page any version between */
    IMAGE_SECTORS,  /* each sector of 512 bytes any version between */
    IMAGE_WORDS,    /* each 8 bytes any version between */
    IMAGE_KINDS
} image_kind;

/* What a dishonest disk answers without doing it: the proof must find each of them out. */
typedef enum {
    HONEST,
    FORGETS_DATA,      /* the sync of the whole file, before the clean mark */
    FORGETS_REOPENING, /* the sync that removes the clean mark */
    FORGETS_NAMES,     /* the sync of the directory */
    FORGETS_MARK,      /* the sync of the clean mark: nothing wrong, but nothing is kept */
    DISHONESTIES
} dishonesty;

typedef struct { /* one image; the choices that were made can be fixed before */
    image_kind kind;
    uint64_t random;
    int names[DISK_NAMES]; /* -1: by kind; else 0: promised, 1: latest */
    int fixed_pages[3];    /* superblock A, superblock B, control: the same */
    int odd_page;          /* this page is as the others are not (PROMISED and LATEST only); -1: none */
} image_plan;

void disk_start(const char *directory); /* forgets what was recorded; files that are there are promised */
void disk_stop(void);
void disk_be(dishonesty how);
uint32_t disk_first(void); /* power is lost from then on */
uint32_t disk_now(void);
void disk_look(void);                       /* takes note of what the mapped files hold now */
void disk_fail_syncs(int after, int count); /* of the msyncs to come: EIO, and the pages' changes are lost */
void disk_unlink(int name);                 /* by hand */
const char *disk_path(int name);
bool disk_make(uint32_t at, const image_plan *plan, const char *directory);
uint64_t disk_syncs(void);
uint64_t disk_versions(void);
bool disk_page_has_choice(uint32_t at, int page); /* of the file that has the cache's name then */
image_plan disk_plan(image_kind kind, uint64_t seed);

/* When something of note happened: syncs, changes of the control page, names. */
size_t disk_moments(uint32_t *out, size_t most);

extern int disk_boot; /* the number of the boot; negative: the id cannot be read */

#endif
