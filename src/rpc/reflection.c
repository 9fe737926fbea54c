#include "rpc/reflection.h"

#include "rpc/pb_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const uint8_t cuzk_rpc_descriptors[]; /* generated: health and reflection */
extern const size_t cuzk_rpc_descriptors_size;

enum { MAX_NESTING = 32, SYMBOL_BYTES = 512 };

/* Fields of google/protobuf/descriptor.proto. */
enum {
    SET_FILE = 1,
    FILE_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_DEPENDENCY = 3,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    ANY_NAME = 1,
    MESSAGE_NESTED = 3,
    MESSAGE_ENUM = 4,
    SERVICE_METHOD = 2,
};

/* Fields of a reflection request and response, the same in v1 and v1alpha. */
enum {
    ASK_HOST = 1,
    ASK_FILE = 3,
    ASK_SYMBOL = 4,
    ASK_EXTENSION = 5,
    ASK_EXTENSION_NUMBERS = 6,
    ASK_SERVICES = 7,
    TELL_HOST = 1,
    TELL_REQUEST = 2,
    TELL_FILES = 4,
    TELL_EXTENSION_NUMBERS = 5,
    TELL_SERVICES = 6,
    TELL_ERROR = 7,
};

typedef struct file {
    cuzk_span bytes, name; /* borrowed from the set */
} file;

typedef struct symbol {
    char *name;
    size_t file;
    bool is_service;
} symbol;

struct cuzk_rpc_reflection {
    file *files;
    size_t n_files;
    symbol *symbols;
    size_t n_symbols, cap_symbols;
};

/* ---- the index ---- */

static bool same(cuzk_span a, cuzk_span b) { return a.n == b.n && memcmp(a.p, b.p, a.n) == 0; }

/* The last value of a string field; empty without one. */
static cuzk_span text_of(cuzk_span message, uint32_t number)
{
    cuzk_rpc_pb_reader r = {.bytes = message};
    cuzk_rpc_pb_field f;
    cuzk_span found = {(const uint8_t *)"", 0};
    while (cuzk_rpc_pb_next(&r, &f)) {
        if (f.number == number && f.has_bytes) {
            found = f.bytes;
        }
    }
    return found;
}

static bool add_symbol(cuzk_rpc_reflection *x, const char *name, size_t of_file, bool is_service)
{
    if (x->n_symbols == x->cap_symbols) {
        size_t cap = x->cap_symbols ? 2 * x->cap_symbols : 64;
        symbol *grown = realloc(x->symbols, cap * sizeof *grown);
        if (!grown) {
            return false;
        }
        x->symbols = grown;
        x->cap_symbols = cap;
    }
    char *copy = strdup(name);
    if (!copy) {
        return false;
    }
    x->symbols[x->n_symbols++] = (symbol){copy, of_file, is_service};
    return true;
}

/* Adds what a message, enum or service is called, and what is in it. */
static bool add_named(cuzk_rpc_reflection *x, const char *scope, cuzk_span what, size_t of_file,
                      uint32_t kind, unsigned depth)
{
    cuzk_span name = text_of(what, ANY_NAME);
    char full[SYMBOL_BYTES];
    int n = snprintf(full, sizeof full, "%s%s%.*s", scope, scope[0] ? "." : "",
                     (int)(name.n < SYMBOL_BYTES ? name.n : SYMBOL_BYTES), (const char *)name.p);
    if (depth > MAX_NESTING || n < 0 || (size_t)n >= sizeof full) {
        return true; /* too deep or too long to be asked for */
    }
    if (!add_symbol(x, full, of_file, kind == FILE_SERVICE)) {
        return false;
    }
    cuzk_rpc_pb_reader r = {.bytes = what};
    cuzk_rpc_pb_field f;
    bool good = true;
    while (good && cuzk_rpc_pb_next(&r, &f)) {
        if (kind == FILE_MESSAGE && f.has_bytes && f.number == MESSAGE_NESTED) {
            good = add_named(x, full, f.bytes, of_file, FILE_MESSAGE, depth + 1);
        } else if (kind == FILE_MESSAGE && f.has_bytes && f.number == MESSAGE_ENUM) {
            good = add_named(x, full, f.bytes, of_file, FILE_ENUM, depth + 1);
        } else if (kind == FILE_SERVICE && f.has_bytes && f.number == SERVICE_METHOD) {
            good = add_named(x, full, f.bytes, of_file, 0, depth + 1);
        }
    }
    return good;
}

