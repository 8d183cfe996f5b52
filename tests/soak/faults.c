/* Faults of disks and clocks for tests: preloaded into a process with LD_PRELOAD.
 *
 * FAULT_FOLDER   only files in this folder are affected
 * FAULT_EIO_AT   this operation on them fails with EIO; the first one is 1
 * FAULT_EIO_FOR  so many operations fail; default: this and all later ones
 * FAULT_SHORT    reads and writes transfer at most this many bytes
 * FAULT_CLOCK    seconds that are added to the time of day
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long operations;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int path_matches(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int file_matches(int file) {
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length < 0) return 0;
    path[length] = 0;
    return path_matches(path);
}

/* Is this operation one of those that fail? */
static int fails(void) {
    long first = number("FAULT_EIO_AT"), count = number("FAULT_EIO_FOR");
    if (first == 0) return 0;
    long at = atomic_fetch_add(&operations, 1) + 1;
    if (at < first || (count > 0 && at >= first + count)) return 0;
    errno = EIO;
    return 1;
}

static size_t shorter(size_t length) {
    long most = number("FAULT_SHORT");
    return most > 0 && length > (size_t)most ? (size_t)most : length;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define TRANSFER(name, buffer, parameters, ...)                             \
    ssize_t name(int file, buffer data, size_t length parameters) {         \
        if (file_matches(file)) {                                           \
            if (fails()) return -1;                                         \
            length = shorter(length);                                       \
        }                                                                   \
        return NEXT(name)(file, data, length __VA_ARGS__);                  \
    }

#define AT , off_t offset
TRANSFER(read, void *, , )
TRANSFER(write, const void *, , )
TRANSFER(pread, void *, AT, , offset)
TRANSFER(pwrite, const void *, AT, , offset)
TRANSFER(pread64, void *, AT, , offset)
TRANSFER(pwrite64, const void *, AT, , offset)

#define SYNC(name) \
    int name(int file) { return file_matches(file) && fails() ? -1 : NEXT(name)(file); }

SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    return path_matches(to) && fails() ? -1 : NEXT(rename)(from, to);
}

int unlink(const char *path) { return path_matches(path) && fails() ? -1 : NEXT(unlink)(path); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = NEXT(clock_gettime)(clock, time);
    int of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    if (result == 0 && of_day) time->tv_sec += number("FAULT_CLOCK");
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int result = NEXT(gettimeofday)(now, zone);
    if (result == 0) now->tv_sec += number("FAULT_CLOCK");
    return result;
}

time_t time(time_t *now) {
    struct timespec read;
    clock_gettime(CLOCK_REALTIME, &read);
    if (now) *now = read.tv_sec;
    return read.tv_sec;
}
