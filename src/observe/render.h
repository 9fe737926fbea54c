#ifndef CUZK_OBSERVE_RENDER_H
#define CUZK_OBSERVE_RENDER_H

#include "observe/analysis.h"

/*
 * Pictures of an analysis. Each call makes one text: *ret is malloc'ed, NUL-terminated, of *ret_n
 * bytes, and the caller frees it. Ids and details are escaped for the format they go into.
 */

typedef struct cuzk_render_options {
    unsigned columns;  /* text: width of the terminal, 0: 100; at least 40 */
    bool colour;       /* text: ANSI colours */
    const char *title; /* NULL: "cuzk waterfall" */
} cuzk_render_options;

/** A waterfall for terminals: a line for each synthesis worker, the channel's depth, each device,
 *  finish and loads; idle columns of a device show the letter of their cause; then legend, gaps and
 *  numbers. `options` may be NULL here and below. */
cuzk_code cuzk_render_text(char **ret, size_t *ret_n, const cuzk_analysis *a,
                           const cuzk_render_options *options, cuzk_err *err);

/** The same as an SVG document of its own; light or dark as the viewer prefers. */
cuzk_code cuzk_render_svg(char **ret, size_t *ret_n, const cuzk_analysis *a,
                          const cuzk_render_options *options, cuzk_err *err);

/** A report in one HTML file without outside resources: numbers, the SVG, tables. */
cuzk_code cuzk_render_html(char **ret, size_t *ret_n, const cuzk_analysis *a,
                           const cuzk_render_options *options, cuzk_err *err);

/** Chrome's trace event format, for Perfetto (ui.perfetto.dev) and chrome://tracing. */
cuzk_code cuzk_render_trace(char **ret, size_t *ret_n, const cuzk_analysis *a,
                            const cuzk_render_options *options, cuzk_err *err);

#endif
