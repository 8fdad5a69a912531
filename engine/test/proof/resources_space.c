/*
 * resources_space.c — room, and disks that fail: nothing crashes, nothing hangs, no
 * value is wrong, the error is clear, and all is well once the resource is back.
 */
#include "places.h"

#include <sys/resource.h>

enum { MEGABYTE = 1 << 20 };

/* One that stays: those of in_directory are used again after eight. */
static const char *place(const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    return path;
}

static bool mount_tmpfs(const char *size) {
    char options[64];
    snprintf(options, sizeof options, "size=%s,mode=700", size);
    return (mkdir(in_directory("disk"), 0700) == 0 || errno == EEXIST) && alone_with_mounts() &&
           mount("tmpfs", in_directory("disk"), "tmpfs", 0, options) == 0;
}

/* A file system on a loop device, on a sparse file, on a tmpfs that can be filled. */
static bool mount_loop(const char *kind, const char *make, const char *size, const char *below) {
    return mount_tmpfs(below) && run("truncate -s %s %s/image", size, in_directory("disk")) &&
           run("%s %s/image", make, in_directory("disk")) &&
           (mkdir(in_directory("loop"), 0700) == 0 || errno == EEXIST) &&
           run("mount -t %s -o loop %s/image %s", kind, in_directory("disk"), in_directory("loop"));
}

static void let_go(void) {
    run("umount -l %s", in_directory("loop"));
    run("umount -l %s", in_directory("disk"));
}

static void creation_on_a_full_disk(void *unused) {
    const char *path = place("disk/t.larder");
    (void)unused;
    CHILD_CHECK(mount_tmpfs("3m"));
    const char *full = filler(in_directory("disk"));
    CHILD_CHECK(!open_at(path, 2 * MEGABYTE) && failure.status == LARDER_NO_SPACE &&
                strstr(failure.detail, "disk/"));
    CHILD_CHECK(!is_there(path));
    CHILD_CHECK(unlink(full) == 0);
    larder *cache = open_at(path, 2 * MEGABYTE);
    CHILD_CHECK(cache && heals(cache));
    larder_close(cache);
}

/* The old file is gone from its directory, but its room is not free as long as somebody has it mapped. */
static void replacement_on_a_disk_with_room_for_one(void *unused) {
    const char *path = place("disk/t.larder");
    (void)unused;
    CHILD_CHECK(mount_tmpfs("3m"));
    larder *cache = open_at(path, 2 * MEGABYTE);
    CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK && unlink(path) == 0);
    sleep_us(250000); /* until it sees that */
    CHILD_CHECK(heals(cache) && is(cache, "k", NULL) && is_there(path));
    CHILD_CHECK(unlink(path) == 0);
    filler(in_directory("disk"));
    sleep_us(250000);
    for (int i = 0; i < 20; i++) {
        set(cache, "k", "w");
        CHILD_CHECK(is(cache, "k", "w") || is(cache, "k", NULL));
        sleep_us(10000);
    }
    CHILD_CHECK(unlink(in_directory("disk/filler")) == 0 && heals(cache) && sound(cache));
    larder_close(cache);
}

static void fill_it_and_go_on(const char *directory) {
    char path[600];
    snprintf(path, sizeof path, "%s/t.larder", directory);
    larder *cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache != NULL);
    filler(directory);
    CHILD_CHECK(use_hard(cache, 1, 12000) == 12000 && sound(cache));
    larder_close(cache);
    cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache && use_hard(cache, 2, 3000) == 3000);
    larder_close(cache);
}

static void a_disk_that_fills_up(void *unused) {
    (void)unused;
    CHILD_CHECK(mount_tmpfs("12m"));
    fill_it_and_go_on(in_directory("disk"));
}

static void an_ext4_that_fills_up(void *unused) {
    (void)unused;
    CHILD_CHECK(mount_loop("ext4", "mkfs.ext4 -q -F", "24m", "40m"));
    fill_it_and_go_on(in_directory("loop"));
    let_go();
}