static cuzk_code add_file(cuzk_rpc_reflection *x, cuzk_span bytes, cuzk_err *err)
{
    file one = {bytes, text_of(bytes, FILE_NAME)};
    for (size_t i = 0; i < x->n_files; i++) {
        if (same(x->files[i].name, one.name)) {
            return CUZK_OK; /* sets share what they import */
        }
    }
    file *grown = realloc(x->files, (x->n_files + 1) * sizeof *grown);
    if (!grown) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for descriptors");
    }
    x->files = grown;
    x->files[x->n_files++] = one;

    cuzk_span package = text_of(bytes, FILE_PACKAGE);
    char scope[SYMBOL_BYTES];
    snprintf(scope, sizeof scope, "%.*s",
             (int)(package.n < SYMBOL_BYTES ? package.n : SYMBOL_BYTES), (const char *)package.p);
    cuzk_rpc_pb_reader r = {.bytes = bytes};
    cuzk_rpc_pb_field f;
    bool good = true;
    while (good && cuzk_rpc_pb_next(&r, &f)) {
        if (f.has_bytes && f.number >= FILE_MESSAGE && f.number <= FILE_SERVICE) {
            good = add_named(x, scope, f.bytes, x->n_files - 1, f.number, 0);
        }
    }
    if (r.bad) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "descriptor of %.*s: byte %zu starts no field",
                         (int)(one.name.n < 100 ? one.name.n : 100), (const char *)one.name.p,
                         r.at);
    }
    return good ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for descriptors");
}

static cuzk_code add_set(cuzk_rpc_reflection *x, cuzk_span set, cuzk_err *err)
{
    cuzk_rpc_pb_reader r = {.bytes = set};
    cuzk_rpc_pb_field f;
    while (cuzk_rpc_pb_next(&r, &f)) {
        if (f.number != SET_FILE || !f.has_bytes) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "descriptor set: field %u is no file", f.number);
        }
        CUZK_TRY(add_file(x, f.bytes, err));
    }
    return r.bad ? CUZK_FAIL(err, CUZK_E_INPUT, "descriptor set: byte %zu starts no field", r.at)
                 : CUZK_OK;
}

cuzk_code cuzk_rpc_reflection_new(cuzk_rpc_reflection **ret, const cuzk_span *sets, size_t n_sets,
                                  cuzk_err *err)
{
    cuzk_rpc_reflection *x = calloc(1, sizeof *x);
    if (!x) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for descriptors");
    }
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < n_sets && code == CUZK_OK; i++) {
        code = add_set(x, sets[i], err);
    }
    if (code == CUZK_OK) {
        code = add_set(x, (cuzk_span){cuzk_rpc_descriptors, cuzk_rpc_descriptors_size}, err);
    }
    if (code != CUZK_OK) {
        cuzk_rpc_reflection_free(x);
        return code;
    }
    *ret = x;
    return CUZK_OK;
}

void cuzk_rpc_reflection_free(cuzk_rpc_reflection *reflection)
{
    if (!reflection) {
        return;
    }
    for (size_t i = 0; i < reflection->n_symbols; i++) {
        free(reflection->symbols[i].name);
    }
    free(reflection->symbols);
    free(reflection->files);
    free(reflection);
}

/* ---- answers ---- */

static const symbol *find_symbol(const cuzk_rpc_reflection *x, cuzk_span name)
{
    for (size_t i = 0; i < x->n_symbols; i++) {
        const char *at = x->symbols[i].name;
        if (same((cuzk_span){(const uint8_t *)at, strlen(at)}, name)) {
            return &x->symbols[i];
        }
    }
    return NULL;
}

static bool find_file(const cuzk_rpc_reflection *x, cuzk_span name, size_t *ret)
{
    for (size_t i = 0; i < x->n_files; i++) {
        if (same(x->files[i].name, name)) {
            *ret = i;
            return true;
        }
    }
    return false;
}

/* Writes a file, then all that it imports, each once. */
static void put_file(const cuzk_rpc_reflection *x, cuzk_rpc_pb_writer *w, size_t i, bool *seen)
{
    if (seen[i]) {
        return;
    }
    seen[i] = true;
    cuzk_rpc_pb_put_bytes(w, 1, x->files[i].bytes);
    cuzk_rpc_pb_reader r = {.bytes = x->files[i].bytes};
    cuzk_rpc_pb_field f;
    size_t other;
    while (cuzk_rpc_pb_next(&r, &f)) {
        if (f.number == FILE_DEPENDENCY && f.has_bytes && find_file(x, f.bytes, &other)) {
            put_file(x, w, other, seen); /* as deep as there are files, at most */
        }
    }
}

static void tell_files(const cuzk_rpc_reflection *x, cuzk_rpc_pb_writer *w, size_t i)
{
    cuzk_rpc_pb_writer files = {0};
    bool *seen = calloc(x->n_files, sizeof *seen);
    if (seen) {
        put_file(x, &files, i, seen);
    }
    w->failed = w->failed || !seen || files.failed;
    cuzk_rpc_pb_put_bytes(w, TELL_FILES, (cuzk_span){files.p, files.n});
    free(seen);
    free(files.p);
}

