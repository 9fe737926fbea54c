#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

enum { WRITE_BUFFER = 1 << 20 };

struct cuzk_file_writer {
    int fd;
    char *name;      /* owned: the final name */
    char *temporary; /* owned: the name until commit */
    uint64_t flushed;
    size_t fill; /* bytes waiting in buffer */
    uint8_t buffer[WRITE_BUFFER];
};

cuzk_code cuzk_file_map_open(cuzk_file_map *ret, const char *name, cuzk_err *err)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", name, strerror(errno));
    }
    struct stat st;
    cuzk_code code = CUZK_OK;
    void *p = NULL;
    if (fstat(fd, &st) != 0) {
        code = CUZK_FAIL(err, CUZK_E_IO, "%s: cannot stat: %s", name, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        code = CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a regular file", name);
    } else if (st.st_size > 0) {
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) {
            code = CUZK_FAIL(err, CUZK_E_IO, "%s: cannot map: %s", name, strerror(errno));
        }
    }
    close(fd);
    if (code == CUZK_OK) {
        *ret = (cuzk_file_map){{p, (size_t)st.st_size}, name};
    }
    return code;
}

void cuzk_file_map_drop(const cuzk_file_map *map, size_t begin, size_t end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    if (begin < end && end <= map->bytes.n) {
        madvise((void *)(uintptr_t)(map->bytes.p + begin), end - begin, MADV_DONTNEED);
    }
}

void cuzk_file_map_close(cuzk_file_map *map)
{
    if (map->bytes.p) {
        munmap((void *)(uintptr_t)map->bytes.p, map->bytes.n);
    }
    *map = (cuzk_file_map){0};
}

static cuzk_code write_at(const cuzk_file_writer *w, const uint8_t *p, size_t n, uint64_t offset,
                          cuzk_err *err)
{
    while (n > 0) {
        ssize_t k = pwrite(w->fd, p, n, (off_t)offset);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "%s: offset %llu: cannot write: %s", w->temporary,
                             (unsigned long long)offset, strerror(errno));
        }
        p += k;
        n -= (size_t)k;
        offset += (uint64_t)k;
    }
    return CUZK_OK;
}

static cuzk_code flush(cuzk_file_writer *w, cuzk_err *err)
{
    CUZK_TRY(write_at(w, w->buffer, w->fill, w->flushed, err));
    w->flushed += w->fill;
    w->fill = 0;
    return CUZK_OK;
}

static void writer_free(cuzk_file_writer *w)
{
    if (w->fd >= 0) {
        close(w->fd);
    }
    free(w->temporary);
    free(w->name);
    free(w);
}

/* mkstemp, but with the mode that the process's umask leaves: to ask for the umask is to set it,
 * which no program with threads may do. The name ends in XXXXXX. Returns the descriptor, or -1. */
static int create_temporary(char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    char *suffix = name + strlen(name) - 6;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        uint8_t random[6];
        if (cuzk_random_bytes(random, sizeof random, NULL) != CUZK_OK) {
            return -1;
        }
        for (size_t i = 0; i < sizeof random; i++) {
            suffix[i] = letters[random[i] % 32];
        }
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

cuzk_code cuzk_file_writer_open(cuzk_file_writer **ret, const char *name, cuzk_err *err)
{
    cuzk_file_writer *w = calloc(1, sizeof *w);
    if (!w) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a write buffer", name);
    }
    w->fd = -1;
    w->name = strdup(name);
    if (!w->name || asprintf(&w->temporary, "%s.XXXXXX", name) < 0) {
        w->temporary = NULL;
        writer_free(w);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a file name", name);
    }
    w->fd = create_temporary(w->temporary);
    if (w->fd < 0) {
        cuzk_code code = CUZK_FAIL(err, CUZK_E_IO, "%s: cannot create: %s", name, strerror(errno));
        writer_free(w);
        return code;
    }
    *ret = w;
    return CUZK_OK;
}

cuzk_code cuzk_file_writer_put(cuzk_file_writer *w, const void *bytes, size_t n, cuzk_err *err)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        size_t k = WRITE_BUFFER - w->fill;
        k = k < n ? k : n;
        memcpy(w->buffer + w->fill, p, k);
        w->fill += k;
        p += k;
        n -= k;
        if (w->fill == WRITE_BUFFER) {
            CUZK_TRY(flush(w, err));
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_file_writer_patch(cuzk_file_writer *w, uint64_t offset, const void *bytes, size_t n,
                                 cuzk_err *err)
{
    CUZK_TRY(flush(w, err));
    if (offset > w->flushed || n > w->flushed - offset) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: offset %llu is past what was written", w->name,
                         (unsigned long long)offset);
    }
    return write_at(w, bytes, n, offset, err);
}

uint64_t cuzk_file_writer_offset(const cuzk_file_writer *w) { return w->flushed + w->fill; }

/* A rename is durable only once the folder that holds the name is on disk too. */
static void sync_folder(const char *name)
{
    char *folder = strdup(name);
    if (!folder) {
        return;
    }
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[slash == folder] = '\0';
    }
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

cuzk_code cuzk_file_writer_commit(cuzk_file_writer *w, cuzk_err *err)
{
    cuzk_code code = flush(w, err);
    if (code == CUZK_OK && (fsync(w->fd) != 0 || rename(w->temporary, w->name) != 0)) {
        code = CUZK_FAIL(err, CUZK_E_IO, "%s: cannot finish writing: %s", w->name, strerror(errno));
    }
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    sync_folder(w->name);
    writer_free(w);
    return CUZK_OK;
}

void cuzk_file_writer_abort(cuzk_file_writer *w)
{
    if (w) {
        unlink(w->temporary);
        writer_free(w);
    }
}

cuzk_code cuzk_file_write(const char *name, const void *bytes, size_t n, cuzk_err *err)
{
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = cuzk_file_writer_put(w, bytes, n, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}

cuzk_code cuzk_make_folder(const char *name, cuzk_err *err)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s", name);
    if (n <= 0 || n >= (int)sizeof path) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the name of a folder is empty or too long");
    }
    for (char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) {
            *slash = 0;
        }
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot make the folder: %s", path,
                             strerror(errno));
        }
        if (slash) {
            *slash = '/';
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_temporary_folder(char ret[CUZK_TEMPORARY_MAX], const char *prefix, cuzk_err *err)
{
    char name[CUZK_TEMPORARY_MAX];
    const char *place = getenv("TMPDIR");
    place = place && *place ? place : P_tmpdir;
    int n = snprintf(name, sizeof name, "%s/%s-XXXXXX", place, prefix);
    if (n < 0 || n >= (int)sizeof name) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: the name of a temporary folder in it is too long",
                         place);
    }
    if (!mkdtemp(name)) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: no temporary folder in it: %s", place,
                         strerror(errno));
    }
    memcpy(ret, name, (size_t)n + 1);
    return CUZK_OK;
}

static int remove_entry(const char *name, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(name);
}

void cuzk_remove_folder(const char *name) { nftw(name, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }
