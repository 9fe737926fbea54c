#ifndef CUZK_BACKEND_WORKER_WIRE_H
#define CUZK_BACKEND_WORKER_WIRE_H

#include "cuzk/backend.h"

/*
 * What parent and child say to each other: one fixed-size message a packet, in this machine's
 * layout, since both are of one build (the size is checked). Neither trusts the other's numbers. A
 * request to prove comes with a memory file: the inputs, then the records.
 */

enum {
    CUZK_WIRE_MAGIC = 0x6b7a7563, /* "cuzk" */
    CUZK_WIRE_VERSION = 1,
    CUZK_WIRE_NAME = 64,
    CUZK_WIRE_PATH = 1024,
    CUZK_WIRE_CALLS = 64, /* in work at a time */
};

typedef enum cuzk_wire_kind {
    CUZK_WIRE_HELLO, /* a reply, the first */
    CUZK_WIRE_INFO,
    CUZK_WIRE_COST,
    CUZK_WIRE_LOAD,
    CUZK_WIRE_UNLOAD,
    CUZK_WIRE_PROVE,
    CUZK_WIRE_GOODBYE,
    CUZK_WIRE_KINDS,
} cuzk_wire_kind;

typedef struct cuzk_wire_request {
    uint32_t magic, version;
    uint32_t kind;
    uint32_t reserved;
    uint64_t id;
    char circuit[CUZK_WIRE_NAME]; /* strings end in NUL */
    char shape[CUZK_WIRE_PATH], params[CUZK_WIRE_PATH];
    uint64_t inputs_bytes, records_bytes;
    uint64_t deadline_ns;
    uint8_t r[32], s[32];
} cuzk_wire_request;

typedef struct cuzk_wire_reply {
    uint32_t magic, version;
    uint32_t kind; /* of the request */
    int32_t code;  /* cuzk_code */
    uint64_t id;
    char msg[sizeof((cuzk_err *)NULL)->msg];
    union {
        cuzk_device_info info;
        cuzk_circuit_cost cost;
        cuzk_load_times load;
        uint32_t was_loaded;
        cuzk_partition_result result;
    } is; /* when code is CUZK_OK */
} cuzk_wire_reply;

#endif
