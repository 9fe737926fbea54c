/*
 * rpc_echo_server [--cert F --key F] [--client-ca F] [--token T] ADDRESS…: the echo service of
 * support/rpc_echo.h with health and with reflection of cuzk.v1, for the scripts that drive it with
 * other people's clients. Says where it listens, obeys "serving SERVICE NUMBER" lines on its
 * standard input, and drains when that ends.
 */
#include "cuzk/v1/descriptors.h"
#include "rpc/health.h"
#include "rpc/reflection.h"
#include "support/rpc_echo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METHODS = RPC_ECHO_METHODS + CUZK_RPC_HEALTH_METHODS + CUZK_RPC_REFLECTION_METHODS };

static void must(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fprintf(stderr, "rpc_echo_server: %s\n", err->msg);
        exit(1);
    }
}

/* Takes an option with its value from argv; true if it was one. */
static bool option(char **argv, const char *name, const char **ret)
{
    if (strcmp(argv[0], name) != 0 || !argv[1]) {
        return false;
    }
    *ret = argv[1];
    return true;
}

int main(int argc, char **argv)
{
    cuzk_rpc_server_config config = {0};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (!option(argv + i, "--cert", &config.cert_file) &&
            !option(argv + i, "--key", &config.key_file) &&
            !option(argv + i, "--client-ca", &config.client_ca_file) &&
            !option(argv + i, "--token", &config.token)) {
            fprintf(stderr, "rpc_echo_server: what is %s?\n", argv[i]);
            return 2;
        }
    }
    config.listen = (const char *const *)(argv + i);
    config.n_listen = (size_t)(argc - i);

    cuzk_err err;
    cuzk_rpc_health *health;
    cuzk_rpc_reflection *reflection;
    cuzk_rpc_server *server;
    rpc_echo echo;
    cuzk_rpc_method methods[METHODS];
    cuzk_span set = {cuzk_proto_descriptors, cuzk_proto_descriptors_size};
    rpc_echo_init(&echo);
    must(cuzk_rpc_health_new(&health, &err), &err);
    must(cuzk_rpc_reflection_new(&reflection, &set, 1, &err), &err);
    rpc_echo_methods(&echo, methods);
    cuzk_rpc_health_methods(health, methods + RPC_ECHO_METHODS);
    cuzk_rpc_reflection_methods(reflection, methods + RPC_ECHO_METHODS + CUZK_RPC_HEALTH_METHODS);
    must(cuzk_rpc_server_start(&server, &config, methods, METHODS, &err), &err);
    for (size_t k = 0; cuzk_rpc_server_bound(server, k); k++) {
        printf("%s\n", cuzk_rpc_server_bound(server, k));
    }
    fflush(stdout);

    char line[256], service[200];
    unsigned serving;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "serving %199s %u", service, &serving) == 2) {
            must(cuzk_rpc_health_set(health, service, (cuzk_rpc_serving)serving, &err), &err);
        }
    }
    cuzk_rpc_server_drain(server, 500);
    cuzk_rpc_server_free(server);
    cuzk_rpc_reflection_free(reflection);
    cuzk_rpc_health_free(health);
    rpc_echo_close(&echo);
    return 0;
}
