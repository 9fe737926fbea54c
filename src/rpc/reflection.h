#ifndef CUZK_RPC_REFLECTION_H
#define CUZK_RPC_REFLECTION_H

#include "rpc/rpc_server.h"

#include "base/bytes.h"

/** grpc.reflection.v1 and v1alpha, over given descriptors. */
typedef struct cuzk_rpc_reflection cuzk_rpc_reflection;

enum { CUZK_RPC_REFLECTION_METHODS = 2 };

/**
 * Indexes FileDescriptorSets (as of `protoc --include_imports --descriptor_set_out`), which must
 * outlive the object; those of health and reflection are added. The services that it lists are all
 * services in the sets. CUZK_E_INPUT for bytes that are no descriptor set.
 */
cuzk_code cuzk_rpc_reflection_new(cuzk_rpc_reflection **ret, const cuzk_span *sets, size_t n_sets,
                                  cuzk_err *err);

/** Frees; accepts NULL. The server that has its methods must be freed before. */
void cuzk_rpc_reflection_free(cuzk_rpc_reflection *reflection);

/** The two methods ServerReflectionInfo for the server's table; a token is asked for like anywhere.
 */
void cuzk_rpc_reflection_methods(cuzk_rpc_reflection *reflection,
                                 cuzk_rpc_method ret[CUZK_RPC_REFLECTION_METHODS]);

#endif
