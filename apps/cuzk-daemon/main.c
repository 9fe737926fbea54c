#include "daemon.h"

#include "base/system.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "worker.h"

__attribute__((visibility("default"))) const char *argp_program_version =
    "cuzk-daemon " CUZK_VERSION;

/* ---- arguments ---- */

enum { SET_MAX = 128, KEY_LEVEL = 0x1000, KEY_SET, KEY_CHECK, KEY_PRINT, KEY_FAULT };

typedef struct options {
    daemon_args args;
    const char *set[SET_MAX];
    char *made[2]; /* assignments made of other options; owned */
    size_t n_made;
    bool check, print;
} options;

static const struct argp_option option_list[] = {
    {"config", 'c', "FILE", 0, "Configuration (default /data/zk/cuzk.toml, if it is there)", 0},
    {"listen", 'l', "ADDRESS", 0, "Instead of daemon.listen: host:port or unix:///path", 0},
    {"log-level", KEY_LEVEL, "LEVEL", 0, "Instead of logging.level", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "Sets any key of the configuration; may be repeated", 0},
    {"check-config", KEY_CHECK, NULL, 0, "Check the configuration and exit", 0},
    {"print-config", KEY_PRINT, NULL, 0, "Print the configuration as it takes effect and exit", 0},
    {"fault", KEY_FAULT, "PLAN", OPTION_HIDDEN, NULL, 0},
    {0},
};

static void add_set(options *o, const char *assignment, struct argp_state *state)
{
    if (o->args.n_set == SET_MAX) {
        argp_error(state, "more than %d settings", SET_MAX);
        return;
    }
    o->set[o->args.n_set++] = assignment;
}

static void add_made(options *o, const char *key, const char *value, struct argp_state *state)
{
    char *assignment = NULL;
    if (o->n_made == 2 || asprintf(&assignment, "%s=%s", key, value) < 0) {
        argp_error(state, "--%s was given twice", key);
        return;
    }
    o->made[o->n_made++] = assignment;
    add_set(o, assignment, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'c':
        o->args.config = arg;
        o->args.config_given = true;
        return 0;
    case 'l':
        add_made(o, "daemon.listen", arg, state);
        return 0;
    case KEY_LEVEL:
        add_made(o, "logging.level", arg, state);
        return 0;
    case KEY_SET:
        add_set(o, arg, state);
        return 0;
    case KEY_CHECK:
        o->check = true;
        return 0;
    case KEY_PRINT:
        o->print = true;
        return 0;
    case KEY_FAULT: /* for tests of what depends on it */
        o->args.fault = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc = "Serves proofs: keeps proving keys where the compute is and turns requests of "
           "cuzk.v1.ProvingEngine into Groth16 proofs.\v"
           "Signals: TERM and INT let running partitions finish, keep the rest for the next start "
           "and end with status 0; a second one ends at once. HUP reads the log level, the token "
           "and the certificates again.",
};

/* ---- running ---- */

enum { ABORTED = 130 };

/* What a loop over signals is about. */
typedef struct process {
    const options *options;
    cuzk_log *log;
    cuzkd *daemon;
    uint64_t drain_timeout_ms;
    int signals; /* a signalfd */
} process;

/* Signals are taken by the main thread alone, over a descriptor; all other threads inherit the
 * mask. */
static cuzk_code take_signals(int *ret, cuzk_err *err)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    *ret = signalfd(-1, &set, SFD_CLOEXEC);
    return *ret >= 0 ? CUZK_OK
                     : CUZK_FAIL(err, CUZK_E_IO, "no descriptor for signals: %s", strerror(errno));
}

/* The next signal; 0 after timeout_ms (negative: none). */
static int next_signal(int fd, int timeout_ms)
{
    struct signalfd_siginfo info;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, timeout_ms) <= 0 || read(fd, &info, sizeof info) != sizeof info) {
        return 0;
    }
    return (int)info.ssi_signo;
}

static void reload(const process *p)
{
    cuzk_err err;
    cuzk_config *config;
    cuzk_code code = daemon_config(&config, &p->options->args, &err);
    if (code == CUZK_OK) {
        code = daemon_reload(p->daemon, config, &err);
        cuzk_config_free(config);
    }
    if (code == CUZK_OK) {
        CUZK_LOG(p->log, CUZK_LOG_INFO, "daemon", "configuration was read again");
    } else {
        CUZK_LOG(p->log, CUZK_LOG_ERROR, "daemon", "configuration stays as it was",
                 cuzk_log_error(&err));
    }
}