/* There, an overwrite needs room too: a page that cannot be had is a SIGBUS. */
static void a_btrfs_that_fills_up(void *unused) {
    char path[600];
    (void)unused;
    CHILD_CHECK(mount_loop("btrfs", "mkfs.btrfs -q -f -M", "128m", "160m"));
    snprintf(path, sizeof path, "%s/t.larder", in_directory("loop"));
    larder *cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache && use_hard(cache, 1, 6000) == 6000);
    const char *full = filler(in_directory("loop"));
    run("sync -f %s", path);
    CHILD_CHECK(use_hard(cache, 2, 9000) >= 0);
    CHILD_CHECK(unlink(full) == 0);
    CHILD_CHECK(run("sync -f %s", in_directory("loop")));
    CHILD_CHECK(heals(cache));
    CHILD_CHECK(sound(cache));
    larder_close(cache);
    let_go();
}

static void a_tmpfs_made_smaller(void *unused) {
    (void)unused;
    CHILD_CHECK(mount_tmpfs("12m"));
    larder *cache = open_at(in_directory("disk/t.larder"), 8 * MEGABYTE);
    CHILD_CHECK(cache && use_hard(cache, 1, 3000) == 3000);
    bool smaller = mount(NULL, in_directory("disk"), NULL, MS_REMOUNT, "size=2m") == 0;
    bool as_it_is = mount(NULL, in_directory("disk"), NULL, MS_REMOUNT, "size=8200k") == 0;
    CHILD_CHECK((smaller || as_it_is) && use_hard(cache, 2, 6000) >= 0);
    CHILD_CHECK(mount(NULL, in_directory("disk"), NULL, MS_REMOUNT, "size=20m") == 0 && heals(cache) &&
                sound(cache));
    larder_close(cache);
}

/* What is below the loop device has no room: each write that is new to it fails. */
static void a_disk_that_fails_to_write(void *unused) {
    char path[600];
    (void)unused;
    CHILD_CHECK(mount_loop("ext4", "mkfs.ext4 -q -F -O ^has_journal", "24m", "26m"));
    snprintf(path, sizeof path, "%s/t.larder", in_directory("loop"));
    larder *cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    filler(in_directory("disk"));
    CHILD_CHECK(use_hard(cache, 1, 6000) == 6000 && is(cache, "healed", NULL));
    larder_close(cache); /* its sync fails: whoever comes next begins anew */
    cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache || (failure.status == LARDER_SYSTEM && failure.system_errno == EIO) ||
                failure.status == LARDER_NO_SPACE);
    CHILD_CHECK(!cache || is(cache, "k", NULL));
    larder_close(cache);
    CHILD_CHECK(unlink(in_directory("disk/filler")) == 0);
    cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache && heals(cache) && is(cache, "k", NULL));
    larder_close(cache);
    let_go();
}

/* What is below the loop device was cut: each read that is not in memory fails. */
static void a_disk_that_fails_to_read(void *unused) {
    char path[600];
    (void)unused;
    CHILD_CHECK(mount_loop("ext4", "mkfs.ext4 -q -F -O ^has_journal", "24m", "40m"));
    snprintf(path, sizeof path, "%s/t.larder", in_directory("loop"));
    larder *cache = open_at(path, 8 * MEGABYTE);
    CHILD_CHECK(cache && use_hard(cache, 1, 6000) == 6000);
    larder_close(cache);
    int fd = open(path, O_RDONLY);
    CHILD_CHECK(posix_fadvise(fd, 16384, 0, POSIX_FADV_DONTNEED) == 0);
    close(fd);
    CHILD_CHECK(truncate(in_directory("disk/image"), 2 * MEGABYTE) == 0 &&
                run("blockdev --flushbufs $(losetup -nO NAME -j %s/image)", in_directory("disk")));
    cache = open_at(path, 8 * MEGABYTE);
    if (cache) {
        CHILD_CHECK(use_hard(cache, 2, 2000) >= 0);
    } else {
        CHILD_CHECK(failure.detail[0] != '\0');
    }
    larder_close(cache);
    let_go();
}

