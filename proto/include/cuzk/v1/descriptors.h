#ifndef CUZK_V1_DESCRIPTORS_H
#define CUZK_V1_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

/** A google.protobuf.FileDescriptorSet of cuzk/v1/proving.proto, for server reflection. The
 * messages themselves are in "cuzk/v1/proving.pb-c.h". */
extern const uint8_t cuzk_proto_descriptors[];
extern const size_t cuzk_proto_descriptors_size;

#endif
