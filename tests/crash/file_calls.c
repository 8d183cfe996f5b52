/* The calls of a process that change the files of one folder: recorded, and one of them not done.
 *
 * Preloaded into a process with LD_PRELOAD. Nothing happens until the process calls `file_calls_begin`. Calls are
 * done and recorded one at a time, so the record has the order in which the files changed. Another library of
 * the process calls the same names, so writes of DuckDB, Arrow and SQLite are recorded as well.
 *
 * A record: call (1 byte), inode, number, length of both texts and of the data (8 bytes each), then these.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { CREATE = 1, WRITE, TRUNCATE, RENAME, EXCHANGE, LINK, UNLINK, MKDIR, RMDIR, SYNC };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static int record = -1, not_done_error;
static long calls, not_done_at;

/* Observe the calls in a folder, and record them into an open file, unless it is -1. The call with the number `at`
 * is not done: it returns the error, or the process is killed if that is 0. */
void file_calls_begin(const char *in, int into, long at, int error) {
    strncpy(folder, in, sizeof folder - 1);
    folder_length = strlen(folder);
    record = into;
    calls = 0;
    not_done_at = at;
    not_done_error = error;
}

static int inside(const char *path) {
    return folder_length && !strncmp(path, folder, folder_length)
        && (path[folder_length] == '/' || !path[folder_length]);
}

/* The absolute path of a name, or whether there is none in the folder. Names with `..` are not resolved. */
static int path_at(int at, const char *name, char *path) {
    char link[64];
    if (!folder_length) return 0;
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
    } else {
        ssize_t length;
        if (at == AT_FDCWD) {
            if (!getcwd(path, PATH_MAX)) return 0;
            length = (ssize_t)strlen(path);
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            length = readlink(link, path, PATH_MAX - 1);
            if (length < 0) return 0;
        }
        snprintf(path + length, (size_t)(PATH_MAX - length), "/%s", name);
    }
    return inside(path);
}

static int file_inside(int file) {
    char link[64], path[PATH_MAX];
    if (!folder_length) return 0;
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length < 0) return 0;
    path[length] = 0;
    return inside(path);
}

/* Count the next call; is it the one that fails? */
static int fails(void) {
    if (++calls != not_done_at) return 0;
    if (!not_done_error) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = not_done_error;
    return 1;
}

static void put(const void *bytes, size_t length) {
    const char *next = bytes;
    while (length) {
        long written = syscall(SYS_write, record, next, length);
        if (written <= 0) abort();
        next += written;
        length -= (size_t)written;
    }
}

static void add(enum call what, uint64_t inode, int64_t number, const char *one, const char *other,
                const void *data, size_t length) {
    if (record < 0) return;
    int saved = errno;
    unsigned char kind = (unsigned char)what;
    uint64_t numbers[5] = {inode, (uint64_t)number, strlen(one), strlen(other), length};
    put(&kind, 1);
    put(numbers, sizeof numbers);
    put(one, strlen(one));
    put(other, strlen(other));
    put(data, length);
    errno = saved;
}

static uint64_t inode_of(int file) {
    struct stat about;
    return fstat(file, &about) ? 0 : about.st_ino;
}

static uint64_t inode_at(const char *path) {
    struct stat about;
    return lstat(path, &about) ? 0 : about.st_ino;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOCKED pthread_mutex_lock(&one_at_a_time)
#define UNLOCKED pthread_mutex_unlock(&one_at_a_time)

/* Do a call that is inside the folder, and record it if it was successful. */
#define DONE(type, call, recorded)         \
    ({                                     \
        LOCKED;                            \
        type result_ = -1;                 \
        if (!fails()) {                    \
            result_ = (call);              \
            if (result_ >= 0) recorded;    \
        }                                  \
        UNLOCKED;                          \
        result_;                           \
    })

static int opened(int (*next)(int, const char *, int, ...), int at, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE || !path_at(at, name, path))
        return next(at, name, flags, mode);
    struct stat about;
    int saved = errno, existed = !stat(path, &about);
    errno = saved;
    if (existed && (flags & O_EXCL || !(flags & O_TRUNC))) return next(at, name, flags, mode);
    return DONE(int, next(at, name, flags, mode),
                add(existed ? TRUNCATE : CREATE, inode_of(result_), 0, path, "", "", 0));
}

#define MODE                            \
    mode_t mode = 0;                    \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list rest;                   \
        va_start(rest, flags);          \
        mode = va_arg(rest, mode_t);    \
        va_end(rest);                   \
    }

int open(const char *name, int flags, ...) { MODE return opened(NEXT(openat), AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return opened(NEXT(openat64), AT_FDCWD, name, flags, mode); }
int openat(int at, const char *name, int flags, ...) { MODE return opened(NEXT(openat), at, name, flags, mode); }
int openat64(int at, const char *name, int flags, ...) { MODE return opened(NEXT(openat64), at, name, flags, mode); }
int creat(const char *name, mode_t mode) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return open(name, O_WRONLY | O_CREAT | O_TRUNC, mode); }

static void wrote(int file, off_t at, const void *data, size_t length) {
    add(WRITE, inode_of(file), at, "", "", data, length);
}

static off_t behind(int file, ssize_t length) { return lseek(file, 0, SEEK_CUR) - length; }