enum { NUMBER_OF_USE = 48 }; /* where it ends in the lock file, to which openers write it */

static void a_limit_of_file_sizes(void *unused) {
    const char *path = place("t.larder");
    rlim_t limits[] = {0, 16, 4096, 8194, MEGABYTE};
    struct rlimit limit;
    (void)unused;
    CHILD_CHECK(usable(path) && getrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        limit.rlim_cur = limits[i];
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        CHILD_CHECK(!open_at(in_directory("new.larder"), 2 * MEGABYTE) && failure.status == LARDER_FILE_LIMIT);
        larder *cache = open_at(path, MEGABYTE); /* one that is there is long enough */
        CHILD_CHECK(limits[i] < NUMBER_OF_USE ? !cache && failure.status == LARDER_FILE_LIMIT
                                              : cache && heals(cache) && unlink(path) == 0);
        if (!cache) {
            continue;
        }
        sleep_us(250000);
        set(cache, "k", "v"); /* finds it removed; its successor is too long, but for the last limit */
        CHILD_CHECK(is(cache, "k", "v") || is(cache, "k", NULL));
        limit.rlim_cur = limit.rlim_max;
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0 && heals(cache));
        larder_close(cache);
    }
}

static void limits(void) { CHECK(in_child(a_limit_of_file_sizes, NULL)); }

#define MOUNTED(name, body, sentence)                    \
    static void name(void) {                             \
        if (may_mount(sentence)) {                       \
            CHECK(in_child(body, NULL), "%s", sentence); \
        }                                                \
    }
#define FULL_CREATION "a full disk at creation is an error that says so"
#define FULL_REPLACEMENT "a file is replaced on a disk that has room for one"
#define FULL_TMPFS "a cache goes on on a tmpfs that filled up"
#define FULL_EXT4 "a cache goes on on an ext4 that filled up"
#define FULL_BTRFS "a cache misses on a btrfs that filled up, and heals"
#define SMALLER "a cache goes on on a tmpfs that was made smaller"
#define NO_WRITES "a disk that fails to write costs the cache and nothing else"
#define NO_READS "a disk that fails to read costs misses"
MOUNTED(full_creation, creation_on_a_full_disk, FULL_CREATION)
MOUNTED(full_replacement, replacement_on_a_disk_with_room_for_one, FULL_REPLACEMENT)
MOUNTED(full_tmpfs, a_disk_that_fills_up, FULL_TMPFS)
MOUNTED(full_ext4, an_ext4_that_fills_up, FULL_EXT4)
MOUNTED(smaller, a_tmpfs_made_smaller, SMALLER)
MOUNTED(no_writes, a_disk_that_fails_to_write, NO_WRITES)
MOUNTED(no_reads, a_disk_that_fails_to_read, NO_READS)

static void full_btrfs(void) {
    if (!run("command -v mkfs.btrfs && grep -q btrfs /proc/filesystems")) {
        note(FULL_BTRFS " (no mkfs.btrfs)");
    } else if (may_mount(FULL_BTRFS)) {
        CHECK(in_child(a_btrfs_that_fills_up, NULL));
    }
}

static void say_count(void) { printf("@ %d ways to run out of room, or of a disk that works\n", test_count - 1); }

static const test_case tests[] = {
    TEST(full_creation, FULL_CREATION),
    TEST(full_replacement, FULL_REPLACEMENT),
    TEST(full_tmpfs, FULL_TMPFS),
    TEST(full_ext4, FULL_EXT4),
    TEST(full_btrfs, FULL_BTRFS),
    TEST(smaller, SMALLER),
    TEST(no_writes, NO_WRITES),
    TEST(no_reads, NO_READS),
    TEST(limits, "a limit of file sizes is an error, not a signal"),
    TEST(say_count, "count"),
};
RUN("resources: room", tests)