static void tell_services(const cuzk_rpc_reflection *x, cuzk_rpc_pb_writer *w)
{
    cuzk_rpc_pb_writer list = {0};
    for (size_t i = 0; i < x->n_symbols; i++) {
        if (x->symbols[i].is_service) {
            cuzk_rpc_pb_writer one = {0};
            const char *name = x->symbols[i].name;
            cuzk_rpc_pb_put_bytes(&one, 1, (cuzk_span){(const uint8_t *)name, strlen(name)});
            list.failed = list.failed || one.failed;
            cuzk_rpc_pb_put_bytes(&list, 1, (cuzk_span){one.p, one.n});
            free(one.p);
        }
    }
    w->failed = w->failed || list.failed;
    cuzk_rpc_pb_put_bytes(w, TELL_SERVICES, (cuzk_span){list.p, list.n});
    free(list.p);
}

static void tell_no_extensions(cuzk_rpc_pb_writer *w, cuzk_span type)
{
    cuzk_rpc_pb_writer none = {0};
    cuzk_rpc_pb_put_bytes(&none, 1, type);
    w->failed = w->failed || none.failed;
    cuzk_rpc_pb_put_bytes(w, TELL_EXTENSION_NUMBERS, (cuzk_span){none.p, none.n});
    free(none.p);
}

static void tell_error(cuzk_rpc_pb_writer *w, cuzk_rpc_status status, const char *message)
{
    cuzk_rpc_pb_writer error = {0};
    cuzk_rpc_pb_put_value(&error, 1, (uint64_t)status);
    cuzk_rpc_pb_put_bytes(&error, 2, (cuzk_span){(const uint8_t *)message, strlen(message)});
    w->failed = w->failed || error.failed;
    cuzk_rpc_pb_put_bytes(w, TELL_ERROR, (cuzk_span){error.p, error.n});
    free(error.p);
}

static void answer(const cuzk_rpc_reflection *x, cuzk_rpc_pb_writer *w,
                   const cuzk_rpc_pb_field *question)
{
    const symbol *s;
    size_t i;
    switch (question->number) {
    case ASK_FILE:
        if (find_file(x, question->bytes, &i)) {
            tell_files(x, w, i);
        } else {
            tell_error(w, CUZK_RPC_NOT_FOUND, "there is no such file");
        }
        return;
    case ASK_SYMBOL:
        s = find_symbol(x, question->bytes);
        if (s) {
            tell_files(x, w, s->file);
        } else {
            tell_error(w, CUZK_RPC_NOT_FOUND, "there is no such symbol");
        }
        return;
    case ASK_EXTENSION_NUMBERS:
        if (find_symbol(x, question->bytes)) {
            tell_no_extensions(w, question->bytes);
        } else {
            tell_error(w, CUZK_RPC_NOT_FOUND, "there is no such type");
        }
        return;
    case ASK_EXTENSION:
        tell_error(w, CUZK_RPC_NOT_FOUND, "there are no extensions");
        return;
    case ASK_SERVICES:
        tell_services(x, w);
        return;
    default:
        tell_error(w, CUZK_RPC_INVALID_ARGUMENT, "the request asks for nothing");
        return;
    }
}

static void info(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    const cuzk_rpc_reflection *x = ctx;
    if (!message) { /* the client has asked all it wants */
        cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
        return;
    }
    cuzk_rpc_pb_reader r = {.bytes = {message->p, message->n}};
    cuzk_rpc_pb_field f, question = {0};
    cuzk_span host = {(const uint8_t *)"", 0};
    while (cuzk_rpc_pb_next(&r, &f)) {
        if (f.number == ASK_HOST && f.has_bytes) {
            host = f.bytes;
        } else if (f.number >= ASK_FILE && f.number <= ASK_SERVICES && f.has_bytes) {
            question = f;
        }
    }
    if (r.bad) {
        cuzk_rpc_call_finish(call, CUZK_RPC_INVALID_ARGUMENT, "this is no ServerReflectionRequest");
    } else {
        cuzk_rpc_pb_writer w = {0};
        cuzk_rpc_pb_put_bytes(&w, TELL_HOST, host);
        cuzk_rpc_pb_put_bytes(&w, TELL_REQUEST, r.bytes);
        answer(x, &w, &question);
        if (w.failed || !cuzk_rpc_call_send(call, w.p, w.n)) {
            cuzk_rpc_call_finish(call, CUZK_RPC_RESOURCE_EXHAUSTED, "no room for the answer");
        }
        free(w.p);
    }
    cuzk_rpc_message_free(message);
}

void cuzk_rpc_reflection_methods(cuzk_rpc_reflection *reflection,
                                 cuzk_rpc_method ret[CUZK_RPC_REFLECTION_METHODS])
{
    static const char *const paths[CUZK_RPC_REFLECTION_METHODS] = {
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    };
    for (size_t i = 0; i < CUZK_RPC_REFLECTION_METHODS; i++) {
        ret[i] = (cuzk_rpc_method){.path = paths[i],
                                   .handler = info,
                                   .ctx = reflection,
                                   .kind = CUZK_RPC_BIDI,
                                   .max_request_bytes = 4096};
    }
}