ssize_t write(int file, const void *data, size_t length) {
    if (!file_inside(file)) return NEXT(write)(file, data, length);
    return DONE(ssize_t, NEXT(write)(file, data, length),
                wrote(file, behind(file, result_), data, (size_t)result_));
}

#define PWRITE(name)                                                                        \
    ssize_t name(int file, const void *data, size_t length, off_t at) {                      \
        if (!file_inside(file)) return NEXT(name)(file, data, length, at);                   \
        return DONE(ssize_t, NEXT(name)(file, data, length, at), wrote(file, at, data, (size_t)result_)); \
    }

PWRITE(pwrite)
PWRITE(pwrite64)

/* Several pieces at once become several calls, as the system may write any number of bytes. */
ssize_t writev(int file, const struct iovec *pieces, int number) {
    if (!file_inside(file)) return NEXT(writev)(file, pieces, number);
    ssize_t all = 0;
    for (int i = 0; i < number; i++) {
        ssize_t done = write(file, pieces[i].iov_base, pieces[i].iov_len);
        if (done < 0) return all ? all : -1;
        all += done;
        if ((size_t)done < pieces[i].iov_len) break;
    }
    return all;
}

/* Copies between files within the system: callers fall back to reading and writing. */
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *place, size_t length, unsigned flags) {
    if (!file_inside(to)) return NEXT(copy_file_range)(from, at, to, place, length, flags);
    errno = EXDEV;
    return -1;
}

#define SENDFILE(name)                                                              \
    ssize_t name(int to, int from, off_t *at, size_t length) {                       \
        if (!file_inside(to)) return NEXT(name)(to, from, at, length);               \
        static char piece[1 << 16];                                                  \
        ssize_t found = at ? pread(from, piece, length < sizeof piece ? length : sizeof piece, *at) \
                           : read(from, piece, length < sizeof piece ? length : sizeof piece);      \
        if (found <= 0) return found;                                                \
        ssize_t done = write(to, piece, (size_t)found);                              \
        if (at && done > 0) *at += done;                                             \
        return done;                                                                 \
    }

SENDFILE(sendfile)
SENDFILE(sendfile64)

#define FTRUNCATE(name)                                                              \
    int name(int file, off_t length) {                                               \
        if (!file_inside(file)) return NEXT(name)(file, length);                     \
        return DONE(int, NEXT(name)(file, length), add(TRUNCATE, inode_of(file), length, "", "", "", 0)); \
    }

FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define TRUNCATE_PATH(name)                                                          \
    int name(const char *file, off_t length) {                                       \
        char path[PATH_MAX];                                                         \
        if (!path_at(AT_FDCWD, file, path)) return NEXT(name)(file, length);         \
        return DONE(int, NEXT(name)(file, length), add(TRUNCATE, inode_at(path), length, "", "", "", 0)); \
    }

TRUNCATE_PATH(truncate)
TRUNCATE_PATH(truncate64)

/* Space is not reserved, as on file systems that cannot: nothing of it can be seen in a file. */
int fallocate(int file, int mode, off_t at, off_t length) {
    if (!file_inside(file)) return NEXT(fallocate)(file, mode, at, length);
    errno = EOPNOTSUPP;
    return -1;
}

int fallocate64(int file, int mode, off64_t at, off64_t length) { return fallocate(file, mode, at, length); }

#define FSYNC(name)                                                                  \
    int name(int file) {                                                             \
        if (!file_inside(file)) return NEXT(name)(file);                             \
        return DONE(int, NEXT(name)(file), add(SYNC, inode_of(file), 0, "", "", "", 0)); \
    }

FSYNC(fsync)
FSYNC(fdatasync)

int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
    char one[PATH_MAX], other[PATH_MAX];
    int is_inside = path_at(to_at, to, other);
    if (!(path_at(at, from, one) || is_inside)) return NEXT(renameat2)(at, from, to_at, to, flags);
    return DONE(int, NEXT(renameat2)(at, from, to_at, to, flags),
                add(flags & RENAME_EXCHANGE ? EXCHANGE : RENAME, inode_at(other), 0, one, other, "", 0));
}

int renameat(int at, const char *from, int to_at, const char *to) { return renameat2(at, from, to_at, to, 0); }
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int at, const char *from, int to_at, const char *to, int flags) {
    char one[PATH_MAX], other[PATH_MAX];
    if (!path_at(to_at, to, other)) return NEXT(linkat)(at, from, to_at, to, flags);
    path_at(at, from, one);
    return DONE(int, NEXT(linkat)(at, from, to_at, to, flags), add(LINK, inode_at(other), 0, one, other, "", 0));
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int at, const char *name, int flags) {
    char path[PATH_MAX];
    if (!path_at(at, name, path)) return NEXT(unlinkat)(at, name, flags);
    enum call what = flags & AT_REMOVEDIR ? RMDIR : UNLINK;
    return DONE(int, NEXT(unlinkat)(at, name, flags), add(what, 0, 0, path, "", "", 0));
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int remove(const char *name) {
    int failed = unlink(name);
    return failed && errno == EISDIR ? rmdir(name) : failed;
}

int mkdirat(int at, const char *name, mode_t mode) {
    char path[PATH_MAX];
    if (!path_at(at, name, path)) return NEXT(mkdirat)(at, name, mode);
    return DONE(int, NEXT(mkdirat)(at, name, mode), add(MKDIR, inode_at(path), 0, path, "", "", 0));
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
