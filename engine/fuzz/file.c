/*
 * file.c — fuzzes the engine with damaged and hostile files.
 *
 * A valid cache is damaged before it is opened, and again between the operations that follow. The engine must not
 * crash, hang, or touch memory or files that are not its own. It must not return a value that was never stored
 * under its key, unless a checksum was forged. At the end a clear must make the cache valid.
 */
#include "contents.h"
#include "patch.h"
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = (1 << 20) + (256 << 10), SNAPSHOTS = 4, AT_REST = 8 };

static world_file snapshots[SNAPSHOTS];
static contents begin_with[SNAPSHOTS];
static bool hardware;

static world_file *file;
static larder *cache;
static unsigned damage, live_damage; /* PATCH_*, of all patches and of those since the file was opened */
static uint64_t untouched;           /* sum of the bytes that are nobody's */

/* ---- what no operation writes to ---- */

static uint64_t sum_of(const uint8_t *from, const uint8_t *to) {
    uint64_t sum = 0, word;
    for (; from + 8 <= to; from += 8) {
        memcpy(&word, from, 8);
        sum = lard_hash_mix(sum ^ word) + 1;
    }
    return sum;
}

static uint64_t sum_untouched(void) {
    lard_superblock super;
    memcpy(&super, file->pristine, sizeof super);
    const uint8_t *base = file->mirror;
    uint64_t end =
        super.shard_offset + super.data_offset + (uint64_t)super.segments_per_shard * super.segment_bytes;
    return sum_of(base + sizeof super, base + LARD_CONTROL_OFFSET) ^
           sum_of(base + LARD_CONTROL_OFFSET + sizeof(lard_control), base + LARD_PROCESS_OFFSET) * 3 ^
           sum_of(base + LARD_PROCESS_OFFSET + super.process_slots * sizeof(lard_process),
                  base + super.shard_offset) *
               5 ^
           sum_of(base + end, base + file->bytes) * 7;
}

static void check_untouched(void) {
    uint64_t inode = file->inode;
    world_file_look(file);
    if (inode == file->inode && !(damage & PATCH_SUPERSEDES)) {
        EXPECT(sum_untouched() == untouched, "bytes were changed that are nobody's");
    }
}

/* ---- damage ---- */

static void hurt(const command *c) {
    world_file_look(file);
    unsigned excuses = patch_apply(file->mirror, file->pristine, c);
    damage |= excuses;
    live_damage |= cache ? excuses : 0;
    untouched = sum_untouched();
}

/* ---- operations ---- */

static void get(unsigned key) {
    char name[CONTENTS_NAME];
    larder_item item;
    size_t room = contents_room(key);
    unsigned char *have = malloc(room);
    larder_status status = larder_get(cache, name, contents_name(key, name), have, room, &item, NULL);
    EXPECT(status == LARDER_OK || status == LARDER_MISS || status == LARDER_BUFFER_TOO_SMALL, "get: %s",
           larder_status_name(status));
    if (status == LARDER_OK) {
        EXPECT(item.size_bytes <= room, "%zu bytes", item.size_bytes);
        contents_check(key, have, item.size_bytes, item.flags, damage & PATCH_FORGES_RECORD,
                       damage & (PATCH_FORGES_INDEX | PATCH_FORGES_RECORD));
    }
    free(have);
}

static void get_all(void) {
    for (unsigned key = 0; key < CONTENTS_KEYS; key++) {
        get(key);
    }
}

static void get_multi(const command *c) {
    enum { COUNT = 40 };
    static unsigned char have[COUNT][700];
    static char names[COUNT][CONTENTS_NAME];
    larder_lookup lookups[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        size_t bytes = contents_name((c->key + i) % CONTENTS_KEYS, names[i]);
        lookups[i] = (larder_lookup){.key = names[i], .key_bytes = bytes, .buffer = have[i], .buffer_bytes = 700};
    }
    EXPECT(larder_get_multi(cache, lookups, COUNT, NULL) == LARDER_OK, "get_multi");
    for (unsigned i = 0; i < COUNT; i++) {
        if (lookups[i].status == LARDER_OK) {
            EXPECT(lookups[i].item.size_bytes <= sizeof have[i], "%zu bytes", lookups[i].item.size_bytes);
            contents_check((c->key + i) % CONTENTS_KEYS, have[i], lookups[i].item.size_bytes,
                           lookups[i].item.flags, damage & PATCH_FORGES_RECORD,
                           damage & (PATCH_FORGES_INDEX | PATCH_FORGES_RECORD));
        }
    }
}

/* Forms of an operation that few of the older inputs in corpus/ have. */
static bool pins(const command *c) { return c->op / 20 == 2 || c->op / 20 == 5 || c->op / 20 == 8; }

/* What a store may be refused with in a damaged file. */
static bool is_refusal(larder_status status) {
    return status == LARDER_BUSY || status == LARDER_FULL || status == LARDER_PIN_FULL ||
           status == LARDER_DAMAGED || status == LARDER_SUPERSEDED || status == LARDER_NO_SLOT ||
           status == LARDER_VALUE_TOO_LARGE;
}

