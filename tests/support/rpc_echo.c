#include "support/rpc_echo.h"

#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rpc_echo_init(rpc_echo *e)
{
    memset(e, 0, sizeof *e);
    pthread_mutex_init(&e->mu, NULL);
    pthread_cond_init(&e->changed, NULL);
}

void rpc_echo_close(rpc_echo *e)
{
    cuzk_rpc_call_unref(e->waiting);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->mu);
}

static void echo(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    cuzk_rpc_call_send(call, message->p, message->n);
    cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
    cuzk_rpc_message_free(message);
}

typedef struct later {
    cuzk_rpc_call *call;
    cuzk_rpc_message message;
} later;

static void *later_main(void *arg)
{
    later *l = arg;
    echo(NULL, l->call, &l->message);
    cuzk_rpc_call_unref(l->call);
    free(l);
    return NULL;
}

static void answer_later(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    later *l = malloc(sizeof *l);
    pthread_t thread;
    *l = (later){cuzk_rpc_call_ref(call), *message};
    if (pthread_create(&thread, NULL, later_main, l) == 0) {
        pthread_detach(thread);
    }
}

static void fail_as_asked(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    char words[512] = "";
    if (message->n > 0) {
        snprintf(words, sizeof words, "%.*s", (int)message->n - 1, (const char *)message->p + 1);
        cuzk_rpc_call_finish(call, (cuzk_rpc_status)message->p[0], words);
    }
    cuzk_rpc_call_finish(call, CUZK_RPC_INVALID_ARGUMENT, "want a status");
    cuzk_rpc_message_free(message);
}

static void send_many(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    char text[64];
    unsigned long count = 0, size = 0;
    snprintf(text, sizeof text, "%.*s", (int)message->n, (const char *)message->p);
    cuzk_rpc_message_free(message);
    if (sscanf(text, "%lu %lu", &count, &size) != 2 || size > 1 << 20) {
        cuzk_rpc_call_finish(call, CUZK_RPC_INVALID_ARGUMENT, "want COUNT SIZE");
        return;
    }
    uint8_t *bytes = malloc(size + 1);
    for (unsigned long i = 0; i < count; i++) {
        memset(bytes, (int)(i & 0xff), size);
        if (!cuzk_rpc_call_send(call, bytes, size)) {
            cuzk_rpc_call_finish(call, CUZK_RPC_RESOURCE_EXHAUSTED, "too much for you");
        }
    }
    cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
    free(bytes);
}

static void chat(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    if (message) {
        cuzk_rpc_call_send(call, message->p, message->n);
        cuzk_rpc_message_free(message);
    } else {
        cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
    }
}

static void note_end(void *ctx, cuzk_rpc_call *call, cuzk_rpc_end end)
{
    (void)call;
    rpc_echo *e = ctx;
    pthread_mutex_lock(&e->mu);
    e->ended++;
    e->last_end = end;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mu);
}

static void never_answer(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    rpc_echo *e = ctx;
    cuzk_rpc_message_free(message);
    cuzk_rpc_call_on_end(call, note_end, e);
    pthread_mutex_lock(&e->mu);
    e->begun++;
    cuzk_rpc_call_unref(e->waiting);
    e->waiting = cuzk_rpc_call_ref(call);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mu);
}

static void tell_peer(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    (void)ctx;
    const char *peer = cuzk_rpc_call_peer(call);
    cuzk_rpc_message_free(message);
    cuzk_rpc_call_send(call, peer, strlen(peer));
    cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
}

void rpc_echo_methods(rpc_echo *e, cuzk_rpc_method ret[RPC_ECHO_METHODS])
{
    const cuzk_rpc_method methods[RPC_ECHO_METHODS] = {
        {.path = "/test.Echo/Echo", .handler = echo},
        {.path = "/test.Echo/Later", .handler = answer_later},
        {.path = "/test.Echo/Fail", .handler = fail_as_asked},
        {.path = "/test.Echo/Many", .handler = send_many, .kind = CUZK_RPC_SERVER_STREAM},
        {.path = "/test.Echo/Chat", .handler = chat, .kind = CUZK_RPC_BIDI},
        {.path = "/test.Echo/Wait", .handler = never_answer, .ctx = e},
        {.path = "/test.Echo/Peer", .handler = tell_peer},
        {.path = "/test.Echo/Open", .handler = echo, .open = true},
    };
    memcpy(ret, methods, sizeof methods);
}

void rpc_echo_await_begun(rpc_echo *e, unsigned n)
{
    pthread_mutex_lock(&e->mu);
    while (e->begun < n) {
        pthread_cond_wait(&e->changed, &e->mu);
    }
    pthread_mutex_unlock(&e->mu);
}

cuzk_rpc_end rpc_echo_await_ended(rpc_echo *e, unsigned n)
{
    pthread_mutex_lock(&e->mu);
    while (e->ended < n) {
        pthread_cond_wait(&e->changed, &e->mu);
    }
    cuzk_rpc_end end = e->last_end;
    pthread_mutex_unlock(&e->mu);
    return end;
}
