/*
 * mounts.h — mounts that only a child of a test sees.
 */
#ifndef LARD_MOUNTS_H
#define LARD_MOUNTS_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mount.h>

#ifdef __linux__

/*
 * Gives the calling process mounts of its own. False, with errno: it may not. In a chroot "/" is no mount whose
 * propagation could be changed; that of `place`, a mount that the caller will mount below, is changed there. NULL:
 * what the caller mounts may be seen by the parent.
 */
static inline bool mounts_of_its_own(const char *place) {
    if (unshare(CLONE_NEWNS) != 0) {
        return false;
    }
    return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 ||
           (errno == EINVAL && (place == NULL || mount("none", place, "none", MS_REC | MS_PRIVATE, NULL) == 0));
}

#endif
#endif
