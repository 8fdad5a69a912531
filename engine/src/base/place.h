/*
 * place.h — decides which files are trusted, and sets owner and mode of new ones.
 */
#ifndef LARD_PLACE_H
#define LARD_PLACE_H

#include "larder.h"

struct stat;

/* Bytes of a path with its final zero, as the kernel allows. musl has PATH_MAX only for files that ask for more
 * than C11, and a header cannot know that. */
#define LARD_PATH_MAX 4096
#define LARD_LOCK_PATH_MAX (LARD_PATH_MAX + 8) /* bytes of a path with ".lock" and its final zero */

/* Refuses files of other users, files that others may write to, what is not a regular file, and file systems that
 * are not local. Fills *info. SYSTEM and ESTALE: the descriptor is not that of the file at the path. */
larder_status lard_place_trusted(int fd, const char *path, struct stat *info, larder_error *error);
/* Sets the mode of a new file, whatever the umask. A file that root created gets the owner of its directory. 0, or
 * errno. */
int lard_place_give(int fd, const char *path, unsigned mode);
/* Creates the missing directories of a path. Nobody but the owner may write to them or enter the last one. */
larder_status lard_place_make(const char *path, larder_error *error);
void lard_place_directory(const char *path, char *directory); /* `directory` has LARD_LOCK_PATH_MAX bytes */

#endif
