#include "service/message_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_MAX = 16, SMALLEST = 1 << 12 };

typedef struct block {
    void *p;
    size_t n;
} block;

struct cuzk_message_pool {
    pthread_mutex_t mu;
    size_t limit, keep;
    size_t used;          /* by messages, rounded sizes; guarded by mu, and so is what follows */
    size_t kept_bytes;    /* in kept */
    block kept[KEPT_MAX]; /* free blocks */
    unsigned n_kept;
    cuzk_rpc_server *server; /* or NULL */
};

cuzk_code cuzk_message_pool_new(cuzk_message_pool **ret, size_t limit_bytes, size_t keep_bytes,
                                cuzk_err *err)
{
    cuzk_message_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the pool of messages");
    }
    pthread_mutex_init(&p->mu, NULL);
    p->limit = limit_bytes;
    p->keep = keep_bytes;
    *ret = p;
    return CUZK_OK;
}

void cuzk_message_pool_free(cuzk_message_pool *p)
{
    if (!p) {
        return;
    }
    for (unsigned i = 0; i < p->n_kept; i++) {
        free(p->kept[i].p);
    }
    pthread_mutex_destroy(&p->mu);
    free(p);
}

/* Blocks come in eight sizes an octave, so that a message of about the size of the last one fits
 * its block, and the size of a message tells that of its block. */
static size_t block_size(size_t n)
{
    size_t step = SMALLEST;
    while (n > 16 * step) {
        step *= 2;
    }
    return (n + step - 1) / step * step;
}

static void *reuse(cuzk_message_pool *p, size_t size)
{
    for (unsigned i = 0; i < p->n_kept; i++) {
        if (p->kept[i].n == size) {
            void *found = p->kept[i].p;
            p->kept_bytes -= size;
            p->kept[i] = p->kept[--p->n_kept];
            return found;
        }
    }
    return NULL;
}

static cuzk_rpc_grant grant(void *ctx, size_t n, void **ret)
{
    cuzk_message_pool *p = ctx;
    size_t size = block_size(n);
    cuzk_rpc_grant answer = CUZK_RPC_GRANTED;
    void *memory = NULL;
    pthread_mutex_lock(&p->mu);
    if (size > p->limit) {
        answer = CUZK_RPC_NEVER;
    } else if (size > p->limit - p->used) {
        answer = CUZK_RPC_LATER;
    } else {
        p->used += size;
        memory = reuse(p, size);
    }
    pthread_mutex_unlock(&p->mu);
    if (answer == CUZK_RPC_GRANTED && !memory) {
        memory = malloc(size);
        if (!memory) {
            pthread_mutex_lock(&p->mu);
            p->used -= size;
            pthread_mutex_unlock(&p->mu);
            return CUZK_RPC_NEVER;
        }
    }
    if (answer == CUZK_RPC_GRANTED) {
        *ret = memory;
    }
    return answer;
}

/* Keeps the block, in place of the oldest ones when there is no room; what is left over is freed.
 */
static void give_back(void *ctx, void *memory, size_t n)
{
    cuzk_message_pool *p = ctx;
    size_t size = block_size(n);
    void *surplus[KEPT_MAX + 1];
    unsigned n_surplus = 0;
    pthread_mutex_lock(&p->mu);
    p->used -= size;
    if (size > p->keep) {
        surplus[n_surplus++] = memory;
    } else {
        while (p->n_kept == KEPT_MAX || size > p->keep - p->kept_bytes) {
            surplus[n_surplus++] = p->kept[0].p;
            p->kept_bytes -= p->kept[0].n;
            memmove(p->kept, p->kept + 1, --p->n_kept * sizeof *p->kept);
        }
        p->kept[p->n_kept++] = (block){memory, size};
        p->kept_bytes += size;
    }
    if (p->server) { /* under the mutex, so that it is not freed meanwhile */
        cuzk_rpc_server_memory_freed(p->server);
    }
    pthread_mutex_unlock(&p->mu);
    for (unsigned i = 0; i < n_surplus; i++) {
        free(surplus[i]);
    }
}

cuzk_rpc_allocator cuzk_message_pool_allocator(cuzk_message_pool *p)
{
    return (cuzk_rpc_allocator){grant, give_back, p};
}

void cuzk_message_pool_set_server(cuzk_message_pool *p, cuzk_rpc_server *server)
{
    pthread_mutex_lock(&p->mu);
    p->server = server;
    pthread_mutex_unlock(&p->mu);
}

size_t cuzk_message_pool_used(cuzk_message_pool *p)
{
    pthread_mutex_lock(&p->mu);
    size_t used = p->used;
    pthread_mutex_unlock(&p->mu);
    return used;
}
