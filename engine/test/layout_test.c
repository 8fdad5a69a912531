/*
 * layout_test.c — pins the bytes of the file: where each field is, and what a new
 * file, a slot and a record look like byte for byte. A change here is a new format.
 */
#include "harness.h"

#define AT(type, field, offset, bytes) \
    CHECK(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (bytes), #type "." #field)

static void superblock_fields_have_their_places(void) {
    CHECK(sizeof(lard_superblock) == 144 && LARD_PAGE == 4096);
    AT(lard_superblock, magic, 0, 8);
    AT(lard_superblock, format_major, 8, 4);
    AT(lard_superblock, format_minor, 12, 4);
    AT(lard_superblock, endian_probe, 16, 4);
    AT(lard_superblock, layout_hash, 20, 4);
    AT(lard_superblock, file_bytes, 24, 8);
    AT(lard_superblock, seed, 32, 16);
    AT(lard_superblock, file_id, 48, 16);
    AT(lard_superblock, lock_id, 64, 16);
    AT(lard_superblock, created_ms, 80, 8);
    AT(lard_superblock, shard_offset, 88, 8);
    AT(lard_superblock, shard_bytes, 96, 8);
    AT(lard_superblock, process_slots, 104, 4);
    AT(lard_superblock, shard_count, 108, 4);
    AT(lard_superblock, segment_bytes, 112, 4);
    AT(lard_superblock, segments_per_shard, 116, 4);
    AT(lard_superblock, directory_offset, 120, 4);
    AT(lard_superblock, segment_table_offset, 124, 4);
    AT(lard_superblock, data_offset, 128, 4);
    AT(lard_superblock, reserved, 132, 8);
    AT(lard_superblock, crc, 140, 4);
    CHECK(memcmp(LARD_MAGIC, "LARDER\r\n", 8) == 0 && LARD_FORMAT_MAJOR == 4 && LARD_ENDIAN_PROBE == 0x01020304);
}

static void control_and_process_fields_have_their_places(void) {
    CHECK(LARD_CONTROL_OFFSET == 8192 && LARD_PROCESS_OFFSET == 12288);
    CHECK(sizeof(lard_control) == 576 && sizeof(lard_process) == 256);
    AT(lard_control, superseded, 0, 4);
    AT(lard_control, clear_epoch, 4, 4);
    AT(lard_control, clean, 8, 4);
    AT(lard_control, features, 12, 4);
    AT(lard_control, boot_id, 16, 16);
    AT(lard_control, retired, 32, 192);
    AT(lard_control, use, 224, 8);
    AT(lard_control, inode, 232, 16);
    AT(lard_control, uptime_ms, 248, 8);
    AT(lard_control, stamp, 256, 8);
    AT(lard_control, full_ms, 264, 8);
    AT(lard_control, reserved, 272, 48);
    AT(lard_control, configurations, 320, 256);
    CHECK(LARD_SUPERSEDED == 0xffffffff && LARD_CONFIGURATIONS == 8 && LARD_ROW_ENDING == 1);
    AT(lard_configuration, digest, 0, 8);
    AT(lard_configuration, trusted_ms, 8, 8);
    AT(lard_configuration, trusted_wall, 16, 8);
    AT(lard_configuration, reserved, 24, 8);
    AT(lard_lockfile_content, version, 8, 8);
    AT(lard_lockfile_content, id, 16, 16);
    AT(lard_lockfile_content, use, 32, 16);
    AT(lard_lockfile_content, inode, 48, 16);
    AT(lard_process, incarnation, 0, 4);
    AT(lard_process, pid, 4, 4);
    AT(lard_process, counted_ms, 8, 8);
    AT(lard_process, reserved, 16, 48);
    AT(lard_process, counters, 64, 192);
}

static void shard_fields_have_their_places(void) {
    CHECK(sizeof(lard_shard) == 192 && sizeof(lard_segment) == 64 && sizeof(lard_bucket) == 64);
    AT(lard_shard, lock, 0, 4);
    AT(lard_shard, closed, 4, 8);
    AT(lard_shard, gap, 12, 8);
    AT(lard_shard, pinned_bytes, 24, 8);
    AT(lard_shard, has_pins, 32, 4);
    AT(lard_shard, full_ms, 36, 4);
    AT(lard_shard, epoch, 64, 8);
    AT(lard_shard, bucket_count, 72, 4);
    AT(lard_shard, splitting, 76, 4);
    AT(lard_shard, emptied, 80, 4);
    AT(lard_shard, epoch_check, 84, 4);
    AT(lard_shard, moves, 88, 4);
    AT(lard_shard, chunks, 40, 8);
    AT(lard_shard, third, 48, 12);
    AT(lard_shard, releases, 60, 4);
    AT(lard_shard, moving, 96, 8);
    AT(lard_shard, tags_floor, 104, 8);
    AT(lard_shard, tags_start, 112, 8);
    AT(lard_shard, table_pages, 120, 4);
    AT(lard_shard, table_changing, 124, 4);
    AT(lard_shard, active, 128, 8);
    AT(lard_shard, victim, 136, 4);
    AT(lard_shard, victim_offset, 140, 4);
    AT(lard_shard, next_sequence, 144, 8);
    AT(lard_shard, items, 152, 8);
    AT(lard_shard, free_segments, 160, 4);
    AT(lard_shard, small_segments, 164, 4);
    AT(lard_shard, main_segments, 168, 4);
    AT(lard_shard, index_pages, 172, 4);
    AT(lard_shard, evicted_segments, 176, 4);
    AT(lard_shard, ghost_scale, 180, 4);
    AT(lard_shard, small_share, 184, 4);
    AT(lard_shard, oldest_main, 188, 4);
    AT(lard_segment, generation, 0, 8);
    AT(lard_segment, sequence, 8, 8);
    AT(lard_segment, max_expiry_ms, 16, 8);
    AT(lard_segment, oldest_ms, 24, 8);
    AT(lard_segment, state, 32, 4);
    AT(lard_segment, write_offset, 36, 4);
    AT(lard_segment, dead_bytes, 40, 8);
    AT(lard_segment, reserved, 48, 16);
    CHECK(LARD_SEGMENT_FREE == 0 && LARD_SEGMENT_SMALL == 1 && LARD_SEGMENT_MAIN == 2 && LARD_SEGMENT_INDEX == 3 &&
          LARD_SEGMENT_TABLE == 4);
}

static void slots_have_their_bits(void) {
    uint64_t slot = lard_slot_make(0x8, 0, 0);
    CHECK(slot == 0x800000000001ull, "location is in units of 8 bytes, with its parity");
    CHECK(lard_slot_make(0x18, 0, 0) == 3 && lard_slot_make(0x38, 0, 0) == 0x800000000007ull);
    CHECK(lard_slot_make(0, 0xffff, 0) == 0x00003fffc0000000ull, "a bit above is reserved, one the parity");
    CHECK(lard_slot_make(0, 0, 0x12345) == 0x2345000000000000ull, "16 bits of the generation");
    slot = lard_slot_make(0x123458, 0xbeef, 0xcafe);
    CHECK(LARD_SLOT_OFFSET(slot) == 0x123458 && LARD_SLOT_FINGERPRINT(slot) == 0xbeef &&
          LARD_SLOT_GENERATION(slot) == 0xcafe);
    CHECK(LARD_SLOT_OFFSET(LARD_SLOT_PENDING) == 1ull << 32, "a pending slot points beyond the largest shard");
}

static void other_words_have_their_bits(void) {
    uint32_t owner = LARD_OWNER(5u, 0x80003u);
    CHECK(owner == 0x3006 && LARD_OWNER_SLOT(owner) == 5 && LARD_OWNER_INCARNATION(owner) == 3);
    CHECK(LARD_LOCK_WAITERS == 1u << 31 && LARD_OWNER(0xffeu, 0x7ffffu) == 0x7fffffff, "no owner has its bit");
    CHECK(LARD_EPOCH(7, 9u) == 0x700000009 && LARD_EPOCH_CLEAR(0x700000009) == 7);
    CHECK(LARD_GHOST_FINGERPRINT_MASK == 0x7ff && LARD_GHOST_TIME_MASK << LARD_GHOST_TIME_SHIFT == 0x1f800);
    CHECK(LARD_WORD0(0x12345678u, LARD_TYPE_HEAD | LARD_PINNED, 3, 4) == 0xb003000412345678ull);
    CHECK(LARD_WORD1(5, 9, 7) == 0x1c240000000005ull && LARD_EXPIRY_MASK == 0x3ffffffffff &&
          LARD_SEAL_SHIFT == 53);
    CHECK(LARD_WORD1_CONFIGURATION(LARD_WORD1(5, 0xff, 6) | 0x7ffull << 53) == 6);
    CHECK(LARD_MAX_RECORD_VALUE == 0xffff && LARDER_MAX_KEY == 0xfff && LARD_CELL_SEAL_MASK == 0xffffffffffff &&
          LARD_SHARD_SHIFT == 56);
}

static void read_at(const char *path, void *out, size_t bytes, off_t at) {
    int fd = open(path, O_RDONLY);
    if (fd < 0 || pread(fd, out, bytes, at) != (ssize_t)bytes) {
        memset(out, 0xee, bytes);
    }
    close(fd);
}

/* The numbers that follow from a size are part of the format: both engines of two versions must find the same. */
static void a_new_file_is_as_drawn(void) {
    unsigned char page[4096], copy[4096], control[256], row[256];
    uint64_t boot[2];
    larder *cache = open_cache(1 << 20);
    CHECK(cache && lard_boot_id(boot) == 0);
    const char *path = test_path("t.larder");
    struct stat info;
    CHECK(stat(path, &info) == 0 && info.st_size == 1 << 20 && (info.st_mode & 07777) == 0600);
    read_at(path, page, sizeof page, 0);
    read_at(path, copy, sizeof copy, 4096);
    CHECK(memcmp(page, copy, sizeof page) == 0, "two copies");
    static const unsigned char start[20] = {'L', 'A', 'R', 'D', 'E', 'R', '\r', '\n', 4, 0,
                                            0,   0,   0,   0,   0,   0,   4,    3,    2, 1};
    CHECK(memcmp(page, start, sizeof start) == 0);
    lard_superblock super;
    memcpy(&super, page, sizeof super);
    CHECK(super.layout_hash == 0x2facdb5eu, "%08x: one of the sizes changed", super.layout_hash);
    CHECK(super.process_slots == 64 && super.shard_offset == 28672);
    CHECK(super.shard_count == 1 && super.segment_bytes == 32768 && super.segments_per_shard == 31 &&
          super.shard_bytes == (1 << 20) - 28672);
    CHECK(super.directory_offset == 192 && super.segment_table_offset == 320 &&
          super.data_offset == 320 + 31 * 64);
    CHECK(super.crc == lard_crc_bytes(0xffffffffu, page, 140));
    for (size_t i = sizeof super; i < sizeof page; i++) {
        CHECK(page[i] == 0, "byte %zu", i);
    }
    read_at(path, control, sizeof control, 8192);
    static const unsigned char begun[16] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    CHECK(memcmp(control, begun, 16) == 0 && memcmp(control + 16, boot, 16) == 0);
    read_at(path, row, sizeof row, 12288);
    uint32_t pid = (uint32_t)getpid();
    CHECK(cache->core->incarnation && memcmp(row, &cache->core->incarnation, 4) == 0 &&
          memcmp(row + 4, &pid, 4) == 0);

    unsigned char lock[64];
    char lock_path[420];
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    CHECK(stat(lock_path, &info) == 0 && info.st_size == 64 && (info.st_mode & 07777) == 0600);
    read_at(lock_path, lock, sizeof lock, 0);
    CHECK(memcmp(lock + 32, control + 224, 8) == 0 || memcmp(lock + 40, control + 224, 8) == 0, "the use number");
    uint64_t inode[2];
    int fd = open(path, O_RDONLY);
    CHECK(lard_inode(fd, inode) == 0 && close(fd) == 0 && memcmp(control + 232, inode, 16) == 0);
    fd = open(lock_path, O_RDONLY);
    CHECK(lard_inode(fd, inode) == 0 && close(fd) == 0 && memcmp(lock + 48, inode, 16) == 0);
    larder_close(cache);
    read_at(lock_path, lock, sizeof lock, 0);
    CHECK(memcmp(lock, "LARDLOCK\3\0\0\0\0\0\0\0", 16) == 0 && memcmp(lock + 16, super.lock_id, 16) == 0);
    CHECK(memcmp(lock + 40, control + 224, 8) != 0, "closing ends the use");
    read_at(path, control, sizeof control, 8192);
    CHECK(memcmp(lock + 40, control + 224, 8) == 0);
    static const unsigned char clean[16] = {0, 0, 0, 0, 1, 0, 0, 0, 'L', 'E', 'A', 'N', 0, 0, 0, 0};
    CHECK(memcmp(control, clean, 16) == 0, "closed cleanly");
}

static void larger_files_have_more_of_everything(void) {
    static const struct {
        uint64_t size;
        uint32_t shards, segment, segments, slots;
    } plans[] = {
        {1ull << 20, 1, 32 << 10, 31, 64},        {4ull << 20, 1, 32 << 10, 125, 256},
        {16ull << 20, 1, 64 << 10, 251, 1024},    {64ull << 20, 4, 64 << 10, 254, 1024},
        {256ull << 20, 16, 64 << 10, 255, 1024},  {1ull << 30, 64, 64 << 10, 255, 1024},
        {16ull << 30, 256, 256 << 10, 255, 1024}, {1ull << 40, 256, 1 << 20, 4095, 1024},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        lard_superblock super;
        CHECK(lard_format_plan(plans[i].size, &super) == LARDER_OK);
        CHECK(super.shard_count == plans[i].shards && super.segment_bytes == plans[i].segment &&
                  super.segments_per_shard == plans[i].segments && super.process_slots == plans[i].slots,
              "%llu: %u shards of %u segments of %u, %u slots", (unsigned long long)plans[i].size,
              super.shard_count, super.segments_per_shard, super.segment_bytes, super.process_slots);
    }
}

static uint64_t word_at(const unsigned char *at) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) {
        word = word << 8 | at[i];
    }
    return word;
}

