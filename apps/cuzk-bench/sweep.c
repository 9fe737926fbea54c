#include "sweep.h"

#include "base/file.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 120000, ARGS_MAX = 64, PATH_ROOM = 512 };

/* A daemon that runs in a folder of its own. */
typedef struct child {
    char folder[CUZK_TEMPORARY_MAX];
    char address[PATH_ROOM + 32];
    int notify; /* socket on which it says that it is ready; -1: none */
    pid_t pid;  /* 0: not started */
} child;

/* ---- starting ---- */

static cuzk_code make_folder(child *c, cuzk_err *err)
{
    CUZK_TRY(cuzk_temporary_folder(c->folder, "cuzk-bench", err));
    snprintf(c->address, sizeof c->address, "unix://%s/socket", c->folder);
    return CUZK_OK;
}

/* The socket of systemd's protocol for services: the daemon sends READY=1 to it. */
static cuzk_code open_notify(child *c, cuzk_err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%s/notify", c->folder);
    c->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (n < 0 || (size_t)n >= sizeof a.sun_path || c->notify < 0 ||
        bind(c->notify, (const struct sockaddr *)&a, sizeof a) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "no socket in %s: %s", c->folder, strerror(errno));
    }
    return CUZK_OK;
}

/* Owns its strings. */
typedef struct arguments {
    char *v[ARGS_MAX + 1];
    unsigned n;
    bool failed;
} arguments;

__attribute__((format(printf, 2, 3))) static void add(arguments *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (a->n == ARGS_MAX || vasprintf(&a->v[a->n], fmt, args) < 0) {
        a->failed = true;
    } else {
        a->v[++a->n] = NULL;
    }
    va_end(args);
}

static void add_program(arguments *a, const char *path)
{
    char self[PATH_ROOM];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (path || n <= 0) {
        add(a, "%s", path ? path : "cuzk-daemon");
        return;
    }
    self[n] = '\0';
    *strrchr(self, '/') = '\0'; /* an absolute name */
    add(a, "%s/cuzk-daemon", self);
}

static void make_arguments(arguments *a, const child *c, const bench_daemon_args *d)
{
    add_program(a, d->program);
    if (d->config) {
        add(a, "--config");
        add(a, "%s", d->config);
    }
    add(a, "--set");
    add(a, "daemon.listen=%s", c->address);
    add(a, "--set");
    add(a, "daemon.status_listen=");
    add(a, "--set");
    add(a, "store.path=%s/store", c->folder);
    for (unsigned i = 0; i < d->n_settings; i++) {
        add(a, "--set");
        add(a, "%s", d->settings[i]);
    }
}

/* This program's environment with NOTIFY_SOCKET. The caller frees the list alone. */
static char **environment(char *notify)
{
    size_t n = 0;
    while (environ[n]) {
        n++;
    }
    char **list = calloc(n + 2, sizeof *list);
    for (size_t i = 0, k = 1; list && i < n; i++) {
        if (strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0) {
            list[k++] = environ[i];
        }
    }
    if (list) {
        list[0] = notify;
    }
    return list;
}

static cuzk_code spawn_child(child *c, const arguments *a, cuzk_err *err)
{
    char notify[PATH_ROOM + 32], log[PATH_ROOM + 32];
    posix_spawn_file_actions_t actions;
    snprintf(notify, sizeof notify, "NOTIFY_SOCKET=%s/notify", c->folder);
    snprintf(log, sizeof log, "%s/log", c->folder);
    char **env = environment(notify);
    if (!env || a->failed) {
        free(env);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the daemon's arguments");
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int rc = posix_spawnp(&c->pid, a->v[0], &actions, NULL, a->v, env);
    posix_spawn_file_actions_destroy(&actions);
    free(env);
    if (rc != 0) {
        c->pid = 0;
        return CUZK_FAIL(err, CUZK_E_IO, "%s cannot be started: %s", a->v[0], strerror(rc));
    }
    return CUZK_OK;
}

/* The last line of the daemon's log, which says why it ended. */
static void last_line(char ret[256], const child *c)
{
    char name[PATH_ROOM + 32], line[256];
    snprintf(name, sizeof name, "%s/log", c->folder);
    snprintf(ret, 256, "it said nothing");
    FILE *in = fopen(name, "re");
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(ret, 256, "%s", line);
    }
    if (in) {
        fclose(in);
    }
}

static cuzk_code wait_ready(child *c, cuzk_err *err)
{
    char message[1024], why[256];
    uint64_t end = cuzk_clock_ns() + (uint64_t)START_MS * 1000000;
    while (cuzk_clock_ns() < end) {
        struct pollfd p = {.fd = c->notify, .events = POLLIN};
        if (poll(&p, 1, 200) > 0) {
            ssize_t n = recv(c->notify, message, sizeof message - 1, MSG_DONTWAIT);
            message[n > 0 ? n : 0] = '\0';
            if (strstr(message, "READY=1")) {
                return CUZK_OK;
            }
        }
        if (waitpid(c->pid, NULL, WNOHANG) == c->pid) {
            c->pid = 0;
            last_line(why, c);
            return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the daemon ended at its start: %s", why);
        }
    }
    return CUZK_FAIL(err, CUZK_E_TIMEOUT, "the daemon was not ready after %d s", START_MS / 1000);
}

static cuzk_code start(child *c, const bench_daemon_args *d, cuzk_err *err)
{
    arguments a = {0};
    CUZK_TRY(make_folder(c, err));
    CUZK_TRY(open_notify(c, err));
    make_arguments(&a, c, d);
    cuzk_code code = spawn_child(c, &a, err);
    for (unsigned i = 0; i < a.n; i++) {
        free(a.v[i]);
    }
    return code == CUZK_OK ? wait_ready(c, err) : code;
}

/* ---- ending ---- */

static void end(child *c)
{
    if (c->pid) {
        kill(c->pid, SIGTERM);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (c->notify >= 0) {
        close(c->notify);
    }
    if (c->folder[0]) {
        cuzk_remove_folder(c->folder);
    }
}

static cuzk_code measure(bench_run *ret, const child *c, const bench_proof *proof,
                         const bench_run_args *args, cuzk_err *err)
{
    const bench_target target = {.address = c->address};
    const bench_run_args once = {.count = 1, .concurrency = 1, .quiet = true};
    bench_run warm;
    CUZK_TRY(bench_run_batch(&warm, &target, proof, &once, err));
    unsigned failed = warm.failed;
    bench_run_clear(&warm);
    if (failed) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "the proof to warm up failed");
    }
    return bench_run_batch(ret, &target, proof, args, err);
}

cuzk_code bench_run_daemon(bench_run *ret, const bench_daemon_args *daemon,
                           const bench_proof *proof, const bench_run_args *args, cuzk_err *err)
{
    child c = {.notify = -1};
    cuzk_code code = start(&c, daemon, err);
    if (code == CUZK_OK) {
        code = measure(ret, &c, proof, args, err);
    }
    end(&c);
    return code;
}
