/*
 * validate_test.c — checks the judgement of a file from facts that were read before; it touches no file.
 */
#include "harness.h"

static lard_lockfile_content lock_content = {.id = "0123456789abcde", .use = {7, 9}};

/* Of a sound file that is in use on this boot of the machine. */
static lard_validate_facts facts(void) {
    lard_crc_init();
    lard_validate_facts sound = {
        .has_superblocks = true,
        .inode = {11, 12},
        .boot = {21, 22},
        .uptime_ms = 5000,
        .control = {
            .clear_epoch = {1}, .boot_id = {{21}, {22}}, .use = {9}, .inode = {{11}, {12}}, .uptime_ms = {4000}}};
    lard_format_plan(1 << 20, &sound.copies[0]);
    memcpy(sound.copies[0].lock_id, lock_content.id, 16);
    sound.copies[0].crc = lard_format_crc(&sound.copies[0]);
    sound.copies[1] = sound.copies[0];
    sound.file_bytes = sound.copies[0].file_bytes;
    return sound;
}

static lard_file_kind kind_of(const lard_validate_facts *seen, bool alone) {
    return lard_validate(seen, &lock_content, alone).kind;
}

static bool is_unfit(const lard_validate_facts *seen, const char *reason) {
    lard_verdict verdict = lard_validate(seen, &lock_content, true);
    return verdict.kind == LARD_FILE_UNFIT && strcmp(verdict.reason, reason) == 0;
}

static void a_sound_file_is_fit(void) {
    lard_validate_facts seen = facts();
    lard_verdict verdict = lard_validate(&seen, &lock_content, true);
    CHECK(verdict.kind == LARD_FILE_FIT && verdict.superblock == 0);
    seen.copies[0].seed[0] ^= 1;
    verdict = lard_validate(&seen, &lock_content, true);
    CHECK(verdict.kind == LARD_FILE_FIT && verdict.superblock == 1, "by its second superblock");
}

static void a_file_of_somebody_else_is_foreign(void) {
    lard_validate_facts seen = facts();
    memset(seen.copies, 'x', sizeof seen.copies);
    CHECK(kind_of(&seen, true) == LARD_FILE_FOREIGN);
    memset(&seen, 0, sizeof seen);
    CHECK(kind_of(&seen, true) == LARD_FILE_FOREIGN, "zeros, then other bytes");
    seen.is_unfinished = true;
    CHECK(is_unfit(&seen, "it was not finished"));
}

static void a_newer_file_is_left_to_those_who_use_it(void) {
    lard_validate_facts seen = facts();
    seen.copies[0].format_major++;
    CHECK(kind_of(&seen, false) == LARD_FILE_NEWER);
    seen.copies[1] = seen.copies[0];
    CHECK(is_unfit(&seen, "it is damaged or of another version"), "nobody uses it");
}

static void a_damaged_file_is_unfit(void) {
    lard_validate_facts seen = facts();
    seen.control.clear_epoch = (lard_u32){0};
    CHECK(is_unfit(&seen, "it is damaged or of another version"));
    seen = facts();
    seen.control.features = (lard_u32){1};
    CHECK(is_unfit(&seen, "it is damaged or of another version"));
    seen = facts();
    seen.file_bytes--;
    CHECK(is_unfit(&seen, "it is damaged or of another version"));
}

static void a_file_of_another_lock_file_is_unfit(void) {
    lard_validate_facts seen = facts();
    seen.copies[0].lock_id[3] ^= 1;
    seen.copies[0].crc = lard_format_crc(&seen.copies[0]);
    CHECK(is_unfit(&seen, "it, or its lock file, was replaced"));
    seen = facts();
    seen.control.superseded = (lard_u32){1};
    CHECK(is_unfit(&seen, "it, or its lock file, was replaced"));
}

static void a_copy_is_unfit(void) {
    lard_validate_facts seen = facts();
    seen.inode[0]++;
    CHECK(is_unfit(&seen, "it is a copy, or was put back from one"), "another inode");
    seen = facts();
    seen.control.use = (lard_u64){8};
    CHECK(is_unfit(&seen, "it is a copy, or was put back from one"), "another use");
    seen.control.use = (lard_u64){7};
    CHECK(kind_of(&seen, true) == LARD_FILE_FIT, "either number of the lock file is right");
}

static void a_file_that_a_crash_interrupted_is_unfit(void) {
    lard_validate_facts seen = facts();
    seen.boot[0]++;
    CHECK(is_unfit(&seen, "it was in use when the machine crashed"));
    CHECK(kind_of(&seen, false) == LARD_FILE_FIT, "somebody uses it, so it was opened since");
    seen.control.clean = (lard_u32){LARD_CLEAN};
    CHECK(kind_of(&seen, true) == LARD_FILE_FIT, "it was closed before");
    seen = facts();
    seen.uptime_ms = 3000;
    CHECK(is_unfit(&seen, "it was in use when the machine crashed"), "the same boot id for ever");
    seen = facts();
    memset(seen.boot, 0, sizeof seen.boot);
    CHECK(is_unfit(&seen, "it was in use when the machine crashed"), "no boot id");
}

static const test_case tests[] = {
    TEST(a_sound_file_is_fit, "a sound file is fit, also by its second superblock"),
    TEST(a_file_of_somebody_else_is_foreign, "a file without Larder's superblocks is foreign, or unfinished"),
    TEST(a_newer_file_is_left_to_those_who_use_it, "a newer file is replaced only where nobody uses it"),
    TEST(a_damaged_file_is_unfit, "a damaged file is unfit"),
    TEST(a_file_of_another_lock_file_is_unfit, "a file of another lock file, or a superseded one, is unfit"),
    TEST(a_copy_is_unfit, "a copy is unfit"),
    TEST(a_file_that_a_crash_interrupted_is_unfit, "a file that was in use when the machine crashed is unfit"),
};
RUN("validate", tests)