/* CRC-32C, bit by bit: nothing of crc.c. */
static uint32_t plain_crc(const unsigned char *data, size_t bytes) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        }
    }
    return crc;
}

/* Finalizer of MurmurHash3, as the seals of counters and the checksums of heads use it. */
static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static uint64_t sealed(uint64_t word0, uint64_t expiry_ms, uint64_t flags, uint64_t origin) {
    uint64_t word1 = expiry_ms | flags << 42;
    return word1 | (word0 ^ word1 << 11 ^ origin) * 0x9e3779b97f4a7c15ull >> 53 << 53;
}

/* What the checksum covers: a word of the header, and the body. */
static uint32_t crc_of(uint64_t word0, uint64_t flags, const unsigned char *body, size_t bytes) {
    unsigned char covered[64];
    uint64_t word = word0 >> 32 | flags << 42;
    memcpy(covered, &word, 8);
    memcpy(covered + 8, body, bytes);
    return plain_crc(covered, 8 + bytes);
}

/* The record of the key's only slot, and its generation and parity. */
static const unsigned char *record_of(larder *cache, const char *key, uint64_t *origin) {
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    *origin = found.value >> 47;
    return found.slot ? view.base + LARD_SLOT_OFFSET(found.value) : NULL;
}

static void a_plain_record_is_as_drawn(void) {
    larder *cache = open_cache(1 << 20);
    larder_call at = {.now_ms = 1700000000000};
    larder_store store = {.key = "user:42",
                          .key_bytes = 7,
                          .value = "Hello, larder",
                          .value_bytes = 13,
                          .ttl_ms = 5000,
                          .flags = 0xa5};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    uint64_t origin;
    const unsigned char *record = record_of(cache, "user:42", &origin);
    CHECK(record != NULL);
    unsigned char want[40] = {0};
    memcpy(want + 16, "user:42Hello, larder\0\0\0\0", 24);
    uint64_t word0 = 13ull << 32 | 7ull << 48 | 1ull << 60;
    word0 |= crc_of(word0, 0xa5, want + 16, 24);
    uint64_t word1 = sealed(word0, 1700000005000, 0xa5, origin);
    memcpy(want, &word0, 8);
    memcpy(want + 8, &word1, 8);
    CHECK(memcmp(record, want, sizeof want) == 0);
    CHECK(larder_touch(cache, "user:42", 7, 0, &at) == LARDER_OK);
    word1 = sealed(word0, 0, 0xa5, origin);
    memcpy(want + 8, &word1, 8);
    CHECK(memcmp(record, want, sizeof want) == 0, "touch changes one word and nothing else");
    larder_close(cache);
}

