#include "base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A whole decimal number above 0. */
static cuzk_code number(const char *name, const char *text, uint64_t *ret, cuzk_err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || v == 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a number, found \"%.60s\"", name, text);
    }
    *ret = v;
    return CUZK_OK;
}

/* The interval that this process is to keep: WATCHDOG_PID, where it is set, names who is meant. */
static cuzk_code watchdog(uint64_t *ret, cuzk_err *err)
{
    const char *us = getenv("WATCHDOG_USEC"), *for_pid = getenv("WATCHDOG_PID");
    uint64_t pid = (uint64_t)getpid();
    *ret = 0;
    if (for_pid) {
        CUZK_TRY(number("WATCHDOG_PID", for_pid, &pid, err));
    }
    return us && pid == (uint64_t)getpid() ? number("WATCHDOG_USEC", us, ret, err) : CUZK_OK;
}

cuzk_code cuzk_notifier_open(cuzk_notifier *ret, cuzk_err *err)
{
    cuzk_notifier n = {.fd = -1, .to = {.sun_family = AF_UNIX}};
    const char *path = getenv("NOTIFY_SOCKET");
    CUZK_TRY(watchdog(&n.watchdog_us, err));
    if (!path || !path[0]) {
        n.watchdog_us = 0;
        *ret = n;
        return CUZK_OK;
    }
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length < 2 || length >= sizeof n.to.sun_path) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "NOTIFY_SOCKET: expected /PATH or @NAME of at most %zu bytes, found "
                         "\"%.120s\"",
                         sizeof n.to.sun_path - 1, path);
    }
    memcpy(n.to.sun_path, path, length);
    n.to_bytes = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/'));
    if (path[0] == '@') { /* a name without a file: its first byte is NUL, and no NUL ends it */
        n.to.sun_path[0] = '\0';
    }
    n.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (n.fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "NOTIFY_SOCKET: no socket: %s", strerror(errno));
    }
    *ret = n;
    return CUZK_OK;
}

void cuzk_notifier_close(cuzk_notifier *n)
{
    if (n->fd >= 0) {
        close(n->fd);
    }
    n->fd = -1;
}

cuzk_code cuzk_notify(const cuzk_notifier *n, const char *lines, cuzk_err *err)
{
    if (n->fd < 0) {
        return CUZK_OK;
    }
    ssize_t sent;
    do {
        sent = sendto(n->fd, lines, strlen(lines), MSG_NOSIGNAL, (const struct sockaddr *)&n->to,
                      n->to_bytes);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "NOTIFY_SOCKET: cannot send: %s", strerror(errno));
    }
    return CUZK_OK;
}
