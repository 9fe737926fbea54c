#include "rpc/listener.h"

#include "rpc/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128 };

/* ---- unix ---- */

/* Makes the folders above path that are missing. */
static cuzk_code make_parents(const char *path, cuzk_err *err)
{
    char folder[108];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0755) != 0 && errno != EEXIST) {
            return CUZK_FAIL(err, CUZK_E_IO, "cannot make folder %s for socket %s: %s", folder,
                             path, strerror(errno));
        }
        *slash = '/';
    }
    return CUZK_OK;
}

/* The lock outlives the socket's file, so of two servers that start at once only one goes on. */
static cuzk_code lock_path(cuzk_rpc_listener *l, cuzk_err *err)
{
    char lock[sizeof l->path + 8];
    snprintf(lock, sizeof lock, "%s.lock", l->path);
    l->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
    if (l->lock_fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot open lock file %s: %s", lock, strerror(errno));
    }
    if (flock(l->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK
                   ? CUZK_FAIL(err, CUZK_E_IO, "socket %s is in use: another server holds %s",
                               l->path, lock)
                   : CUZK_FAIL(err, CUZK_E_IO, "cannot lock %s: %s", lock, strerror(errno));
    }
    return CUZK_OK;
}

static cuzk_code remove_stale(const char *path, cuzk_err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? CUZK_OK
                               : CUZK_FAIL(err, CUZK_E_IO, "socket %s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode)) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s is there and is not a socket", path);
    }
    if (unlink(path) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot remove the old socket %s: %s", path,
                         strerror(errno));
    }
    return CUZK_OK;
}

static cuzk_code open_unix(cuzk_rpc_listener *l, const cuzk_rpc_address *a, cuzk_err *err)
{
    l->is_unix = true;
    snprintf(l->path, sizeof l->path, "%s", a->path);
    snprintf(l->bound, sizeof l->bound, "unix:%s", a->path);
    CUZK_TRY(make_parents(l->path, err));
    CUZK_TRY(lock_path(l, err));
    CUZK_TRY(remove_stale(l->path, err));
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    memcpy(sa.sun_path, a->path, sizeof a->path);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* The file is born with the socket's mode less the umask: never wider than 0660. */
    if (l->fd < 0 || fchmod(l->fd, 0660) != 0 ||
        bind(l->fd, (const struct sockaddr *)&sa, sizeof sa) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot bind socket %s: %s", l->path, strerror(errno));
    }
    struct stat st;
    if (lstat(l->path, &st) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "socket %s: %s", l->path, strerror(errno));
    }
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    if (chmod(l->path, 0660) != 0 || listen(l->fd, BACKLOG) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot listen on socket %s: %s", l->path,
                         strerror(errno));
    }
    return CUZK_OK;
}

/* ---- TCP ---- */

static int bind_one(const struct addrinfo *ai)
{
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0;
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (ai->ai_family == AF_INET6) { /* "[::]" serves IPv4 too */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static cuzk_code check_reach(const struct addrinfo *ai, const char *address, cuzk_err *err)
{
    if (cuzk_rpc_address_is_loopback(ai->ai_addr)) {
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_ARG,
                     "address %s can be reached from other machines, and without TLS proofs and "
                     "tokens would travel in the clear: set a certificate and a key, listen on "
                     "127.0.0.1 or on a unix socket, or set allow_insecure = true",
                     address);
}

static cuzk_code bind_tcp(cuzk_rpc_listener *l, const struct addrinfo *list, const char *address,
                          bool check, cuzk_err *err)
{
    static const int families[] = {AF_INET, AF_INET6}; /* "localhost" means 127.0.0.1 first */
    int saved = EADDRNOTAVAIL;
    for (size_t f = 0; f < 2; f++) {
        for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
            if (ai->ai_family != families[f]) {
                continue;
            }
            if (check) {
                CUZK_TRY(check_reach(ai, address, err));
            }
            l->fd = bind_one(ai);
            if (l->fd >= 0) {
                return CUZK_OK;
            }
            saved = errno;
        }
    }
    return CUZK_FAIL(err, CUZK_E_IO, "cannot listen on %s: %s", address, strerror(saved));
}

static cuzk_code open_tcp(cuzk_rpc_listener *l, const cuzk_rpc_address *a, const char *address,
                          bool check, cuzk_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list;
    int e = getaddrinfo(a->host[0] ? a->host : NULL, a->port, &hints, &list);
    if (e != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %s: %s", address, gai_strerror(e));
    }
    cuzk_code code = bind_tcp(l, list, address, check, err);
    freeaddrinfo(list);
    CUZK_TRY(code);
    struct sockaddr_storage sa = {0};
    socklen_t n = sizeof sa;
    getsockname(l->fd, (struct sockaddr *)&sa, &n);
    cuzk_rpc_address_format(l->bound, sizeof l->bound, &sa);
    return CUZK_OK;
}

cuzk_code cuzk_rpc_listener_open(cuzk_rpc_listener *ret, const char *address, bool secure,
                                 bool allow_insecure, cuzk_err *err)
{
    cuzk_rpc_address a;
    CUZK_TRY(cuzk_rpc_address_parse(&a, address, err));
    if (a.tls && !secure) {
        return CUZK_FAIL(err, CUZK_E_ARG, "address %s: https needs a certificate and a key",
                         address);
    }
    cuzk_rpc_listener l = {.fd = -1, .lock_fd = -1};
    cuzk_code code = a.is_unix ? open_unix(&l, &a, err)
                               : open_tcp(&l, &a, address, !secure && !allow_insecure, err);
    if (code != CUZK_OK) {
        cuzk_rpc_listener_close(&l);
        return code;
    }
    *ret = l;
    return CUZK_OK;
}

void cuzk_rpc_listener_close(cuzk_rpc_listener *l)
{
    struct stat st;
    if (l->is_unix && l->ino && lstat(l->path, &st) == 0 && st.st_dev == l->dev &&
        st.st_ino == l->ino) {
        unlink(l->path);
    }
    if (l->fd >= 0) {
        close(l->fd);
    }
    if (l->lock_fd >= 0) {
        close(l->lock_fd); /* last: it lets the next server in */
    }
    l->fd = l->lock_fd = -1;
    l->ino = 0;
}
