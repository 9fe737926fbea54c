/* toml_json FILE…: one line for each file, "ok" and its values as JSON in which each scalar is
 * {"type", "value"}, or "error" and the message: what the tests compare with another reader. */
#include "base/file.h"
#include "base/toml.h"

#include <inttypes.h>
#include <stdio.h>

static void put_string(const char *s, size_t n)
{
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

static void put_datetime(const cuzk_toml_datetime *d)
{
    printf("{\"type\":\"datetime\",\"value\":\"");
    if (d->has_date) {
        printf("%04u-%02u-%02u", d->year, d->month, d->day);
    }
    if (d->has_time) {
        printf("T%02u:%02u:%02u.%06u", d->hour, d->minute, d->second, d->nanosecond / 1000);
    }
    if (d->has_offset) {
        printf("%+d", d->offset_minutes);
    }
    printf("\"}");
}

static void put_value(const cuzk_toml_value *v)
{
    switch (v->type) {
    case CUZK_TOML_TABLE:
    case CUZK_TOML_ARRAY:
        putchar(v->type == CUZK_TOML_TABLE ? '{' : '[');
        for (const cuzk_toml_value *m = v->u.list.first; m; m = m->next) {
            if (v->type == CUZK_TOML_TABLE) {
                put_string(m->key, m->key_len);
                putchar(':');
            }
            put_value(m);
            printf(m->next ? "," : "");
        }
        putchar(v->type == CUZK_TOML_TABLE ? '}' : ']');
        break;
    case CUZK_TOML_STRING:
        printf("{\"type\":\"string\",\"value\":");
        put_string(v->u.string.p, v->u.string.n);
        putchar('}');
        break;
    case CUZK_TOML_INTEGER:
        printf("{\"type\":\"integer\",\"value\":\"%" PRId64 "\"}", v->u.integer);
        break;
    case CUZK_TOML_FLOAT:
        printf("{\"type\":\"float\",\"value\":\"%.17g\"}", v->u.number);
        break;
    case CUZK_TOML_BOOL:
        printf("{\"type\":\"bool\",\"value\":%s}", v->u.boolean ? "true" : "false");
        break;
    case CUZK_TOML_DATETIME:
        put_datetime(&v->u.datetime);
        break;
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        cuzk_file_map map;
        cuzk_toml *doc;
        cuzk_err err;
        if (cuzk_file_map_open(&map, argv[i], &err) != CUZK_OK) {
            fprintf(stderr, "toml_json: %s\n", err.msg);
            return 1;
        }
        if (cuzk_toml_parse(&doc, map.bytes, "", &err) == CUZK_OK) {
            printf("ok ");
            put_value(cuzk_toml_root(doc));
            putchar('\n');
            cuzk_toml_free(doc);
        } else {
            printf("error ");
            put_string(err.msg, __builtin_strlen(err.msg));
            putchar('\n');
        }
        cuzk_file_map_close(&map);
    }
    return 0;
}
