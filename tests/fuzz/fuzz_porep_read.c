#include "patch.h"

#include "filecoin/check.h"
#include "filecoin/generate.h"
#include "filecoin/read.h"
#include "filecoin/write.h"
#include "support/base_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct form {
    const char *size;
    cuzk_porep_form form;
} form;

static cuzk_code write_form(cuzk_file_writer *w, void *ctx, cuzk_err *err)
{
    const form *f = ctx;
    cuzk_porep p;
    CUZK_TRY(cuzk_porep_generate(&p, cuzk_sector_named(f->size), NULL, NULL, err));
    cuzk_code code = cuzk_porep_write(w, &p, f->form, err);
    cuzk_porep_clear(&p);
    return code;
}

/* Checking takes much longer than reading, so it is for few. */
static void read_and_check(cuzk_span bytes, bool check)
{
    cuzk_err err;
    cuzk_porep p;
    if (cuzk_porep_read(&p, bytes, "fuzz", NULL, &err) == CUZK_OK) {
        if (check) {
            cuzk_porep_check(&p, "fuzz", NULL, &err);
        }
        cuzk_porep_clear(&p);
    }
}

/* The first byte chooses the form, the rest is for patched(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static form forms[] = {{"2KiB", CUZK_POREP_BINCODE},
                           {"2KiB", CUZK_POREP_JSON},
                           {"2KiB", CUZK_POREP_WRAPPER},
                           {"4KiB", CUZK_POREP_BINCODE},
                           {"32KiB", CUZK_POREP_JSON}};
    enum { FORMS = sizeof forms / sizeof *forms };
    static cuzk_span bases[FORMS];
    if (size == 0) {
        return 0;
    }
    const unsigned which = data[0] % FORMS;
    if (!bases[which].p) {
        bases[which] = base_file(write_form, &forms[which]);
    }
    size_t n;
    uint8_t *file = patched(data + 1, size - 1, bases[which].p, bases[which].n, &n);
    read_and_check((cuzk_span){file, n}, data[0] / FORMS == 1);
    free(file);
    return 0;
}
