#ifndef CUZK_RPC_GRPC_TEXT_H
#define CUZK_RPC_GRPC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How gRPC writes times and messages in header fields ("gRPC over HTTP2", sections Timeout and
 * Status-Message).
 */

/** Percent-encodes text (all but the printable ASCII characters, and '%') into ret[cap], cut at a
 *  whole character when it does not fit, and a NUL. Returns the length. cap > 0. */
size_t cuzk_rpc_percent_encode(char *ret, size_t cap, const char *text);

/** Decodes text[n] into ret[cap], cut when it does not fit, and a NUL; a '%' that starts no two
 *  digits stays as it is. Returns the length. cap > 0. */
size_t cuzk_rpc_percent_decode(char *ret, size_t cap, const char *text, size_t n);

/** Reads a grpc-timeout, 1 to 8 digits and one of H M S m u n, as nanoseconds (at most
 *  UINT64_MAX). */
bool cuzk_rpc_timeout_parse(const char *text, size_t n, uint64_t *ret_ns);

/** Writes milliseconds as a grpc-timeout, rounded up where 8 digits do not hold them. */
void cuzk_rpc_timeout_format(char ret[16], uint64_t ms);

#endif
