#ifndef CUZK_SERVICE_MESSAGE_POOL_H
#define CUZK_SERVICE_MESSAGE_POOL_H

#include "rpc/rpc_server.h"

/*
 * Where requests' bodies live while they are received and read. Bounded as a whole: a sender whose
 * message does not fit now is held by flow control. Blocks are kept for the next message, since
 * touching 50 MB of fresh memory takes longer than receiving them.
 */
typedef struct cuzk_message_pool cuzk_message_pool;

/** At most limit_bytes in messages at once, of which up to keep_bytes stay allocated when idle. */
cuzk_code cuzk_message_pool_new(cuzk_message_pool **ret, size_t limit_bytes, size_t keep_bytes,
                                cuzk_err *err);

/** Every message must have been given back. Accepts NULL. */
void cuzk_message_pool_free(cuzk_message_pool *p);

/** The functions for cuzk_rpc_server_config.memory. */
cuzk_rpc_allocator cuzk_message_pool_allocator(cuzk_message_pool *p);

/** Whom to tell that memory was given back (cuzk_rpc_server_memory_freed); NULL for nobody, to be
 *  set before the server is freed. */
void cuzk_message_pool_set_server(cuzk_message_pool *p, cuzk_rpc_server *server);

/** Bytes in messages now. */
size_t cuzk_message_pool_used(cuzk_message_pool *p);

#endif
