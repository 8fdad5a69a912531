/*
 * files_test.c — checks what may be at the path: nothing, foreign files, files of other users, links, full disks.
 */
#include "places.h"
#include "mounts.h"

#include <limits.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

enum { NOBODY = 65534 };

static void foreign_files_are_not_touched(void) {
    static unsigned char disk_image[3 * SIZE]; /* nothing but zeros where Larder's marks would be */
    const char *path = in_directory("notes.txt");
    static const char *texts[] = {"x", "LARD", "Dear diary,\n", "LARDER\r", "larder\r\n and more"};
    memset(disk_image + 32768, 7, 2048);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(put_file(path, texts[i], strlen(texts[i]), 0600));
        CHECK(try_open(path) == LARDER_NOT_LARDER && strstr(failure.detail, "notes.txt"), "'%s'", texts[i]);
        CHECK(file_is(path, texts[i], strlen(texts[i])), "'%s'", texts[i]);
    }
    CHECK(put_file(path, disk_image, sizeof disk_image, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER);
    CHECK(file_is(path, disk_image, sizeof disk_image), "a file that begins with zeros");
    memset(disk_image, 0x55, sizeof disk_image);
    CHECK(put_file(path, disk_image, sizeof disk_image, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER);
    CHECK(file_is(path, disk_image, sizeof disk_image));
    CHECK(!is_there(in_directory("notes.txt.lock")), "nothing is made beside it");
}

static void what_is_no_file_is_refused(void) {
    struct stat info;
    const char *path = in_directory("t.larder"), *target = in_directory("target");
    CHECK(put_file(target, "precious", 8, 0600) && symlink(target, path) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && strstr(failure.detail, "t.larder"));
    CHECK(file_is(target, "precious", 8) && unlink(path) == 0);
    CHECK(symlink(in_directory("nowhere"), path) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && !is_there(in_directory("nowhere")), "a dangling link");
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a directory");
    CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    int64_t start = now_us();
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a pipe");
    CHECK(now_us() - start < 5000000 && lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    CHECK(unlink(path) == 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a socket");
    close(listener);
    CHECK(unlink(path) == 0 && usable(path));
}

static void files_of_unsafe_mode_are_refused(void) {
    static const mode_t modes[] = {0666, 0620, 0602};
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    CHECK(usable(path));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(chmod(path, modes[i]) == 0 && try_open(path) == LARDER_UNSAFE_MODE, "%o", modes[i]);
        CHECK(strstr(failure.detail, "t.larder (mode 6"));
        CHECK(chmod(path, 0600) == 0 && chmod(lock, modes[i]) == 0);
        CHECK(try_open(path) == LARDER_UNSAFE_MODE && strstr(failure.detail, ".lock"), "lock %o", modes[i]);
        CHECK(chmod(lock, 0600) == 0);
    }
    CHECK(chmod(path, 0644) == 0 && usable(path), "others may read it, if someone wants that");
}

static void files_of_others_are_refused(void) {
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    if (geteuid() != 0) {
        printf("  skipped, needs root: files of another owner\n");
        return;
    }
    CHECK(usable(path) && chown(path, NOBODY, NOBODY) == 0);
    CHECK(try_open(path) == LARDER_NOT_OWNER && strstr(failure.detail, "65534"), "%s", failure.detail);
    CHECK(chown(path, 0, 0) == 0 && chown(lock, NOBODY, NOBODY) == 0);
    CHECK(try_open(path) == LARDER_NOT_OWNER && strstr(failure.detail, ".lock"));
    CHECK(chown(lock, 0, 0) == 0 && usable(path));
}

static uid_t owner_of(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 ? info.st_uid : (uid_t)-1;
}

static void use_as_nobody(void *unused) {
    (void)unused;
    CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    CHILD_CHECK(usable(in_directory("theirs/t.larder")) && usable(in_directory("theirs/below/it/t.larder")));
}

/* A console or a task of the deployment, run by root in the application's directory. */
static void root_works_for_the_owner_of_the_directory(void) {
    const char *theirs = in_directory("theirs"), *path = in_directory("theirs/t.larder");
    if (geteuid() != 0) {
        printf("  skipped, needs root: files for another owner\n");
        return;
    }
    CHECK(chmod(test_directory, 0755) == 0 && mkdir(theirs, 0700) == 0 && chown(theirs, NOBODY, NOBODY) == 0);
    CHECK(usable(path) && usable(in_directory("theirs/below/it/t.larder")));
    static const char *const made[] = {"theirs/t.larder", "theirs/t.larder.lock", "theirs/below",
                                       "theirs/below/it", "theirs/below/it/t.larder"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        CHECK(owner_of(in_directory(made[i])) == NOBODY, "%s", made[i]);
    }
    CHECK(in_child(use_as_nobody, NULL), "whom root has left nothing of its own");
    CHECK(usable(path), "and root uses what is theirs");
    CHECK(chown(path, 1, 1) == 0 && try_open(path) == LARDER_NOT_OWNER, "a third one's file is refused");
}

static void open_where_nothing_may_be_written(void *unused) {
    const char *path = in_directory("read-only/t.larder"), *below = in_directory("read-only/below/t.larder");
    (void)unused;
    if (geteuid() == 0) {
        CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    }
    CHILD_CHECK(try_open(path) == LARDER_SYSTEM && failure.system_errno == EACCES);
    CHILD_CHECK(strstr(failure.detail, "read-only") && strstr(failure.detail, "Permission denied"));
    CHILD_CHECK(try_open(below) == LARDER_SYSTEM && failure.system_errno == EACCES);
}

static void a_directory_may_be_read_only(void) {
    const char *directory = in_directory("read-only");
    CHECK(mkdir(directory, 0555) == 0 && chmod(test_directory, 0755) == 0);
    CHECK(in_child(open_where_nothing_may_be_written, NULL));
    CHECK(chmod(directory, 0755) == 0 && rmdir(directory) == 0, "nothing was left there");
}

static mode_t mode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

static void missing_directories_are_made(void) {
    mode_t before = umask(022);
    CHECK(usable(in_directory("a/b/c/t.larder")));
    CHECK(mode_of(in_directory("a")) == 0755 && mode_of(in_directory("a/b")) == 0755);
    CHECK(mode_of(in_directory("a/b/c")) == 0700, "the last one is private");
    CHECK(mode_of(in_directory("a/b/c/t.larder")) == 0600 && mode_of(in_directory("a/b/c/t.larder.lock")) == 0600);
    umask(0);
    CHECK(usable(in_directory("d/t.larder")));
    umask(before);
    CHECK(mode_of(in_directory("d")) == 0700 && mode_of(in_directory("d/t.larder")) == 0600);
    CHECK(put_file(in_directory("file"), "", 0, 0600));
    CHECK(try_open(in_directory("file/t.larder")) == LARDER_SYSTEM && failure.system_errno == ENOTDIR);
}

static void make_under_each_umask(void *unused) {
    static const mode_t masks[] = {0, 022, 0177, 0277, 0377, 0577, 0777};
    (void)unused;
    CHILD_CHECK(geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0));
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char path[500];
        umask(masks[i]);
        snprintf(path, sizeof path, "%s/%o/b/t.larder", in_directory("theirs"), (unsigned)masks[i]);
        CHILD_CHECK(usable(path));
        CHILD_CHECK(mode_of(path) == 0600);
        *strrchr(path, '/') = '\0';
        CHILD_CHECK(mode_of(path) == 0700);
        *strrchr(path, '/') = '\0';
        CHILD_CHECK((mode_of(path) & 0722) == 0700);
    }
}