/* What was stored is there or not; what was there before is not, if nobody is at the file but us. */
static void set(unsigned key, size_t bytes, int64_t ttl_ms, bool pin) {
    larder_store store;
    contents_spec(key, bytes, &store);
    store.ttl_ms = ttl_ms;
    store.pin = pin;
    larder_status status = larder_set(cache, &store, NULL);
    EXPECT(status == LARDER_OK || is_refusal(status), "set: %s", larder_status_name(status));
    contents_stored(key, status == LARDER_OK, status == LARDER_OK && !live_damage);
    get(key);
    contents_stored(key, status == LARDER_OK, false);
}

static void cas(const command *c) {
    larder_store store;
    unsigned key = c->key % CONTENTS_PLAIN;
    size_t bytes;
    const unsigned char *old = contents_value(key, &bytes);
    unsigned char *expected = malloc(bytes + 1);
    memcpy(expected, old, bytes);
    contents_spec(key, 8 + c->n % 500, &store);
    store.expected_flags = contents_flags(key);
    store.expected_expires_at_ms = LARDER_ANY_EXPIRY;
    store.pin = pins(c);
    larder_status status = larder_cas(cache, &store, expected, bytes, NULL);
    EXPECT(status == LARDER_OK || status == LARDER_MISS || status == LARDER_NOT_STORED || is_refusal(status),
           "cas: %s", larder_status_name(status));
    contents_stored(key, status == LARDER_OK, false);
    free(expected);
}

static void drop(unsigned key) {
    char name[CONTENTS_NAME];
    larder_item item;
    size_t bytes = contents_name(key, name);
    larder_status status = larder_delete(cache, name, bytes, NULL);
    EXPECT(status == LARDER_OK || status == LARDER_MISS || is_refusal(status), "delete: %s",
           larder_status_name(status));
    if (status == LARDER_OK || (status == LARDER_MISS && !live_damage)) {
        status = larder_exists(cache, name, bytes, &item, NULL);
        EXPECT(status == LARDER_MISS || live_damage, "key %u was deleted and exists", key);
        contents_dropped(key);
    }
}

static void increment(const command *c) {
    char name[CONTENTS_NAME];
    unsigned key = CONTENTS_PLAIN + c->key % CONTENTS_COUNTERS;
    int64_t result = 0, delta = 1 + c->n % 1000;
    larder_status status = larder_increment(cache, name, contents_name(key, name), delta, 0, 0, &result, NULL);
    EXPECT(status == LARDER_OK || status == LARDER_NOT_A_NUMBER || status == LARDER_OVERFLOW || is_refusal(status),
           "increment: %s", larder_status_name(status));
    if (status == LARDER_OK) {
        EXPECT(contents_incremented(key, delta, result) || damage & PATCH_FORGES_RECORD, "key %u counts to %lld",
               key, (long long)result);
    }
}

static void scan(const command *c) {
    size_t room = LARDER_MAX_KEY + 4 + c->n % 512, count, used;
    unsigned char *buffer = malloc(room);
    uint64_t cursor = c->a & 128 ? (uint64_t)c->n << (c->key & 63) : 0;
    for (int calls = 0; calls < 3000; calls++) {
        larder_status status = larder_scan(cache, &cursor, "k", c->a & 1, buffer, room, &count, &used, NULL);
        EXPECT(status != LARDER_INVALID && used <= room, "scan");
        if (status != LARDER_OK) { /* the damage says that the file was replaced */
            break;
        }
        for (size_t at = 0; count; count--) {
            uint32_t bytes;
            memcpy(&bytes, buffer + at, 4);
            at += 4 + bytes;
            EXPECT(bytes <= LARDER_MAX_KEY && at <= used, "scan: a key of %u bytes", bytes);
        }
        if (cursor == 0) {
            break;
        }
        EXPECT(calls < 2999, "a scan does not end");
    }
    free(buffer);
}

static void fill(const command *c) {
    char name[32];
    static unsigned char value[700];
    for (unsigned i = 0; i < 30 + c->n % 400; i++) {
        size_t bytes = (size_t)snprintf(name, sizeof name, "filler %u", (c->key + i) % 5000);
        larder_store store = {
            .key = name, .key_bytes = bytes, .value = value, .value_bytes = c->a * 2 + i % 100, .pin = pins(c)};
        larder_status status = larder_set(cache, &store, NULL);
        EXPECT(status == LARDER_OK || is_refusal(status), "set: %s", larder_status_name(status));
    }
}

static void look(const command *c) {
    larder_report report;
    larder_stats stats;
    larder_status status = c->a & 1 ? larder_verify(cache, &report) : larder_get_stats(cache, &stats);
    EXPECT(status == LARDER_OK || is_refusal(status), "%s", larder_status_name(status));
    larder_max_value(cache);
    larder_size(cache);
}

static void clear(void) {
    larder_status status = larder_clear(cache);
    EXPECT(status == LARDER_OK || is_refusal(status), "clear: %s", larder_status_name(status));
}