static void a_counter_record_is_as_drawn(void) {
    larder *cache = open_cache(1 << 20);
    int64_t n;
    CHECK(larder_increment(cache, "visitors.", 9, 3, 4, 0, &n, NULL) == LARDER_OK && n == 7);
    uint64_t origin;
    const unsigned char *record = record_of(cache, "visitors.", &origin);
    CHECK(record != NULL);
    unsigned char want[32] = {0};
    memcpy(want + 16, "visitors.\0\0\0\0\0\0\0", 16);
    uint64_t word0 = 32ull << 32 | 9ull << 48 | 2ull << 60;
    uint32_t crc = crc_of(word0, 0, want + 16, 16);
    word0 |= crc;
    uint64_t word1 = sealed(word0, 0, 0, origin);
    memcpy(want, &word0, 8);
    memcpy(want + 8, &word1, 8);
    CHECK(memcmp(record, want, sizeof want) == 0);
    const unsigned char *cells = record + 32;
    for (uint64_t sequence = 1; sequence <= 3; sequence++) { /* the cells take turns */
        const unsigned char *cell = cells + (sequence & 1 ? 0 : 16);
        uint64_t seal = mixed((uint64_t)n ^ mixed(sequence << 32 | crc)) & ((1ull << 48) - 1);
        CHECK(word_at(cell) == (uint64_t)n && word_at(cell + 8) == (sequence << 48 | seal), "%d", (int)sequence);
        CHECK(larder_increment(cache, "visitors.", 9, -9, 0, 0, &n, NULL) == LARDER_OK);
    }
    larder_close(cache);
}

