#include "config/config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(cuzk_config *c)
{
    char *text = NULL;
    if (cuzk_config_format(c, &text, NULL) != CUZK_OK) {
        abort();
    }
    return text;
}

/* What is accepted can be written, reads back, and is then the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_config *a = NULL, *b = NULL;
    cuzk_err err;
    if (cuzk_config_new(&a, NULL) != CUZK_OK || cuzk_config_new(&b, NULL) != CUZK_OK) {
        abort();
    }
    if (cuzk_config_apply(a, (cuzk_span){data, size}, "f", &err) == CUZK_OK) {
        char *once = text_of(a);
        cuzk_span text = {(const uint8_t *)once, strlen(once)};
        if (cuzk_config_apply(b, text, "g", &err) != CUZK_OK || b->warnings.n != 0) {
            abort();
        }
        char *twice = text_of(b);
        if (strcmp(once, twice) != 0) {
            abort();
        }
        free(once);
        free(twice);
    } else if (strncmp(err.msg, "f:", 2) != 0) {
        abort();
    }
    cuzk_config_free(a);
    cuzk_config_free(b);
    return 0;
}