/* While the main thread drains, this one ends the program at the second signal. */
static void *second_signal(void *arg)
{
    const process *p = arg;
    int signal;
    do {
        signal = next_signal(p->signals, -1);
    } while (signal != SIGTERM && signal != SIGINT);
    CUZK_LOG(p->log, CUZK_LOG_WARN, "daemon", "second signal: ending at once");
    _exit(ABORTED);
}

static cuzk_code drain(process *p, cuzk_err *err)
{
    pthread_t impatient;
    CUZK_LOG(p->log, CUZK_LOG_INFO, "daemon", "draining",
             cuzk_log_uint("timeout_ms", p->drain_timeout_ms));
    if (pthread_create(&impatient, NULL, second_signal, p) == 0) {
        pthread_detach(impatient);
    }
    return daemon_drain(p->daemon, p->drain_timeout_ms, err);
}

static cuzk_code serve(process *p, cuzk_err *err)
{
    uint64_t beat = daemon_watchdog_ms(p->daemon);
    for (;;) {
        int signal = next_signal(p->signals, beat ? (int)beat : -1);
        if (signal == SIGHUP) {
            reload(p);
        } else if (signal != 0) {
            return drain(p, err);
        }
        daemon_watchdog(p->daemon);
    }
}

static cuzk_code run_daemon(process *p, const cuzk_config *config, cuzk_err *err)
{
    p->drain_timeout_ms = config->daemon.drain_timeout_ms;
    CUZK_TRY(take_signals(&p->signals, err));
    CUZK_TRY(daemon_start(&p->daemon, config, &p->options->args, p->log, err));
    cuzk_code code = serve(p, err);
    if (code == CUZK_E_TIMEOUT) { /* what still runs starts anew with the next cuzkd */
        CUZK_LOG(p->log, CUZK_LOG_WARN, "daemon", "partitions were given up", cuzk_log_error(err));
        _exit(cuzk_code_exit_status(code));
    }
    daemon_free(p->daemon);
    CUZK_LOG(p->log, CUZK_LOG_INFO, "daemon", "stopped");
    return code;
}

static cuzk_log_format format_of(const cuzk_config *config)
{
    switch (config->logging.format) {
    case CUZK_CONFIG_LOG_JSON:
        return CUZK_LOG_JSON;
    case CUZK_CONFIG_LOG_TEXT:
        return CUZK_LOG_TEXT;
    default:
        return isatty(STDERR_FILENO) ? CUZK_LOG_TEXT : CUZK_LOG_JSON;
    }
}

static cuzk_code print_config(const cuzk_config *config, cuzk_err *err)
{
    char *text;
    CUZK_TRY(cuzk_config_format(config, &text, err));
    fputs(text, stdout);
    free(text);
    return CUZK_OK;
}

static cuzk_code run_configured(const options *o, const cuzk_config *config, cuzk_err *err)
{
    process p = {.options = o};
    if (o->print) {
        return print_config(config, err);
    }
    CUZK_TRY(cuzk_log_new(&p.log, STDERR_FILENO, format_of(config), config->logging.level, err));
    for (size_t i = 0; i < config->warnings.n; i++) {
        CUZK_LOG(p.log, CUZK_LOG_WARN, "config", config->warnings.v[i]);
    }
    cuzk_code code = o->check ? CUZK_OK : run_daemon(&p, config, err);
    cuzk_log_free(p.log);
    return code;
}

static cuzk_code run(int argc, char **argv, cuzk_err *err)
{
    options o = {.args = {.config = "/data/zk/cuzk.toml"}};
    cuzk_config *config;
    o.args.set = o.set;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    cuzk_code code = daemon_config(&config, &o.args, err);
    if (code == CUZK_OK) {
        code = run_configured(&o, config, err);
        cuzk_config_free(config);
    }
    for (size_t i = 0; i < o.n_made; i++) {
        free(o.made[i]);
    }
    return code;
}

int main(int argc, char **argv)
{
    cuzk_err err = {0};
    static char name[] = "cuzk-daemon";
    cuzk_code code;
    if (argc > 1 && strcmp(argv[1], "--worker") == 0) {
        code = daemon_worker(argc, argv, &err);
    } else {
        argv[0] = argc > 0 ? name : argv[0]; /* what every message begins with */
        argp_err_exit_status = cuzk_code_exit_status(CUZK_E_ARG);
        code = run(argc, argv, &err);
    }
    if (fflush(stdout) != 0 && code == CUZK_OK) {
        code = CUZK_FAIL(&err, CUZK_E_IO, "the output cannot be written");
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "cuzk-daemon: %s\n", err.msg);
    }
    return cuzk_code_exit_status(code);
}
