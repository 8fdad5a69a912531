/*
 * world.c — a cache of a few segments in plain memory, and the processes attached to it.
 *
 * Each process has its own handle, map and process slot. Time stands still except for waits that time out. A
 * process is alive until the scheduler says otherwise: process.c asks the kernel, and this file answers.
 */
#define _GNU_SOURCE
#include "world.h"
#include "file/hints_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SEGMENTS 6u
#define SEGMENT_BYTES 4096u
#define ROWS_AT 6144u /* after the process table */
#define SHARD_AT 8192u
#define READS_WORDS 64u
#define NOW_MS 1700000000000ll
#define LIFE_MS 1000000ll
#define VALUE_WORDS 3u
#define FIRST_LONG 50 /* from this value on they are longer */
#define LONG_WORDS 85u
#define LONG_BYTES 800u
#define LOCK_TIMEOUT_MS 1u
#define LEASE_MS 1000

static struct {
    larder *cache;
    lard_core *core;
    lard_map *map;
    lard_u64 *counters;
    uint64_t stuck;
    larder_lease lease; /* that the process has taken */
    bool is_late;       /* it acts when the leases of the others have ended */
    larder_stamp stamp; /* likewise */
} attached[MOST_PROCESSES + 1];
static struct {
    larder cache;
    unsigned char core[sizeof(lard_core)];
    lard_map map;
    lard_u64 counters[LARD_COUNTERS];
    uint8_t pages[1024];
    uint64_t stuck;
    larder_lease lease;
    larder_stamp stamp;
} kept[MOST_PROCESSES + 1];

static lard_superblock super;
static _Alignas(4096) uint8_t arena[SHARD_AT + 1024 + (SEGMENTS + 1) * SEGMENT_BYTES];
static uint8_t copy[sizeof arena];
/* Hints: advice, so no access to them is a turn. file/hints.h draws them; there are no rows here. */
#define SEGMENT_HINTS (((SEGMENTS + 31) / 32 * 4 + SEGMENTS * 4 + 63) / 64 * 64)
#define SHARD_HINTS_AT (LARD_PAGE + SEGMENT_HINTS) /* every process has taken them */
static struct {
    _Alignas(64) uint8_t bytes[SHARD_HINTS_AT + sizeof(lard_shard_hints) + READS_WORDS * sizeof(uint16_t)];
} hints, kept_hints;
static uint64_t rows_reserved = MOST_PROCESSES + 1;
static char key_texts[KEYS][16];
static bool long_values, images;
static int file = -1; /* that processes write to, as long as the arena: the arena gets what they write */
static size_t pages_bytes;
static char heap[1u << 16]; /* of the operations, empty before each execution */
static size_t heap_used;
static int64_t judges_ms;

larder *world_process(unsigned number) { return attached[number].cache; }
lard_view world_view(void) { return lard_view_of(attached[JUDGE].map, 0); }
const char *world_key_text(unsigned key) { return key_texts[key]; }
void world_choose_key(unsigned key, const char *text) {
    snprintf(key_texts[key], sizeof key_texts[key], "%s", text);
}

bool world_is_hint(const void *at) { return (uintptr_t)at - (uintptr_t)hints.bytes < sizeof hints.bytes; }
bool world_is_heap(const void *at) { return (uintptr_t)at - (uintptr_t)heap < sizeof heap; }

static void plan(void) {
    super = (lard_superblock){.file_bytes = sizeof arena, .seed = {0x1234, 0x5678}};
    super.process_slots = 8;
    super.shard_count = 1;
    super.segment_bytes = SEGMENT_BYTES;
    super.segments_per_shard = SEGMENTS;
    super.directory_offset = sizeof(lard_shard);
    super.segment_table_offset = (uint32_t)((sizeof(lard_shard) + 4 * SEGMENTS + 63) / 64 * 64);
    super.data_offset = super.segment_table_offset + SEGMENTS * (uint32_t)sizeof(lard_segment);
    super.shard_offset = SHARD_AT;
    super.shard_bytes = super.data_offset + SEGMENTS * SEGMENT_BYTES;
}