static void a_large_value_is_as_drawn(void) {
    larder *cache = open_cache(1 << 20);
    static unsigned char value[20000];
    describe(value, sizeof value, 1, 2);
    CHECK(set_bytes(cache, "large", value, sizeof value, 0) == LARDER_OK);
    uint64_t origin;
    const unsigned char *record = record_of(cache, "large", &origin);
    CHECK(record != NULL && word_at(record) >> 32 == (32 | 5ull << 16 | 3ull << 28), "a head");
    lard_head head;
    memcpy(&head, record + 16 + 5, sizeof head);
    CHECK(head.value_bytes == sizeof value &&
          head.id[0] == ((uint64_t)cache->core->slot << 32 | cache->core->incarnation));
    size_t at = 0, chunk = 8192 - 16 - 24;
    uint64_t checksum = 0;
    for (uint64_t i = 0; at < sizeof value; i++) {
        lard_chunk_key data = {{head.id[0], head.id[1]}, i};
        lard_key key = lard_key_of_chunk(cache->core->map, &data);
        lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
        lard_found found = lard_index_find(&view, &key);
        size_t bytes = sizeof value - at < chunk ? sizeof value - at : chunk;
        CHECK(found.slot, "chunk %d", (int)i);
        record = view.base + LARD_SLOT_OFFSET(found.value);
        CHECK(word_at(record) >> 32 == (bytes | 24ull << 16 | 4ull << 28), "chunk %d", (int)i);
        CHECK(memcmp(record + 16, &data, 24) == 0 && memcmp(record + 40, value + at, bytes) == 0, "chunk %d",
              (int)i);
        at += bytes;
        checksum = mixed(checksum ^ (uint32_t)word_at(record)) + 1;
    }
    CHECK(head.checksum == checksum);
    larder_close(cache);
}