static void the_umask_does_not_matter(void) {
    CHECK(mkdir(in_directory("theirs"), 0700) == 0 && chmod(test_directory, 0755) == 0);
    CHECK(geteuid() != 0 || chown(in_directory("theirs"), NOBODY, NOBODY) == 0);
    CHECK(in_child(make_under_each_umask, NULL));
}

static void paths_may_be_too_long(void) {
    char path[PATH_MAX + 100], name[300];
    memset(path, '/', sizeof path);
    path[sizeof path - 1] = '\0';
    CHECK(try_open(path) == LARDER_PATH_TOO_LONG);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK(try_open(in_directory(name)) == LARDER_SYSTEM && failure.system_errno == ENAMETOOLONG);
    CHECK(strlen(failure.detail) < sizeof failure.detail);
    name[200] = '\0';
    CHECK(usable(in_directory(name)));
}

static void attaching_refuses(const char *path, larder_status status, int system_errno) {
    larder_options options = {.size_bytes = 1 << 20, .attach_later = 1};
    larder *cache = NULL, *again = NULL;
    CHECK(larder_open(path, &options, &cache, &failure) == LARDER_OK && larder_attached(cache) == 0);
    CHECK(larder_open(path, &options, &again, &failure) == LARDER_OK && larder_attached(again) == 0);
    for (int i = 0; i < 2; i++) {
        memset(&failure, 0, sizeof failure);
        CHECK(larder_attach(cache, 0, &failure) == status && larder_attach(again, 0, NULL) == status);
        CHECK(failure.status == status && failure.system_errno == system_errno && failure.detail[0]);
        CHECK(larder_attached(cache) == -1 && is(cache, "k", NULL));
        CHECK(larder_delete(cache, "k", 1, NULL) != LARDER_OK && set(cache, "k", "v") != LARDER_OK);
    }
    larder_close(again);
    larder_close(cache);
}

