/*
 * filesystem.c — kinds of file systems of Linux and macOS. Takes no lock.
 */
#define _GNU_SOURCE
#include "base/filesystem.h"

#include <errno.h>
#include <stddef.h>

#if defined(__linux__)
#include <sys/vfs.h>

/*
 * File systems whose files change past this kernel's page cache: those of servers, of clusters, and of the host of
 * a virtual machine (9p, vboxsf, prl_fs, vmhgfs; virtiofs has FUSE's type). FUSE is refused as a whole: its server
 * may show one file under two names, each with its own pages.
 */
const char *lard_filesystem_network_name(unsigned long type) {
    static const struct {
        unsigned long type;
        const char *name;
    } types[] = {
        {0x6969, "nfs"},        {0xff534d42, "cifs"}, {0xfe534d42, "smb2"},   {0x517b, "smb"},
        {0x00c36400, "ceph"},   {0x01021997, "9p"},   {0x5346414f, "afs"},    {0x6b414653, "kafs"},
        {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"}, {0x7461636f, "ocfs2"},  {0x01161970, "gfs2"},
        {0x73757245, "coda"},   {0x65735546, "fuse"}, {0x786f4256, "vboxsf"}, {0x7c7c6673, "prl_fs"},
        {0xbacbacbc, "vmhgfs"}, {0x564c, "ncp"},      {0x19830326, "beegfs"}, {0x20030528, "orangefs"},
        {0xaad7aaea, "panfs"},  {0xbeefdead, "snfs"}, {0x61636673, "acfs"},   {0x013111a8, "ibrix"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((type & 0xffffffffUL) == types[i].type) {
            return types[i].name;
        }
    }
    return NULL;
}

int lard_filesystem_is_network(int fd, const char **name) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    *name = lard_filesystem_network_name((unsigned long)info.f_type);
    return *name != NULL;
}

int lard_filesystem_is_stacked(int fd) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    unsigned long type = (unsigned long)info.f_type & 0xffffffffUL;
    return type == 0x794c7630 /* overlay */ || type == 0xf15f /* ecryptfs */;
}

bool lard_filesystem_is_memory(int fd) {
    struct statfs info;
    if (fstatfs(fd, &info) != 0) {
        return false;
    }
    unsigned long type = (unsigned long)info.f_type & 0xffffffffUL;
    return type == 0x01021994 /* tmpfs */ || type == 0x858458f6 /* ramfs */;
}

#else
#include <sys/mount.h>
#include <sys/param.h>

int lard_filesystem_is_network(int fd, const char **name) {
    struct statfs info;
    *name = "not local";
    if (fstatfs(fd, &info) != 0) {
        return -errno;
    }
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
}

int lard_filesystem_is_stacked(int fd) { return (void)fd, 0; }

bool lard_filesystem_is_memory(int fd) { return (void)fd, false; }

#endif
