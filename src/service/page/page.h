#ifndef CUZK_SERVICE_PAGE_H
#define CUZK_SERVICE_PAGE_H

#include <stddef.h>

/** The live page, index.html beside this header, as it is served at `/`: text/html in UTF-8. */
extern const unsigned char cuzk_page_html[];
extern const size_t cuzk_page_html_size;

#endif