static void a_path_that_none_can_have_is_told_by_attaching(void) {
    char path[PATH_MAX + 100], here[PATH_MAX];
    memset(path, 'p', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    attaching_refuses(path, LARDER_PATH_TOO_LONG, ENAMETOOLONG);
    CHECK(getcwd(here, sizeof here) != NULL);
    const char *gone = in_directory("gone");
    CHECK(mkdir(gone, 0700) == 0 && chdir(gone) == 0 && rmdir(gone) == 0);
    CHECK(try_open("t.larder") == LARDER_SYSTEM && failure.system_errno == ENOENT);
    attaching_refuses("t.larder", LARDER_SYSTEM, ENOENT);
    CHECK(chdir(here) == 0);
}

static void the_lock_file_is_looked_at_too(void) {
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    CHECK(put_file(lock, "pid 1234\n", 9, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER && strstr(failure.detail, "t.larder.lock"));
    CHECK(file_is(lock, "pid 1234\n", 9) && !is_there(path));
    CHECK(unlink(lock) == 0 && symlink(in_directory("elsewhere"), lock) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && !is_there(in_directory("elsewhere")) && !is_there(path));
    CHECK(unlink(lock) == 0 && mkdir(lock, 0700) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR);
    CHECK(rmdir(lock) == 0 && put_file(lock, "", 0, 0600) && usable(path), "its creator was killed");
    CHECK(put_file(lock, "LARDLOCK\1\0\0\0", 12, 0600) && usable(path), "killed half-way");
    static const char zeros[65];
    CHECK(put_file(lock, zeros, 64, 0600) && usable(path), "its length was on disk when the power failed");
    CHECK(put_file(lock, zeros, 65, 0600) && try_open(path) == LARDER_NOT_LARDER, "a file of another's");
    CHECK(file_is(lock, zeros, 65));
}

/* One who may write to the directory of a cache must not empty another one by a link to it. */
static void another_cache_under_this_name(void) {
    const char *theirs = in_directory("theirs.larder"), *path = in_directory("t.larder");
    larder_options options = {.size_bytes = SIZE};
    larder *cache = NULL;
    CHECK(larder_open(theirs, &options, &cache, &failure) == LARDER_OK && set(cache, "k", "theirs") == LARDER_OK);
    CHECK(link(theirs, path) == 0);
    CHECK(usable(path), "it is replaced at this path");
    CHECK(is(cache, "k", "theirs") && set(cache, "l", "theirs, too") == LARDER_OK, "and left alone at its own");
    larder_close(cache);
    CHECK(larder_open(theirs, &options, &cache, &failure) == LARDER_OK);
    CHECK(is(cache, "k", "theirs") && is(cache, "l", "theirs, too"));
    larder_close(cache);
}

static void open_beyond_the_limit(void *unused) {
    struct rlimit limit = {1 << 20, 1 << 20};
    larder_options options = {.size_bytes = 2 << 20};
    larder *cache = NULL;
    (void)unused;
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHILD_CHECK(larder_open(test_path("t.larder"), &options, &cache, &failure) == LARDER_FILE_LIMIT);
    CHILD_CHECK(strstr(failure.detail, "t.larder") && !is_there(test_path("t.larder")));
}

static void a_limit_is_not_a_full_disk(void) { CHECK(in_child(open_beyond_the_limit, NULL)); }

#ifdef __linux__
static void open_on_a_full_disk(void *unused) {
    const char *path = in_directory("disk/t.larder");
    static char filler[100 << 10];
    (void)unused;
    CHILD_CHECK(mounts_of_its_own(NULL));
    CHILD_CHECK(mount("tmpfs", in_directory("disk"), "tmpfs", 0, "size=1500k,mode=700") == 0);
    CHILD_CHECK(put_file(in_directory("disk/filler"), filler, sizeof filler, 0600));
    larder_options options = {.size_bytes = 2 << 20};
    larder *cache = NULL;
    CHILD_CHECK(larder_open(path, &options, &cache, &failure) == LARDER_NO_SPACE);
    CHILD_CHECK(failure.system_errno == ENOSPC && strstr(failure.detail, "t.larder") && !is_there(path));
    CHILD_CHECK(usable(path)); /* a smaller one has room */
    CHILD_CHECK(unlink(path) == 0 && unlink(in_directory("disk/t.larder.lock")) == 0);
    int fd = open(in_directory("disk/filler"), O_WRONLY | O_APPEND);
    while (write(fd, filler, sizeof filler) > 0) {
    }
    close(fd);
    CHILD_CHECK(try_open(path) == LARDER_NO_SPACE && !is_there(path));
    CHILD_CHECK(umount2(in_directory("disk"), MNT_DETACH) == 0);
}
#endif

static void the_disk_may_be_full(void) {
#ifdef __linux__
    if (geteuid() == 0 && mkdir(in_directory("disk"), 0700) == 0) {
        CHECK(in_child(open_on_a_full_disk, NULL));
        umount2(in_directory("disk"), MNT_DETACH);
        return;
    }
#endif
    printf("  skipped, needs root to mount a small tmpfs: a full disk\n");
}

static void file_systems_of_others_are_known(void) {
#ifdef __linux__
    static const struct {
        unsigned long type;
        const char *name;
    } known[] = {{0x6969, "nfs"},        {0x01021997, "9p"},     {0x65735546, "fuse"},
                 {0x786f4256, "vboxsf"}, {0x7c7c6673, "prl_fs"}, {0xffffffffbacbacbc, "vmhgfs"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *name = lard_filesystem_network_name(known[i].type);
        CHECK(name && strcmp(name, known[i].name) == 0, "%s", known[i].name);
    }
    static const unsigned long local[] = {0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1};
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) { /* ext4, xfs, btrfs, tmpfs, overlayfs, zfs */
        CHECK(lard_filesystem_network_name(local[i]) == NULL, "%lx", local[i]);
    }
#endif
}

#ifdef __linux__
static void open_on_fuse(void *unused) {
    char command[600];
    (void)unused;
    CHILD_CHECK(mounts_of_its_own(NULL));
    snprintf(command, sizeof command, "bindfs '%s/below' '%s/fuse' >/dev/null 2>&1", test_directory,
             test_directory);
    CHILD_CHECK(system(command) == 0);
    larder_status status = try_open(in_directory("fuse/t.larder"));
    bool named = strstr(failure.detail, "fuse/t.larder") && strstr(failure.detail, "(fuse)");
    bool made = is_there(in_directory("below/t.larder"));
    CHILD_CHECK(umount2(in_directory("fuse"), MNT_DETACH) == 0);
    CHILD_CHECK(status == LARDER_NETWORK_FS && named && !made);
    CHILD_CHECK(usable(in_directory("below/t.larder")));
}
#endif

static void a_file_system_of_fuse_is_refused(void) {
#ifdef __linux__
    if (geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0 && system("command -v bindfs >/dev/null") == 0) {
        CHECK(mkdir(in_directory("below"), 0700) == 0 && mkdir(in_directory("fuse"), 0700) == 0);
        CHECK(in_child(open_on_fuse, NULL));
        return;
    }
#endif
    printf("  skipped, needs root, /dev/fuse and bindfs: a file system of FUSE\n");
}

static const test_case tests[] = {
    TEST(a_limit_is_not_a_full_disk, "a limit on the size of files is not reported as a full disk"),
    TEST(foreign_files_are_not_touched, "a file that is not Larder's is never touched"),
    TEST(what_is_no_file_is_refused, "links, directories, pipes and sockets are refused and left alone"),
    TEST(files_of_unsafe_mode_are_refused, "a file or lock that others may write to is refused"),
    TEST(files_of_others_are_refused, "a file or lock of another owner is refused"),
    TEST(root_works_for_the_owner_of_the_directory,
         "root gives what it makes to the directory's owner, and uses it"),
    TEST(a_directory_may_be_read_only, "a read-only directory is an error that says so"),
    TEST(missing_directories_are_made, "missing directories are made, the last one private"),
    TEST(the_umask_does_not_matter, "what is made is its user's and nobody else's, whatever the umask"),
    TEST(paths_may_be_too_long, "a path may be too long"),
    TEST(a_path_that_none_can_have_is_told_by_attaching, "a path that no file can have is told by attaching"),
    TEST(the_lock_file_is_looked_at_too, "the lock file may be foreign, a link, a directory or unfinished"),
    TEST(another_cache_under_this_name, "another cache that is linked to this path is left to its users"),
    TEST(file_systems_of_others_are_known,
         "file systems of networks, of FUSE and of virtual machines' hosts are known"),
    TEST(a_file_system_of_fuse_is_refused, "a path on FUSE is refused by name, and no file is made there"),
    TEST(the_disk_may_be_full, "a full disk is an error at creation and leaves no file"),
};
RUN("files", tests)