/* Stores come to the arena alone, and those of pwritev(2), too: see __wrap_pwrite. */
static void open_file(lard_map *map) {
    struct stat info;
    file = file < 0 ? memfd_create("larder-model", MFD_CLOEXEC) : file;
    if (file < 0 || ftruncate(file, sizeof arena) != 0 || fstat(file, &info) != 0) {
        abort();
    }
    map->fd = file;
    map->device = (uint64_t)info.st_dev;
    map->inode = (uint64_t)info.st_ino;
    map->is_on_disk = true;
}

static void attach(unsigned number) {
    lard_map *map = attached[number].map;
    larder *cache = attached[number].cache;
    if (!cache) {
        attached[number].map = map = calloc(1, sizeof *map);
        attached[number].cache = cache = calloc(1, sizeof *cache);
        attached[number].core = calloc(1, sizeof(lard_core) + 1);
        map->dircache = calloc(1, pages_bytes); /* of the one shard, with its pages */
    }
    struct lard_dircache *directory = map->dircache;
    memset(directory, 0, pages_bytes);
    lard_renewal *renewal = (lard_renewal *)(directory + 1);
    directory->pages = (uintptr_t *)(renewal + 1);
    directory->hints = (lard_shard_hints *)(hints.bytes + SHARD_HINTS_AT);
    *map = (lard_map){.base = arena,
                      .bytes = sizeof arena,
                      .super = super,
                      .dircache = directory,
                      .renewals = renewal,
                      .fd = -1};
    if (images) {
        open_file(map);
    }
    map->control = (lard_control *)arena;
    map->processes = (lard_process *)(arena + LARD_PAGE);
    map->shards = arena + SHARD_AT;
    lard_format_derive(map);
    map->short_record = map->chunk_record = map->record_limit = long_values ? 600 : SEGMENT_BYTES;
    lard_core *core = attached[number].core;
    memset(cache, 0, sizeof *cache);
    memset(core, 0, sizeof *core);
    cache->core = core;
    core->map = map;
    core->slot = number;
    core->incarnation = 1;
    map->owner_word = lard_process_owner_word(number, 1);
    map->slot = number;
    map->rows = (lard_hints_row *)(arena + ROWS_AT);
    map->rows_reserved = &rows_reserved;
    map->hints = hints.bytes;
    map->segment_hints = SEGMENT_HINTS;
    map->young_hints = (SEGMENTS + 31) / 32 * sizeof(uint32_t);
    map->reads_least = map->reads_most = READS_WORDS;
    map->reads_mask = READS_WORDS - 1;
    core->counters = attached[number].counters = map->rows[number].counters;
    core->lock_timeout_ms = LOCK_TIMEOUT_MS;
    core->next_look_ms = 1; /* never: the coarse clock stands at 0 */
    core->existing = true;  /* a changed engine may find damage, and then looks for another file */
    core->stuck = &attached[number].stuck;
    cache->references = 1;
    lard_store(&map->processes[number].incarnation, 1);
    lard_store(&map->rows[number].incarnation, 1);
    lard_store(&map->processes[number].pid, number + 1);
}

void world_make(const scenario *what) {
    plan();
    pages_bytes = sizeof(lard_dircache) + sizeof(lard_renewal) + SEGMENTS * sizeof(uintptr_t);
    memset(arena, 0, sizeof arena);
    memset(&hints, 0, sizeof hints);
    long_values = what->long_values;
    images = what->images;
    memory_begin(arena, sizeof arena);
    for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
        attached[p].stuck = 0;
        attached[p].lease = (larder_lease){{0, 0}, 0, 0, 0, 0};
        attached[p].is_late = false;
        attach(p);
    }
    lard_store(&((lard_control *)arena)->clear_epoch, 1);
    for (unsigned k = 0; k < KEYS; k++) {
        snprintf(key_texts[k], sizeof key_texts[k], "subject%u", k);
    }
    lard_view view = world_view();
    lard_shard_lock(attached[JUDGE].core, &view, NULL); /* of no epoch yet: this makes the shard */
    lard_shard_unlock(&view);
    lard_store(&view.header->bucket_count, 2); /* so that few items split it, and share buckets */
}

