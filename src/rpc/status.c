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
        return CUZK_RPC_RESOURCE_EXHAUSTED;
    case CUZK_E_UNSUPPORTED:
        return CUZK_RPC_UNIMPLEMENTED;
    case CUZK_E_INVALID:
    case CUZK_E_IO:
    case CUZK_E_INTERNAL:
        break;
    }
    return CUZK_RPC_INTERNAL;
}
