#include "base/file.h"
#include "base/sha256.h"
#include "store/store_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Payload files: payload/<64 hexadecimal digits>, and payload/<those>.<number>.tmp while written.
 * Only the thread that commits removes payloads, and an insertion looks for its file within its
 * transaction, so a file cannot go between that look and the commit. */

enum { NAME_BYTES = 65, TEMPORARY_BYTES = 96 };

static const char temporary_suffix[] = ".tmp";

bool cuzk_store_payload_there(const cuzk_store *s, const uint8_t hash[32])
{
    char name[NAME_BYTES];
    cuzk_hex_format(name, hash, 32);
    return faccessat(s->payload_fd, name, F_OK, 0) == 0;
}

void cuzk_store_payload_remove(cuzk_store *s, const uint8_t hash[32])
{
    char name[NAME_BYTES];
    cuzk_hex_format(name, hash, 32);
    unlinkat(s->payload_fd, name, 0);
}

/* Whether the file of that name holds exactly these bytes: one that decayed is not trusted. */
static bool same_file(const cuzk_store *s, const char *name, cuzk_span payload)
{
    char path[4096 + TEMPORARY_BYTES];
    cuzk_file_map map;
    snprintf(path, sizeof path, "%s/payload/%s", s->folder, name);
    if (faccessat(s->payload_fd, name, F_OK, 0) != 0 ||
        cuzk_file_map_open(&map, path, NULL) != CUZK_OK) {
        return false;
    }
    bool same = map.bytes.n == payload.n &&
                (payload.n == 0 || memcmp(map.bytes.p, payload.p, payload.n) == 0);
    cuzk_file_map_close(&map);
    return same;
}

static bool write_all(int fd, cuzk_span bytes)
{
    while (bytes.n > 0) {
        ssize_t k = write(fd, bytes.p, bytes.n);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return false;
        }
        bytes.p += k;
        bytes.n -= (size_t)k;
    }
    return true;
}

cuzk_code cuzk_store_payload_write(cuzk_store *s, const uint8_t hash[32], cuzk_span payload,
                                   cuzk_err *err)
{
    char name[NAME_BYTES], temporary[TEMPORARY_BYTES];
    cuzk_hex_format(name, hash, 32);
    if (same_file(s, name, payload)) {
        return CUZK_OK;
    }
    uint64_t number = atomic_fetch_add_explicit(&s->temporary, 1, memory_order_relaxed);
    snprintf(temporary, sizeof temporary, "%s.%" PRIu64 "%s", name, number, temporary_suffix);
    int fd = openat(s->payload_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s/payload/%s: cannot create: %s", s->folder, temporary,
                         strerror(errno));
    }
    bool ok = write_all(fd, payload) && fsync(fd) == 0;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && renameat(s->payload_fd, temporary, s->payload_fd, name) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        unlinkat(s->payload_fd, temporary, 0);
        return CUZK_FAIL(err, CUZK_E_IO, "%s/payload/%s: cannot write: %s", s->folder, name,
                         strerror(saved));
    }
    return CUZK_OK;
}

static cuzk_code read_all(int fd, uint8_t *buf, size_t n, const char *path, cuzk_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot stat: %s", path, strerror(errno));
    }
    if ((uint64_t)st.st_size != n) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected %zu bytes, found %lld", path, n,
                         (long long)st.st_size);
    }
    for (size_t done = 0; done < n;) {
        ssize_t k = read(fd, buf + done, n - done);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "%s: offset %zu: cannot read: %s", path, done,
                             k == 0 ? "the file ends" : strerror(errno));
        }
        done += (size_t)k;
    }
    return CUZK_OK;
}

cuzk_code cuzk_store_read_payload(cuzk_store *s, uint8_t *buf, size_t n,
                                  const uint8_t payload_hash[32], cuzk_err *err)
{
    char name[NAME_BYTES], found[NAME_BYTES], path[4096 + TEMPORARY_BYTES];
    uint8_t hash[32];
    cuzk_hex_format(name, payload_hash, 32);
    snprintf(path, sizeof path, "%s/payload/%s", s->folder, name);
    int fd = openat(s->payload_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return CUZK_FAIL(err, errno == ENOENT ? CUZK_E_NOT_FOUND : CUZK_E_IO,
                         "%s: cannot open the payload: %s", path, strerror(errno));
    }
    cuzk_code code = read_all(fd, buf, n, path, err);
    close(fd);
    if (code != CUZK_OK) {
        return code;
    }
    cuzk_sha256_digest(hash, buf, n);
    if (memcmp(hash, payload_hash, 32) != 0) {
        cuzk_hex_format(found, hash, 32);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: the payload is damaged: its SHA-256 is %s", path,
                         found);
    }
    return CUZK_OK;
}

/* Whether a file's name is one that a crash may have left: temporary, or a payload of no job. */
static cuzk_code left_over(cuzk_store *s, const char *name, bool *ret, cuzk_err *err)
{
    char digits[NAME_BYTES];
    uint8_t hash[32];
    cuzk_store_cut(digits, sizeof digits, name);
    *ret = false;
    if (strlen(name) < 64 || !cuzk_hex_parse(digits, hash, 32)) {
        return CUZK_OK;
    }
    size_t n = strlen(name), suffix = sizeof temporary_suffix - 1;
    if (n > 64 + suffix && name[64] == '.' && strcmp(name + n - suffix, temporary_suffix) == 0) {
        *ret = true;
    } else if (n == 64) {
        bool used;
        CUZK_TRY(cuzk_store_payload_used(s, &used, hash, err));
        *ret = !used;
    }
    return CUZK_OK;
}

cuzk_code cuzk_store_payload_sweep(cuzk_store *s, cuzk_err *err)
{
    int fd = openat(s->payload_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) {
            close(fd);
        }
        return CUZK_FAIL(err, CUZK_E_IO, "%s/payload: cannot list: %s", s->folder, strerror(errno));
    }
    cuzk_code code = CUZK_OK;
    for (struct dirent *e; code == CUZK_OK && (e = readdir(folder));) {
        bool remove;
        code = left_over(s, e->d_name, &remove, err);
        if (code == CUZK_OK && remove) {
            unlinkat(s->payload_fd, e->d_name, 0);
        }
    }
    closedir(folder);
    return code;
}