static void keep(void) {
    kept_hints = hints;
    for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
        kept[p].cache = *attached[p].cache;
        memcpy(kept[p].core, attached[p].core, sizeof kept[p].core);
        kept[p].map = *attached[p].map;
        kept[p].stuck = attached[p].stuck;
        kept[p].lease = attached[p].lease;
        kept[p].stamp = attached[p].stamp;
        memcpy(kept[p].counters, attached[p].counters, sizeof kept[p].counters);
        memcpy(kept[p].pages, attached[p].map->dircache, pages_bytes);
    }
}

static void restore(void) {
    hints = kept_hints;
    for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
        *attached[p].cache = kept[p].cache;
        memcpy(attached[p].core, kept[p].core, sizeof kept[p].core);
        *attached[p].map = kept[p].map;
        attached[p].stuck = kept[p].stuck;
        attached[p].lease = kept[p].lease;
        attached[p].is_late = false;
        attached[p].stamp = kept[p].stamp;
        memcpy(attached[p].counters, kept[p].counters, sizeof kept[p].counters);
        memcpy(attached[p].map->dircache, kept[p].pages, pages_bytes);
    }
    heap_used = 0;
}

/* Every process that is no stranger has been here before: it knows where the buckets are. */
void world_prepared(bool strangers) {
    char buffer[8];
    for (unsigned p = strangers ? JUDGE : 0; p <= MOST_PROCESSES; p++) {
        larder_get(attached[p].cache, "nobody", 6, buffer, sizeof buffer, NULL, NULL);
        memset(attached[p].counters, 0, sizeof kept[p].counters);
    }
    keep();
    memory_begin(arena, sizeof arena);
}

void world_restore(void) {
    memory_reset();
    restore();
}

bool world_try(bool (*predicate)(void)) {
    memcpy(copy, arena, sizeof arena);
    keep();
    bool answer = predicate();
    memcpy(arena, copy, sizeof arena);
    restore();
    memory_begin(arena, sizeof arena); /* what was noted to be undone is of the trial */
    return answer;
}

static size_t value_bytes(int value) {
    return long_values ? LONG_BYTES : 8 * (value < FIRST_LONG ? VALUE_WORDS : LONG_WORDS);
}

static size_t make_value(int value, unsigned char *out) {
    if (value >= NUMBER) {
        return (size_t)sprintf((char *)out, "%d", value - NUMBER);
    }
    memset(out, value, value_bytes(value));
    return value_bytes(value);
}

static int read_value(const unsigned char *in, const larder_item *item) {
    int life = item->expires_at_ms ? (int)((item->expires_at_ms - NOW_MS) / LIFE_MS) * LIFE : 0;
    if (item->size_bytes < 8) {
        char text[9] = {0};
        memcpy(text, in, item->size_bytes);
        return life + NUMBER + atoi(text);
    }
    if (item->size_bytes != value_bytes(in[0])) {
        return TORN;
    }
    for (size_t i = 1; i < item->size_bytes; i++) {
        if (in[i] != in[0]) {
            return TORN;
        }
    }
    return life + in[0];
}

/* Time stands still, so a shard would be hot after a turn: no turn comes to its end. */
static void stay_cold(void) { ((lard_shard_hints *)(hints.bytes + SHARD_HINTS_AT))->turn_left = SEGMENTS; }

larder_status world_fill(unsigned number, size_t bytes) {
    char key[16];
    static char value[SEGMENT_BYTES];
    snprintf(key, sizeof key, "fill%04u", number);
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value, .value_bytes = bytes};
    stay_cold();
    return larder_set(attached[JUDGE].cache, &store, NULL);
}

lard_hash world_hash(const char *text) { return lard_hash_key(attached[JUDGE].map, text, strlen(text), false); }

lard_found world_find(unsigned key) {
    lard_view view = world_view();
    lard_key wanted = lard_key_of(attached[JUDGE].map, NULL, key_texts[key], strlen(key_texts[key]));
    return lard_index_find(&view, &wanted);
}

static larder_status take_lease(unsigned process, const char *key, verb verb) {
    attached[process].is_late = verb == LEASE_LATE;
    larder_lease *lease = &attached[process].lease, taken = {{0, 0}, 0, 0, 0, 0};
    larder *cache = attached[process].cache;
    larder_status status = larder_lease_take(cache, key, strlen(key), LEASE_MS, &taken, NULL);
    attached[process].is_late = false;
    if (status == LARDER_NOT_STORED && verb == LEASE_OVER) {
        status = larder_lease_take(cache, key, strlen(key), LEASE_MS, &taken, NULL);
    }
    if (status == LARDER_OK) {
        *lease = taken;
    }
    return status;
}

