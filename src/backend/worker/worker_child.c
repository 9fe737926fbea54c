#include "backend/worker/worker_child.h"

#include "backend/worker/worker.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void close_pair(int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

/* A process group of its own, no signal blocked or ignored. */
static int set_attributes(posix_spawnattr_t *a)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF);
    failed = failed ? failed : posix_spawnattr_setpgroup(a, 0);
    failed = failed ? failed : posix_spawnattr_setsigmask(a, &none);
    return failed ? failed : posix_spawnattr_setsigdefault(a, &all);
}

static int set_actions(posix_spawn_file_actions_t *a, int socket, int errors)
{
    int failed = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(a, errors, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(a, errors, 2);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(a, socket, CUZK_WORKER_FD);
    return failed ? failed : posix_spawn_file_actions_addclosefrom_np(a, CUZK_WORKER_FD + 1);
}

static int spawn(pid_t *ret, char *const *argv, int socket, int errors)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int failed = posix_spawnattr_init(&attributes);
    if (failed) {
        return failed;
    }
    failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = set_attributes(&attributes);
        failed = failed ? failed : set_actions(&actions, socket, errors);
        failed = failed ? failed : posix_spawn(ret, argv[0], &actions, &attributes, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Above the numbers that the child's own descriptors get, so that none is overwritten. */
static int move_up(int fd)
{
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, CUZK_WORKER_FD + 1);
    close(fd);
    return moved;
}

cuzk_code cuzk_child_start(cuzk_child *c, char *const *argv, cuzk_err *err)
{
    int sockets[2], errors[2];
    *c = (cuzk_child){.socket = -1, .errors = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "no socket pair for a worker: %s",
                         strerror(errno));
    }
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close_pair(sockets);
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "no pipe for a worker: %s", strerror(errno));
    }
    sockets[1] = move_up(sockets[1]);
    errors[1] = move_up(errors[1]);
    int failed = sockets[1] < 0 || errors[1] < 0 ? EMFILE : 0;
    failed = failed ? failed : spawn(&c->pid, argv, sockets[1], errors[1]);
    close(sockets[1]);
    close(errors[1]);
    if (failed) {
        c->pid = 0;
        close(sockets[0]);
        close(errors[0]);
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "cannot start %s: %s", argv[0], strerror(failed));
    }
    c->socket = sockets[0];
    c->errors = errors[0];
    fcntl(c->socket, F_SETFL, O_NONBLOCK);
    fcntl(c->errors, F_SETFL, O_NONBLOCK);
    return CUZK_OK;
}

static void keep_line(cuzk_child *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (c->n_line + 1 < sizeof c->line) {
                c->line[c->n_line++] = bytes[i];
            }
        } else if (c->n_line > 0) {
            memcpy(c->last, c->line, c->n_line);
            c->last[c->n_line] = 0;
            c->n_line = 0;
        }
    }
}

void cuzk_child_hear_errors(cuzk_child *c)
{
    char bytes[4096];
    ssize_t n;
    while (c->errors >= 0 && (n = read(c->errors, bytes, sizeof bytes)) >= 0) {
        if (n == 0) {
            close(c->errors);
            c->errors = -1;
            return;
        }
        keep_line(c, bytes, (size_t)n);
        if (write(STDERR_FILENO, bytes, (size_t)n) < 0) {
            continue; /* nobody reads; the last line is kept all the same */
        }
    }
}

bool cuzk_child_hear(cuzk_child *c, cuzk_wire_reply *ret, bool *ret_empty, char why[200])
{
    ssize_t n = recv(c->socket, ret, sizeof *ret, MSG_TRUNC);
    *ret_empty = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (*ret_empty) {
        return true;
    }
    if (n <= 0) {
        snprintf(why, 200, "%s", "it closed its end");
        return false;
    }
    if (n != (ssize_t)sizeof *ret || ret->magic != CUZK_WIRE_MAGIC ||
        ret->version != CUZK_WIRE_VERSION || ret->kind >= CUZK_WIRE_KINDS || ret->code < 0 ||
        ret->code > CUZK_E_INTERNAL || !memchr(ret->msg, 0, sizeof ret->msg)) {
        snprintf(why, 200, "it sent %zd bytes that are no message of this version", n);
        return false;
    }
    return true;
}

void cuzk_child_end(cuzk_child *c, char how[200])
{
    int status = 0;
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL); /* should it have left its group */
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    cuzk_child_hear_errors(c);
    keep_line(c, "\n", 1);
    const char *sep = c->last[0] ? ": " : "";
    if (WIFSIGNALED(status)) {
        snprintf(how, 200, "signal %d (%s)%s%.120s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 sep, c->last);
    } else {
        snprintf(how, 200, "exit status %d%s%.140s", WEXITSTATUS(status), sep, c->last);
    }
    if (c->socket >= 0) {
        close(c->socket);
    }
    if (c->errors >= 0) {
        close(c->errors);
    }
    *c = (cuzk_child){.socket = -1, .errors = -1};
}

void cuzk_child_await(cuzk_child *c, uint64_t ms)
{
    uint64_t end = cuzk_clock_ns() + ms * 1000000;
    while (c->pid > 0) {
        uint64_t now = cuzk_clock_ns();
        /* Hanging up is reported whatever is asked for; its error lines must not block it. */
        struct pollfd fds[] = {{c->socket, 0, 0}, {c->errors, POLLIN, 0}};
        if (now >= end || poll(fds, 2, (int)((end - now) / 1000000) + 1) == 0 ||
            (fds[0].revents & (POLLHUP | POLLERR))) {
            return;
        }
        cuzk_child_hear_errors(c);
    }
}
