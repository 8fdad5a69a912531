/*
 * patch.c — damages a file by command (patch.h).
 *
 * A command names a part of the file, a word of it and its new content. Its top bit asks for checksums and seals
 * that fit, so that the code behind those checks is reached too.
 */
#include "patch.h"

enum { MOST_RECORDS = 4096 };

typedef struct {
    uint8_t *base;
    const lard_superblock *super; /* as it was */
    uint8_t *shard;
} file;

static uint64_t word_of(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

/* Changes `bytes` (4 or 8) at a place, in one of several ways. */
static void change(uint8_t *at, unsigned bytes, const command *c, const lard_superblock *super) {
    uint64_t word = 0, n = c->n;
    memcpy(&word, at, bytes);
    switch (c->a >> 4 & 7) {
    case 0:
        word = n;
        break;
    case 1:
        word ^= 1ull << (n % (bytes * 8));
        break;
    case 2:
        word += (int64_t)(int16_t)n;
        break;
    case 3:
        word = ~0ull - n;
        break;
    case 4:
        word ^= n << (bytes == 8 ? 32 : 0);
        break;
    case 5: { /* sizes and numbers of this file, give or take one */
        uint64_t known[] = {
            super->segments_per_shard, super->segment_bytes,      super->shard_bytes,       super->data_offset,
            super->file_bytes,         super->segment_bytes / 64, (uint64_t)WORLD_START_MS, 1ull << 31};
        word = known[n % 8] + (n >> 3) % 3 - 1;
        break;
    }
    case 6:
        word = n << 32 | n;
        break;
    default:
        word = 0;
    }
    memcpy(at, &word, bytes);
}

/* Both superblocks, of a file of another size: everything is somewhere else then. */
static void resize(const file *f, const command *c) {
    lard_superblock super;
    uint64_t bytes = f->super->file_bytes - (uint64_t)(c->n % 64) * LARD_PAGE;
    if (lard_format_plan(bytes, &super) == LARDER_OK) {
        memcpy(super.seed, f->super->seed, sizeof super.seed + sizeof super.file_id + sizeof super.lock_id);
        super.created_ms = f->super->created_ms;
        super.crc = lard_format_crc(&super);
        memcpy(f->base, &super, sizeof super);
        memcpy(f->base + LARD_PAGE, &super, sizeof super);
    }
}

static unsigned patch_superblock(const file *f, const command *c) {
    if ((c->a & 15) == 15) {
        resize(f, c);
        return PATCH_FORGES_INDEX | PATCH_SUPERSEDES | PATCH_LOCKS;
    }
    unsigned field = c->key % (sizeof(lard_superblock) / 4);
    for (int copy = 0; copy < 2; copy++) {
        lard_superblock *super = (lard_superblock *)(void *)(f->base + copy * LARD_PAGE);
        if ((c->key >> 12 & 3) != 1 + (unsigned)copy) { /* one of them, or both */
            change((uint8_t *)super + field * 4, 4, c, f->super);
            super->crc = c->a & 128 ? lard_format_crc(super) : super->crc;
        }
    }
    return 0;
}

static unsigned patch_control(const file *f, const command *c) {
    change(f->base + LARD_CONTROL_OFFSET + c->key % (c->key >> 8 & 1 ? 8 : 56) * 4, 4, c, f->super);
    return PATCH_SUPERSEDES | PATCH_FORGES_INDEX;
}

static unsigned patch_process(const file *f, const command *c) {
    uint32_t row = (c->key >> 8) % f->super->process_slots;
    change(f->base + LARD_PROCESS_OFFSET + row * sizeof(lard_process) + c->key % 64 * 4, 4, c, f->super);
    return PATCH_LOCKS;
}

static unsigned patch_head(const file *f, const command *c) {
    unsigned word = c->key % (sizeof(lard_shard) / 4);
    change(f->shard + word * 4, 4, c, f->super);
    return PATCH_FORGES_INDEX | (word == 0 ? PATCH_LOCKS : 0);
}

static unsigned patch_directory(const file *f, const command *c) {
    uint32_t entry = c->key % f->super->segments_per_shard;
    change(f->shard + f->super->directory_offset + entry * 4, 4, c, f->super);
    return PATCH_FORGES_INDEX;
}

static unsigned patch_segment(const file *f, const command *c) {
    uint32_t row = (c->key >> 4) % f->super->segments_per_shard;
    change(f->shard + f->super->segment_table_offset + row * sizeof(lard_segment) + c->key % 10 * 4, 4, c,
           f->super);
    return PATCH_FORGES_INDEX;
}

/* The slots that hold something, of the first page. */
static uint8_t *slot_of(const file *f, unsigned number) {
    uint32_t segment = *(uint32_t *)(void *)(f->shard + f->super->directory_offset) % f->super->segments_per_shard;
    uint8_t *page = f->shard + f->super->data_offset + (uint64_t)segment * f->super->segment_bytes;
    uint32_t slots = f->super->segment_bytes / 8;
    uint32_t at = number % slots;
    for (uint32_t i = 0; i < slots && !word_of(page + at * 8); i++) {
        at = (at + 1) % slots;
    }
    return page + at * 8;
}

static unsigned patch_slot(const file *f, const command *c) {
    uint8_t *slot = slot_of(f, c->key);
    uint64_t word = word_of(slot);
    switch (c->a & 12) {
    case 0:
        change(slot, 8, c, f->super);
        break;
    case 4: /* leads elsewhere, the fingerprint as it was */
        word = (word & ~LARD_LOCATION_MASK) | (c->n & LARD_LOCATION_MASK);
        memcpy(slot, &word, 8);
        break;
    case 8: /* the same as another one, or leads where that does under its own fingerprint */
        word = (word & (0xffffull << LARD_LOCATION_BITS)) |
               (word_of(slot_of(f, c->n)) & ~(0xffffull << LARD_LOCATION_BITS));
        memcpy(slot, c->a & 16 ? (uint8_t *)&word : slot_of(f, c->n), 8);
        break;
    default:
        word ^= LARD_SLOT_PENDING;
        memcpy(slot, &word, 8);
    }
    return PATCH_FORGES_INDEX;
}

/* A record where the slots lead, and the origin that its slot has. */
static uint64_t *record_of(const file *f, unsigned number, uint64_t *origin) {
    uint64_t slot = word_of(slot_of(f, number)), offset = LARD_SLOT_OFFSET(slot & ~LARD_SLOT_PENDING);
    uint64_t end = f->super->data_offset + (uint64_t)f->super->segments_per_shard * f->super->segment_bytes;
    bool inside = offset >= f->super->data_offset && offset + 512 < end;
    *origin = LARD_SLOT_ORIGIN(slot);
    return (uint64_t *)(void *)(f->shard + (inside ? offset : f->super->data_offset));
}

/* Checksum and seals as the bytes are now, as far as the file goes. */
static void reseal(const file *f, uint64_t *words, uint64_t origin) {
    uint64_t room = f->base + f->super->file_bytes - (uint8_t *)words;
    unsigned type = LARD_WORD0_TYPE(words[0]);
    uint64_t key = LARD_ALIGN8(LARD_WORD0_KEY_BYTES(words[0])), bytes = key;
    if (type != LARD_TYPE_COUNTER) {
        bytes = LARD_ALIGN8(LARD_WORD0_KEY_BYTES(words[0]) + (uint64_t)LARD_WORD0_VALUE_BYTES(words[0]));
    }
    bytes = LARD_RECORD_HEADER + bytes + LARD_COUNTER_BYTES > room ? 0 : bytes;
    uint32_t crc = lard_crc_shared(lard_crc_word(LARD_CRC_START, lard_record_checked(words[0], words[1])),
                                   (lard_u64 *)(void *)(words + 2), bytes / 8);
    words[0] = (words[0] & ~0xffffffffull) | crc;
    words[1] = lard_record_sealed(words[0], words[1], origin);
    if (type == LARD_TYPE_COUNTER && bytes) {
        lard_counter_init((lard_u64 *)(void *)(words + 2 + bytes / 8), crc, (int64_t)words[2 + bytes / 8]);
    }
}

static unsigned patch_record(const file *f, const command *c) {
    uint64_t origin, *words = record_of(f, c->key, &origin);
    unsigned half = c->a & 4 ? 4 + c->n % 100 : (c->n >> 24) % 4; /* its body, or its header */
    if (c->a & 8) {                                               /* the kind of record */
        words[0] = (words[0] & ~(0xfull << 60)) | (uint64_t)(c->n % 6 | (c->n >> 8 & LARD_PINNED)) << 60;
    } else {
        change((uint8_t *)words + half * 4, 4, c, f->super);
    }
    if (c->a & 128) {
        reseal(f, words, origin);
        return PATCH_FORGES_RECORD;
    }
    return 0;
}

/* The head of a large value, if that is one, with checksum and seal. */
static unsigned patch_large(const file *f, const command *c) {
    for (unsigned i = 0; i < 64; i++) {
        uint64_t origin, *words = record_of(f, c->key + i * 37, &origin);
        if (LARD_WORD0_TYPE(words[0]) == LARD_TYPE_HEAD) {
            uint8_t *head = (uint8_t *)(words + 2) + LARD_WORD0_KEY_BYTES(words[0]);
            change(head + c->key % 6 * 4, 4, c, f->super);
            reseal(f, words, origin);
            return PATCH_FORGES_RECORD;
        }
    }
    return 0;
}

static unsigned patch_bytes(const file *f, const command *c, const unsigned char *pristine) {
    uint64_t at = ((uint64_t)c->n << 4 ^ c->key) % (f->super->file_bytes - LARD_PAGE);
    unsigned bytes = 1 + c->key % LARD_PAGE;
    switch (c->a & 12) {
    case 0:
        memset(f->base + at, c->a & 128 ? 0xff : 0, bytes);
        break;
    case 4: /* a page of elsewhere */
        memcpy(f->base + at / LARD_PAGE * LARD_PAGE, pristine + c->key % 256 * (uint64_t)LARD_PAGE, LARD_PAGE);
        break;
    case 8:
        f->base[at] ^= (uint8_t)(1u << (c->a >> 4 & 7));
        break;
    default:
        memset(f->base + at, c->a, bytes % 64);
    }
    return PATCH_FORGES_INDEX | PATCH_SUPERSEDES | PATCH_LOCKS;
}

unsigned patch_apply(uint8_t *base, const unsigned char *pristine, const command *c) {
    lard_superblock super;
    memcpy(&super, pristine, sizeof super);
    const file f = {base, &super, base + super.shard_offset};
    switch (c->op % 16) {
    case 0:
        return patch_superblock(&f, c);
    case 1:
        return patch_control(&f, c);
    case 2:
        return patch_process(&f, c);
    case 3:
    case 4:
    case 5:
        return patch_head(&f, c);
    case 6:
        return patch_directory(&f, c);
    case 7:
    case 8:
        return patch_segment(&f, c);
    case 9:
    case 10:
        return patch_slot(&f, c);
    case 11:
    case 12:
    case 13:
        return patch_record(&f, c);
    case 14:
        return patch_large(&f, c);
    default:
        return patch_bytes(&f, c, pristine);
    }
}