static void an_extension_is_as_drawn(void) {
    lard_extension extension;
    uint64_t words[LARD_EXTENSION_WORDS];
    lard_extension_init(&extension, LARD_TYPE_HEAD, 7);
    extension.fields = LARD_FIELD_LEASE | LARD_FIELD_FRESH | LARD_FIELD_TAGS;
    extension.token[0] = 11;
    extension.token[1] = 12;
    extension.lease_began_ms = 13;
    extension.lease_ms = 14;
    extension.fresh_until_ms = 15;
    extension.stamp = 16;
    extension.tags[0] = 17;
    extension.tag_count = 1;
    static const uint64_t want[] = {7ull << 32 | 1 << 16 | 7 << 8 | 3, 11, 12, 13, 14, 15, 16, 17};
    CHECK(lard_extension_pack(&extension, words) == 8 && memcmp(words, want, sizeof want) == 0);
}

static const test_case tests[] = {
    TEST(superblock_fields_have_their_places, "the superblock's fields have their places"),
    TEST(control_and_process_fields_have_their_places,
         "the control page's and process rows' fields have their places"),
    TEST(shard_fields_have_their_places, "the shard's and segment rows' fields have their places"),
    TEST(slots_have_their_bits, "a slot's bits have their places"),
    TEST(other_words_have_their_bits, "locks, epochs, ghosts and records have their bits"),
    TEST(a_new_file_is_as_drawn, "a new file and its lock file are as drawn, byte for byte"),
    TEST(larger_files_have_more_of_everything, "what follows from a file's size does not change"),
    TEST(a_plain_record_is_as_drawn, "a plain record is as drawn, byte for byte"),
    TEST(a_counter_record_is_as_drawn, "a counter's record and its cells are as drawn, byte for byte"),
    TEST(a_large_value_is_as_drawn, "a large value's head and chunks are as drawn"),
    TEST(an_extension_is_as_drawn, "the words of an extended record are as drawn"),
};
RUN("layout", tests)