static const larder_tag the_tag = {"tag", 3};

static bool is_tagged(int value) { return value >= TAGGED && value < TAGGED + 10; }

larder_status world_do(unsigned process, const operation *what, int *saw) {
    unsigned char value[LONG_BYTES], expected[LONG_BYTES], found[LONG_BYTES];
    static const uint8_t modes[] = {[SET] = LARDER_SET,
                                    [ADD] = LARDER_ADD,
                                    [REPLACE] = LARDER_REPLACE,
                                    [ADD_EXPIRED] = LARDER_ADD,
                                    [REPLACE_EXPIRED] = LARDER_REPLACE};
    larder *cache = attached[process].cache;
    const char *key = key_texts[what->key];
    larder_extra extra = {.tags = &the_tag, .tag_count = 1, .stamp = attached[process].stamp};
    larder_store store = {.key = key, .key_bytes = strlen(key), .value = value};
    larder_item item = {0};
    larder_status status;
    int64_t number = 0;
    *saw = 0;
    stay_cold();
    switch (what->verb) {
    case GET:
        status = larder_get(cache, key, store.key_bytes, found, sizeof found, &item, NULL);
        *saw = status == LARDER_OK ? read_value(found, &item) : 0;
        return status;
    case EXISTS:
        return larder_exists(cache, key, store.key_bytes, NULL, NULL);
    case SET:
    case ADD:
    case REPLACE:
    case ADD_EXPIRED:
    case REPLACE_EXPIRED:
        store.ttl_ms = what->verb == ADD_EXPIRED || what->verb == REPLACE_EXPIRED ? -1 : 0;
        store.value_bytes = make_value(what->value, value);
        store.mode = modes[what->verb];
        store.extra = is_tagged(what->value) ? &extra : NULL;
        return larder_set(cache, &store, NULL);
    case CAS:
        store.value_bytes = make_value(what->value, value);
        store.expected_expires_at_ms =
            what->expected < LIFE ? LARDER_ANY_EXPIRY : NOW_MS + what->expected / LIFE * LIFE_MS;
        return larder_cas(cache, &store, expected, make_value(what->expected % LIFE, expected), NULL);
    case DELETE:
        return larder_delete(cache, key, store.key_bytes, NULL);
    case INCREMENT:
        status = larder_increment(cache, key, store.key_bytes, what->value, 0, 0, &number, NULL);
        *saw = status == LARDER_OK ? NUMBER + (int)number : 0;
        return status;
    case TOUCH:
        return larder_touch(cache, key, store.key_bytes, what->value * LIFE_MS, NULL);
    case CLEAR:
        return larder_clear(cache);
    case LEASE:
    case LEASE_LATE:
    case LEASE_OVER:
        return take_lease(process, key, what->verb);
    case FILL:
        store.value_bytes = make_value(what->value, value);
        extra.lease = &attached[process].lease;
        extra.tag_count = is_tagged(what->value);
        store.extra = &extra;
        return larder_set(cache, &store, NULL);
    case END:
        return larder_lease_end(cache, key, store.key_bytes, &attached[process].lease, 0, NULL);
    case STAMP:
        return larder_stamp_now(cache, &attached[process].stamp);
    case DELETE_TAG:
        return larder_delete_tagged(cache, what->value ? &(larder_tag){&what->value, 2} : &the_tag, 1, NULL);
    default:
        return larder_prune(cache, NULL, NULL);
    }
}

/* Nobody may have met damage, and the file has to be whole; the judge repairs what a dead process left. */
bool world_is_sound(char *why, size_t bytes) {
    larder_report report;
    larder_status status = larder_verify(attached[JUDGE].cache, &report);
    if (status != LARDER_OK || report.problems) {
        snprintf(why, bytes, "verify: %s, %s", larder_status_name(status), report.first);
        return false;
    }
    for (unsigned p = 0; p <= MOST_PROCESSES; p++) {
        if (attached[p].counters[LARD_STAT_damaged].raw_) {
            snprintf(why, bytes, "process %u met a damaged record", p);
            return false;
        }
    }
    return true;
}

