#include "rpc/status.h"

const char *cuzk_rpc_status_name(cuzk_rpc_status status)
{
    switch (status) {
#define X(code, number, name)                                                                      \
    case code:                                                                                     \
        return name;
        CUZK_RPC_STATUS_MAP(X)
#undef X
    }
    return "UNKNOWN";
}

cuzk_rpc_status cuzk_rpc_status_of(cuzk_code code)
{
    switch (code) {
    case CUZK_OK:
        return CUZK_RPC_OK;
    case CUZK_E_ARG:
    case CUZK_E_INPUT:
        return CUZK_RPC_INVALID_ARGUMENT;
    case CUZK_E_MEMORY:
    case CUZK_E_FULL:
        return CUZK_RPC_RESOURCE_EXHAUSTED;
    case CUZK_E_UNSUPPORTED:
        return CUZK_RPC_UNIMPLEMENTED;
    case CUZK_E_NOT_FOUND:
        return CUZK_RPC_NOT_FOUND;
    case CUZK_E_EXISTS:
        return CUZK_RPC_ALREADY_EXISTS;
    case CUZK_E_CANCELLED:
        return CUZK_RPC_CANCELLED;
    case CUZK_E_TIMEOUT:
        return CUZK_RPC_DEADLINE_EXCEEDED;
    case CUZK_E_UNAVAILABLE:
        return CUZK_RPC_UNAVAILABLE;
    case CUZK_E_DENIED:
        return CUZK_RPC_PERMISSION_DENIED;
    case CUZK_E_INVALID:
    case CUZK_E_IO:
    case CUZK_E_INTERNAL:
        break;
    }
    return CUZK_RPC_INTERNAL;
}
