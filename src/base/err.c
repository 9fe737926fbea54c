#include "cuzk/err.h"

#include <stdarg.h>
#include <stdio.h>

const char *cuzk_code_name(cuzk_code code)
{
    switch (code) {
#define X(c, name, exit_status)                                                                    \
    case c:                                                                                        \
        return name;
        CUZK_CODE_MAP(X)
#undef X
    }
    return "unknown code";
}

int cuzk_code_exit_status(cuzk_code code)
{
    switch (code) {
#define X(c, name, exit_status)                                                                    \
    case c:                                                                                        \
        return exit_status;
        CUZK_CODE_MAP(X)
#undef X
    }
    return 4;
}

void cuzk_err_set(cuzk_err *err, cuzk_code code, const char *file, int line, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(err->msg, sizeof err->msg, fmt, ap);
        va_end(ap);
        err->code = code;
        err->file = file;
        err->line = line;
    }
}
