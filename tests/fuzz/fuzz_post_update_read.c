#include "patch.h"

#include "filecoin/check.h"
#include "filecoin/generate.h"
#include "filecoin/read.h"
#include "filecoin/write.h"
#include "support/base_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum input_kind { WINDOW, WINNING, UPDATE } input_kind;

typedef struct input {
    const char *size;
    input_kind kind;
} input;

static cuzk_post_proof post_of(const input *in)
{
    return cuzk_post_proof_of_sector(cuzk_sector_named(in->size), in->kind == WINDOW);
}

static cuzk_code write_input(cuzk_file_writer *w, void *ctx, cuzk_err *err)
{
    const input *in = ctx;
    cuzk_code code;
    if (in->kind != UPDATE) {
        cuzk_post_proof proof = post_of(in);
        cuzk_post_sector s;
        CUZK_TRY(cuzk_post_generate(&s, &proof, 1, NULL, NULL, err));
        code = cuzk_post_sector_write(w, &s, proof.sector, err);
        cuzk_post_sector_clear(&s);
        return code;
    }
    cuzk_update_source *source;
    cuzk_update_partition p;
    CUZK_TRY(cuzk_update_source_new(&source, cuzk_sector_named(in->size), NULL, NULL, err));
    code = cuzk_update_generate(&p, source, 0, err);
    cuzk_update_source_free(source);
    CUZK_TRY(code);
    code = cuzk_update_partition_write(w, &p, err);
    cuzk_update_partition_clear(&p);
    return code;
}

static void read_and_check(const input *in, cuzk_span bytes)
{
    static const uint8_t randomness[32] = {1};
    cuzk_err err;
    if (in->kind != UPDATE) {
        cuzk_post_proof proof = post_of(in);
        cuzk_post_sector s;
        if (cuzk_post_sector_read(&s, bytes, "fuzz", &proof, &err) == CUZK_OK) {
            cuzk_post_check(&s, &proof, randomness, 0, "fuzz", NULL, &err);
            cuzk_post_sector_clear(&s);
        }
        return;
    }
    cuzk_update_partition p;
    const cuzk_sector *sector = cuzk_sector_named(in->size);
    if (cuzk_update_partition_read(&p, bytes, "fuzz", sector, &err) == CUZK_OK) {
        cuzk_update_check(&p, p.k, &p.comm_c, &p.comm_d_new, &p.comm_c, "fuzz", NULL, &err);
        cuzk_update_partition_clear(&p);
    }
}

/* The first byte chooses the kind, the rest is for patched(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static input inputs[] = {{"2KiB", WINDOW}, {"16KiB", WINDOW}, {"32KiB", WINNING},
                             {"2KiB", UPDATE}, {"4KiB", UPDATE},  {"2KiB", WINNING}};
    enum { INPUTS = sizeof inputs / sizeof *inputs };
    static cuzk_span bases[INPUTS];
    if (size == 0) {
        return 0;
    }
    const unsigned which = data[0] % INPUTS;
    if (!bases[which].p) {
        bases[which] = base_file(write_input, &inputs[which]);
    }
    size_t n;
    uint8_t *file = patched(data + 1, size - 1, bases[which].p, bases[which].n, &n);
    read_and_check(&inputs[which], (cuzk_span){file, n});
    free(file);
    return 0;
}
