#include "base/notify.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket as systemd has one. */
static int listen_at(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    memcpy(at.sun_path, name, n);
    if (name[0] == '@') {
        at.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (name[0] == '/'));
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, bytes), 0);
    return fd;
}

static void assert_hears(int fd, const char *text)
{
    char buf[256];
    ssize_t n = recv(fd, buf, sizeof buf - 1, MSG_DONTWAIT);
    assert_true(n >= 0);
    buf[n] = '\0';
    assert_string_equal(buf, text);
}

static int clear(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return 0;
}

static void each_call_is_one_datagram_to_the_named_socket(void **state)
{
    (void)state;
    char names[2][300];
    snprintf(names[0], sizeof names[0], "%s/notify", test_tmpdir());
    snprintf(names[1], sizeof names[1], "@cuzk-test-%ld", (long)getpid());
    for (int i = 0; i < 2; i++) {
        int fd = listen_at(names[i]);
        cuzk_notifier n;
        setenv("NOTIFY_SOCKET", names[i], 1);
        assert_int_equal(cuzk_notifier_open(&n, NULL), CUZK_OK);
        assert_int_equal(cuzk_notify(&n, "READY=1\nSTATUS=serving", NULL), CUZK_OK);
        assert_int_equal(cuzk_notify(&n, "STOPPING=1", NULL), CUZK_OK);
        assert_hears(fd, "READY=1\nSTATUS=serving");
        assert_hears(fd, "STOPPING=1");
        cuzk_notifier_close(&n);
        cuzk_notifier_close(&n);
        close(fd);
    }
}

static void without_a_socket_nothing_is_sent(void **state)
{
    (void)state;
    cuzk_notifier n;
    setenv("WATCHDOG_USEC", "1000000", 1);
    assert_int_equal(cuzk_notifier_open(&n, NULL), CUZK_OK);
    assert_int_equal(n.watchdog_us, 0);
    assert_int_equal(cuzk_notify(&n, "READY=1", NULL), CUZK_OK);
    cuzk_notifier_close(&n);
}

static void the_watchdog_is_for_the_process_that_it_names(void **state)
{
    (void)state;
    char pid[32];
    cuzk_notifier n;
    cuzk_err err;
    setenv("NOTIFY_SOCKET", "@cuzk-test", 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    assert_int_equal(cuzk_notifier_open(&n, NULL), CUZK_OK);
    assert_int_equal(n.watchdog_us, 30000000);
    cuzk_notifier_close(&n);
    snprintf(pid, sizeof pid, "%ld", (long)getpid() + 1);
    setenv("WATCHDOG_PID", pid, 1);
    assert_int_equal(cuzk_notifier_open(&n, NULL), CUZK_OK);
    assert_int_equal(n.watchdog_us, 0);
    cuzk_notifier_close(&n);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    setenv("WATCHDOG_PID", pid, 1);
    setenv("WATCHDOG_USEC", "soon", 1);
    assert_int_equal(cuzk_notifier_open(&n, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "WATCHDOG_USEC: expected a number, found \"soon\"");
}

static void a_socket_that_is_not_there_or_no_socket_is_an_error(void **state)
{
    (void)state;
    char name[300];
    cuzk_notifier n;
    cuzk_err err;
    snprintf(name, sizeof name, "%s/none", test_tmpdir());
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(cuzk_notifier_open(&n, NULL), CUZK_OK);
    assert_int_equal(cuzk_notify(&n, "READY=1", &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "cannot send"));
    cuzk_notifier_close(&n);
    memset(name, 'x', sizeof name);
    name[0] = '/';
    name[sizeof name - 1] = '\0';
    setenv("NOTIFY_SOCKET", name, 1);
    assert_int_equal(cuzk_notifier_open(&n, &err), CUZK_E_INPUT);
    setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
    assert_int_equal(cuzk_notifier_open(&n, &err), CUZK_E_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_call_is_one_datagram_to_the_named_socket, clear),
        cmocka_unit_test_setup(without_a_socket_nothing_is_sent, clear),
        cmocka_unit_test_setup(the_watchdog_is_for_the_process_that_it_names, clear),
        cmocka_unit_test_setup(a_socket_that_is_not_there_or_no_socket_is_an_error, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