static void touch(const command *c) {
    char name[CONTENTS_NAME];
    size_t bytes = contents_name(c->key % CONTENTS_KEYS, name);
    larder_status status = larder_touch(cache, name, bytes, c->n % 100000, NULL);
    EXPECT(status == LARDER_OK || status == LARDER_MISS || is_refusal(status), "touch: %s",
           larder_status_name(status));
}

static bool open_it(void) {
    larder_error error;
    larder_options options = {.size_bytes = BYTES, .lock_timeout_ms = 3};
    larder_status status = larder_open(file->path, &options, &cache, &error);
    EXPECT(status == LARDER_OK ||
               ((status == LARDER_NOT_LARDER || status == LARDER_NEWER_VERSION) && *error.detail),
           "open: %s: %s", larder_status_name(status), error.detail);
    return status == LARDER_OK;
}

static bool reopen(void) {
    larder_close(cache);
    cache = NULL;
    live_damage = 0;
    return open_it();
}

static void operate(const command *c) {
    switch (c->op % 20) {
    case 0:
        get_all();
        break;
    case 1:
        get_multi(c);
        break;
    case 2:
    case 3:
    case 4:
        set(c->key % CONTENTS_PLAIN, 8 + c->n % (c->a & 1 ? 9000 : 600), c->a & 2 ? c->n % 5000 : 0, pins(c));
        break;
    case 5: /* some in chunks */
        set(c->key % CONTENTS_PLAIN, 8 + c->n % (140 << 10), 0, pins(c));
        break;
    case 6:
    case 7:
        drop(c->key % CONTENTS_KEYS);
        break;
    case 8:
    case 9:
        increment(c);
        break;
    case 10:
        touch(c);
        break;
    case 11:
        cas(c);
        break;
    case 12:
        scan(c);
        break;
    case 13:
        larder_prune(cache, NULL, NULL);
        break;
    case 14:
        look(c);
        break;
    case 15:
        clear();
        break;
    case 16:
    case 17:
        fill(c);
        break;
    case 18:
        world_now_ms += c->n % 10000;
        break;
    default:
        get(c->key % CONTENTS_KEYS);
    }
}

/* Whatever the file is like: all of it once, and a clear that makes it sound. */
static void end_with_everything(void) {
    static const command some = {.key = 3, .n = 77, .a = 1};
    get_all();
    scan(&some);
    look(&some);
    increment(&some);
    fill(&some);
    set(1, 100, 0, false);
    set(2, 30000, 0, false);
    larder_prune(cache, NULL, NULL);
    drop(5);
    get_all();
    set(3, 500, 0, true);
    clear();
    set(7, 200, 0, true);
    if (!(damage & (PATCH_LOCKS | PATCH_SUPERSEDES))) {
        larder_report report;
        larder_status status = larder_verify(cache, &report);
        EXPECT(status == LARDER_OK && report.problems == 0, "after a clear: %s, %s", larder_status_name(status),
               report.first);
        EXPECT(report.items == 1, "%llu items after a clear and a set", (unsigned long long)report.items);
    }
    check_untouched();
}

static void run(const stream *input) {
    size_t at = 0, at_rest = input->settings[1] % (AT_REST + 1);
    for (; at < at_rest && at < input->count; at++) {
        hurt(&input->commands[at]);
    }
    if (!open_it()) {
        return;
    }
    for (; at < input->count; at++) {
        const command *c = &input->commands[at];
        if (c->op >= 200 && input->settings[2] & 1) {
            hurt(c);
        } else if (c->op == 199) {
            if (!reopen()) {
                return;
            }
        } else {
            operate(c);
        }
    }
    end_with_everything();
    if (reopen()) {
        get_all();
        larder_close(cache);
    }
}

static void fill_sparse(larder *opened) { contents_fill(&begin_with[0], opened, 0, 0); }
static void fill_usual(larder *opened) { contents_fill(&begin_with[1], opened, 0, 30000); }
static void fill_full(larder *opened) { contents_fill(&begin_with[2], opened, 4000, 60000); }
static void fill_many(larder *opened) { contents_fill(&begin_with[3], opened, 9000, 0); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    world_file_make(&snapshots[0], "sparse.larder", BYTES, fill_sparse);
    world_file_make(&snapshots[1], "usual.larder", BYTES, fill_usual);
    world_file_make(&snapshots[2], "full.larder", BYTES, fill_full);
    world_file_make(&snapshots[3], "many.larder", BYTES, fill_many);
    hardware = lard_crc_hardware;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static stream input;
    stream_read(&input, data, size);
    file = &snapshots[input.settings[0] % SNAPSHOTS];
    world_begin();
    contents_begin(&begin_with[input.settings[0] % SNAPSHOTS]);
    lard_crc_hardware = hardware && !(input.settings[2] & 2);
    world_file_restore(file, true);
    cache = NULL;
    damage = live_damage = 0;
    untouched = sum_untouched();
    run(&input);
    return 0;
}
