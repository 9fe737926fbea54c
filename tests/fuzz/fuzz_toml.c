#include "base/toml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Walks all values; aborts where a table's member is not found by its key or a count is off. */
static void walk(const cuzk_toml *doc, const cuzk_toml_value *v)
{
    if (v->type != CUZK_TOML_TABLE && v->type != CUZK_TOML_ARRAY) {
        return;
    }
    size_t n = 0;
    for (const cuzk_toml_value *m = v->u.list.first; m; m = m->next, n++) {
        if (v->type == CUZK_TOML_TABLE && strlen(m->key) == m->key_len &&
            cuzk_toml_get(doc, v, m->key) != m) {
            abort();
        }
        if (m->at.line == 0 || m->at.column == 0) {
            abort();
        }
        walk(doc, m);
    }
    if (n != v->u.list.count) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_toml *doc = NULL;
    cuzk_err err;
    if (cuzk_toml_parse(&doc, (cuzk_span){data, size}, "f", &err) == CUZK_OK) {
        walk(doc, cuzk_toml_root(doc));
        cuzk_toml_free(doc);
    } else if (err.code != CUZK_E_INPUT || strncmp(err.msg, "f:", 2) != 0 || doc) {
        abort();
    }
    return 0;
}
