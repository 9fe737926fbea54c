#ifndef CUZK_SERVICE_CALLS_H
#define CUZK_SERVICE_CALLS_H

#include "service/service.h"
#include "service/work.h"

#include <protobuf-c/protobuf-c.h>

/* Within the service: how one call is carried from the I/O thread to its answer. */

struct cuzk_service {
    cuzk_engine *engine;
    cuzk_work *work;  /* calls that take milliseconds, or a flush to disk */
    cuzk_work *loads; /* calls that load or free keys: seconds to minutes */
};

/** A call and its message on the way through the threads of the service. Owns both. */
typedef struct cuzk_inbound {
    cuzk_service *service;
    cuzk_rpc_call *call; /* a reference */
    cuzk_rpc_message message;
} cuzk_inbound;

/** Handles the call, which it must finish or hand on; runs on a thread of the service. `in` is
 * freed afterwards. */
typedef void cuzk_call_fn(cuzk_inbound *in);

/** Answers with a packed message, once. */
void cuzk_call_reply(cuzk_rpc_call *call, const ProtobufCMessage *m);

/** Sends one packed message of a stream; false as cuzk_rpc_call_send. */
bool cuzk_call_send(cuzk_rpc_call *call, const ProtobufCMessage *m);

/** Unpacks the call's message; NULL after failing the call when it is malformed. Freed with
 *  protobuf_c_message_free_unpacked. Texts in it are bytes from a stranger: they are only looked
 *  up, and come back in errors, which the server escapes. */
ProtobufCMessage *cuzk_call_unpack(cuzk_inbound *in, const ProtobufCMessageDescriptor *type);

/** A text for a field of a message: protobuf-c's are not const, but packing does not change them.
 *  NULL is "". */
static inline char *cuzk_call_text(const char *s) { return (char *)(uintptr_t)(s ? s : ""); }

/** Frees an unpacked message. */
#define CUZK_CALL_FREE(m) protobuf_c_message_free_unpacked(&(m)->base, NULL)

/* The methods. */
cuzk_call_fn cuzk_call_submit, cuzk_call_prove, cuzk_call_await, cuzk_call_cancel, cuzk_call_watch,
    cuzk_call_list, cuzk_call_status, cuzk_call_metrics, cuzk_call_preload, cuzk_call_evict,
    cuzk_call_timeline;

#endif
