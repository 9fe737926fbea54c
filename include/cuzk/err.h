#ifndef CUZK_ERR_H
#define CUZK_ERR_H

#include <stddef.h>

/** Every outcome of a call that can fail: code, name, process exit status of the command line. */
#define CUZK_CODE_MAP(X)                                                                           \
    X(CUZK_OK, "ok", 0)                                                                            \
    X(CUZK_E_INVALID, "invalid proof", 1)                                                          \
    X(CUZK_E_ARG, "bad argument", 2)                                                               \
    X(CUZK_E_INPUT, "bad input", 3)                                                                \
    X(CUZK_E_IO, "input/output error", 4)                                                          \
    X(CUZK_E_MEMORY, "out of memory", 4)                                                           \
    X(CUZK_E_UNSUPPORTED, "not supported", 4)                                                      \
    X(CUZK_E_NOT_FOUND, "not found", 4)                                                            \
    X(CUZK_E_EXISTS, "already exists", 4)                                                          \
    X(CUZK_E_CANCELLED, "cancelled", 4)                                                            \
    X(CUZK_E_TIMEOUT, "timed out", 4)                                                              \
    X(CUZK_E_FULL, "over a limit", 4)                                                              \
    X(CUZK_E_UNAVAILABLE, "unavailable", 4)                                                        \
    X(CUZK_E_DENIED, "denied", 4)                                                                  \
    X(CUZK_E_INTERNAL, "internal error", 4)

typedef enum cuzk_code {
#define X(code, name, exit_status) code,
    CUZK_CODE_MAP(X)
#undef X
} cuzk_code;

/** What went wrong and where it was detected. Filled once, by the detector; owns nothing. */
typedef struct cuzk_err {
    cuzk_code code;
    int line;         /* source line of the detector */
    const char *file; /* source file of the detector, a static string */
    char msg[360];    /* one sentence, NUL-terminated, cut when too long */
} cuzk_err;

#ifdef __cplusplus
extern "C" {
#endif

/** Name of a code, e.g. "bad input"; never NULL. */
const char *cuzk_code_name(cuzk_code code);

/** Exit status of a command that ends with this code: 0, 1, 2, 3 or 4. */
int cuzk_code_exit_status(cuzk_code code);

/** Fills *err (which may be NULL) with a code and a formatted message. */
void cuzk_err_set(cuzk_err *err, cuzk_code code, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif

/** `return CUZK_FAIL(err, CUZK_E_ARG, "want %zu points, got %zu", n, m);` */
#define CUZK_FAIL(err, code, ...)                                                                  \
    (cuzk_err_set((err), (code), __FILE__, __LINE__, __VA_ARGS__), (code))

/** Evaluates a call that returns cuzk_code; returns the code from the caller unless it is CUZK_OK.
 */
#define CUZK_TRY(call)                                                                             \
    do {                                                                                           \
        cuzk_code try_code_ = (call);                                                              \
        if (try_code_ != CUZK_OK) {                                                                \
            return try_code_;                                                                      \
        }                                                                                          \
    } while (0)

#endif
