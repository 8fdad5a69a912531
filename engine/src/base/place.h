/*
 * place.h — which files are trusted, and who owns the files that are created.
 */
#ifndef LARD_PLACE_H
#define LARD_PLACE_H

#include "larder.h"

#include <limits.h>

struct stat;

#define LARD_LOCK_PATH_MAX (PATH_MAX + 8) /* bytes of a path with ".lock" and its end */

/* Refuses kinds of files that others could have put there, and files of other users. */
larder_status lard_place_trusted(int fd, const char *path, struct stat *info, larder_error *error);
/* Gives a new file its mode, whatever the umask, and a file that root created to the owner of its directory: 0, or
 * errno. */
int lard_place_give(int fd, const char *path, unsigned mode);
/* Creates missing directories, the last one private. */
larder_status lard_place_make(const char *path, larder_error *error);
void lard_place_directory(const char *path, char *directory); /* its directory; of LARD_LOCK_PATH_MAX bytes */

#endif
