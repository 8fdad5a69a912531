/*
 * image.c — makes of a record what a disk may hold at a moment. See disk.h.
 */
#include "record.h"

image_plan disk_plan(image_kind kind, uint64_t seed) {
    return (image_plan){
        .kind = kind, .random = seed, .names = {-1, -1}, .fixed_pages = {-1, -1, -1}, .odd_page = -1};
}

/* The version that was there at a time: number + 1, 0 for zeros. */
static uint32_t version_at(int file, uint32_t page, uint32_t time) {
    uint32_t version = the_disk->files[file].latest[page];
    while (version && the_disk->versions[version - 1].time > time) {
        version = the_disk->versions[version - 1].before;
    }
    return version;
}

static uint32_t time_of(uint32_t version) { return version ? the_disk->versions[version - 1].time : 0; }

/* The oldest version that the disk may still hold. */
static uint32_t promised(int file, uint32_t page, uint32_t at) {
    uint32_t floor = 0, lost = 0;
    bool any_lost = false;
    for (uint32_t i = 0; i < the_disk->sync_count; i++) {
        const disk_sync *sync = &the_disk->syncs[i];
        if (sync->file != file || sync->end > at || page < sync->first || page > sync->last) {
            continue;
        }
        uint32_t version = version_at(file, page, sync->begin);
        if (sync->failed && version != floor) {
            lost = time_of(version);
            any_lost = true;
        } else if (!any_lost || time_of(version) > lost) {
            floor = version;
        }
    }
    return floor;
}

static uint32_t pick(uint32_t floor, uint32_t latest, uint64_t *random) {
    uint32_t count = 1;
    for (uint32_t v = latest; v && v != floor; v = the_disk->versions[v - 1].before) {
        count++;
    }
    uint32_t version = latest;
    for (uint64_t steps = next_random(random) % count; steps; steps--) {
        version = the_disk->versions[version - 1].before;
    }
    return version;
}

static const uint8_t *bytes_of(uint32_t version) {
    static const uint8_t zeros[DISK_PAGE];
    return version ? the_disk->versions[version - 1].bytes : zeros;
}

static void make_page(uint8_t *out, uint32_t floor, uint32_t latest, int page, image_plan *plan) {
    /* Stores through a map may be caught half-way by the disk; what pwrite wrote (superblocks) is not. */
    bool torn = plan->kind == IMAGE_WORDS && page >= 2 && (floor || page > 2);
    size_t grain = torn ? 8 : plan->kind == IMAGE_SECTORS || plan->kind == IMAGE_WORDS ? DISK_SECTOR : DISK_PAGE;
    int fixed = page < 3 ? plan->fixed_pages[page] : -1;
    bool odd = page == plan->odd_page;
    for (size_t at = 0; at < DISK_PAGE; at += grain) {
        uint32_t version = latest;
        if (fixed >= 0) {
            version = fixed ? latest : floor;
        } else if (plan->kind == IMAGE_PROMISED || plan->kind == IMAGE_LATEST) {
            version = (plan->kind == IMAGE_LATEST) != odd ? latest : floor;
        } else if (plan->kind == IMAGE_EITHER) {
            version = next_random(&plan->random) & 1 ? latest : floor;
        } else {
            version = pick(floor, latest, &plan->random);
        }
        memcpy(out + at, bytes_of(version) + at, grain);
    }
}

/* A choice among `count` states, the last being the latest. */
static uint32_t choose(uint32_t count, int fixed, image_plan *plan) {
    if (fixed >= 0) {
        return fixed ? count - 1 : 0;
    }
    return plan->kind == IMAGE_PROMISED ? 0
           : plan->kind == IMAGE_LATEST ? count - 1
                                        : (uint32_t)(next_random(&plan->random) % count);
}

/* Which file has the name on the disk: -1 for none. */
static int named(int name, uint32_t at, int fixed, image_plan *plan) {
    uint32_t synced = 0, first = 0, count = 0;
    int files[64];
    for (uint32_t i = 0; i < the_disk->sync_count; i++) {
        if (the_disk->syncs[i].file == -1 && the_disk->syncs[i].end <= at) {
            synced = the_disk->syncs[i].begin;
        }
    }
    for (uint32_t i = 0; i < the_disk->naming_count && the_disk->namings[i].time <= at; i++) {
        if (the_disk->namings[i].name == name) {
            first = the_disk->namings[i].time <= synced ? count : first;
            files[count++] = the_disk->namings[i].file;
        }
    }
    return count ? files[first + choose(count - first, fixed, plan)] : -1;
}

static uint64_t length_of(int file, uint32_t at, image_plan *plan) {
    const disk_file *f = &the_disk->files[file];
    uint32_t synced = 0, first = 0, count = 0;
    for (uint32_t i = 0; i < the_disk->sync_count; i++) {
        if (the_disk->syncs[i].file == file && the_disk->syncs[i].end <= at && !the_disk->syncs[i].failed) {
            synced = the_disk->syncs[i].begin;
        }
    }
    for (; count < f->length_count && f->lengths[count].time <= at; count++) {
        first = f->lengths[count].time <= synced ? count : first;
    }
    return f->lengths[first + choose(count - first, -1, plan)].bytes;
}

static bool make_file(int file, uint32_t at, image_plan *plan, const char *path) {
    static uint8_t bytes[DISK_PAGES * DISK_PAGE];
    uint64_t length = length_of(file, at, plan);
    for (uint32_t page = 0; (uint64_t)page * DISK_PAGE < length; page++) {
        make_page(bytes + (size_t)page * DISK_PAGE, promised(file, page, at), version_at(file, page, at),
                  (int)page, plan);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    bool done = fd >= 0 && write(fd, bytes, length) == (ssize_t)length;
    close(fd);
    return done;
}

bool disk_make(uint32_t at, const image_plan *wanted, const char *directory) {
    image_plan plan = *wanted;
    char path[400];
    bool done = true;
    for (int name = 0; name < DISK_NAMES; name++) {
        snprintf(path, sizeof path, "%s/t.larder%s", directory, name == NAME_LOCK ? ".lock" : "");
        unlink(path);
        int file = named(name, at, plan.names[name], &plan);
        done = done && (file < 0 || make_file(file, at, &plan, path));
    }
    return done;
}

bool disk_page_has_choice(uint32_t at, int page) {
    image_plan latest = disk_plan(IMAGE_LATEST, 0);
    int file = named(NAME_CACHE, at, 1, &latest);
    return file >= 0 && promised(file, (uint32_t)page, at) != version_at(file, (uint32_t)page, at);
}