/* What the engine asks the system for. */
int64_t __wrap_lard_clock_ms(void);
int64_t __wrap_lard_clock_coarse_ms(void);
int64_t __wrap_lard_clock_monotonic_ms(void);
int64_t __wrap_lard_clock_monotonic_coarse_ms(void);
int64_t __wrap_lard_clock_boot_ms(void);
int __wrap_lard_random(void *out, size_t bytes);
void __wrap_lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms);
void __wrap_lard_futex_wake(uint32_t *word);
void __wrap_lard_futex_wake_all(uint32_t *word);
int __wrap_lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at);
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int count, off_t at);
void *__wrap_malloc(size_t bytes);
void __wrap_free(void *at);
void *__real_malloc(size_t bytes);
void __real_free(void *at);

int64_t __wrap_lard_clock_ms(void) { return NOW_MS; }
int64_t __wrap_lard_clock_coarse_ms(void) { return NOW_MS; }
int64_t __wrap_lard_clock_monotonic_coarse_ms(void) { return 0; }
int64_t __wrap_lard_clock_boot_ms(void) {
    return NOW_MS + (schedule_running && attached[schedule_current()].is_late ? LEASE_MS : 0);
}

/* A function of the epoch, so that the same schedule gives the same execution. */
int __wrap_lard_random(void *out, size_t bytes) {
    uint64_t number = schedule_mix(((lard_control *)arena)->clear_epoch.raw_);
    memcpy(out, &number, bytes < sizeof number ? bytes : sizeof number);
    return 0;
}

int64_t __wrap_lard_clock_monotonic_ms(void) { return schedule_running ? schedule_clock_ms() : judges_ms; }

void __wrap_lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms) {
    if (!schedule_running) {
        judges_ms += timeout_ms;
        return;
    }
    memory_drain(schedule_current()); /* a system call */
    if (*word == value && !schedule_wait(memory_place(word))) {
        schedule_pass_ms(timeout_ms);
        world_timed_out();
    }
}

void __wrap_lard_futex_wake(uint32_t *word) {
    if (schedule_running) {
        schedule_wake(memory_place(word));
    }
}

/* Of those who wait for a lease: no operation here does. */
void __wrap_lard_futex_wake_all(uint32_t *word) { (void)word; }

/* Whether the owner of a byte is gone. */
int __wrap_lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes) {
    unsigned owner = first - 1;
    (void)file, (void)path, (void)bytes;
    if (schedule_running && owner == schedule_current()) {
        return 1;
    }
    if (schedule_running && !schedule_is_dead(owner) && schedule_may_kill(owner) && schedule_pick(2) == 1) {
        schedule_kill(owner);
    }
    bool dead = schedule_is_dead(owner);
    if (dead) {
        memory_drain(owner); /* whoever is gone has nothing left on its way */
    }
    if (schedule_running) {
        schedule_learned(dead);
    }
    return !dead;
}

/* Copies words one after the other, so a process may die among them, and others see some of them. Ends with the
 * page, as the kernel may: the engine has to go on. No fence: none is promised. */
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t at) {
    size_t left = LARD_IMAGE_PAGE - (size_t)at % LARD_IMAGE_PAGE, done = bytes < left ? bytes : left;
    if (fd != file || (size_t)at + bytes > sizeof arena) {
        abort();
    }
    for (size_t i = 0; i < done; i += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)data + i, 8);
        lard_turn_store(arena + at + i, 8, word, LARD_TURN_RELAXED);
    }
    return (ssize_t)done;
}

/* Ends with the first part, as the kernel may. */
ssize_t __wrap_pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    (void)count;
    return __wrap_pwrite(fd, parts->iov_base, parts->iov_len, at);
}

/* An execution that is given up frees nothing. */
void *__wrap_malloc(size_t bytes) {
    if (!schedule_running) {
        return __real_malloc(bytes);
    }
    void *at = heap + heap_used;
    heap_used += (bytes + 15) / 16 * 16;
    return heap_used <= sizeof heap ? at : NULL;
}

void __wrap_free(void *at) {
    if ((char *)at < heap || (char *)at >= heap + sizeof heap) {
        __real_free(at);
    }
}
