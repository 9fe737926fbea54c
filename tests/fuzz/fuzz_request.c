#include "service/request.h"

#include <stdlib.h>
#include <string.h>

#include "cuzk/v1/proving.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(cuzk_span s, ProtobufCBinaryData d)
{
    if (s.n != d.len || (s.n && memcmp(s.p, d.data, s.n) != 0)) {
        abort();
    }
}

/* The walker and the generated code read the same; only the walker asks for texts that are texts,
 * refuses groups, and has limits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_request r;
    cuzk_err err;
    if (cuzk_request_read(&r, (cuzk_span){data, size}, &err) == CUZK_OK) {
        Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, size, data);
        if (m) {
            if (strcmp(r.request_id, m->request_id) != 0 ||
                r.job.n_vanilla_proofs != m->n_vanilla_proofs ||
                r.job.sector_size != m->sector_size) {
                abort();
            }
            same(r.job.vanilla_proof, m->vanilla_proof);
            same(r.job.comm_d_new, m->comm_d_new);
            cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
        }
    }
    cuzk_request_clear(&r);
    cuzk_request_read_prove(&r, (cuzk_span){data, size}, &err);
    cuzk_request_clear(&r);
    return 0;
}
