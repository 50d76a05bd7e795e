/* libxml2's SAX push parser (SAX2, as it comes) on the documents of the bench. */
#include "row.h"
#include <libxml/parser.h>

static void on_start(void *d, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces, const xmlChar **declared, int attributes,
                     int defaulted, const xmlChar **values) {
    (void)prefix, (void)uri, (void)namespaces, (void)declared, (void)attributes, (void)defaulted, (void)values;
    begin(d, (const char *)name);
}
static void on_end(void *d, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    (void)prefix, (void)uri;
    end(d, (const char *)name);
}
static void on_text(void *d, const xmlChar *s, int n) { text(d, (const char *)s, (size_t)n); }

static xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC, .startElementNs = on_start, .endElementNs = on_end, .characters = on_text};

static void *parser_new(struct document *d) { return xmlCreatePushParserCtxt(&handler, d, 0, 0, 0); }

static void parser_feed(void *p, const char *piece, size_t n) {
    if (xmlParseChunk(p, piece, (int)n, n == 0) != 0) die("not well-formed");
}
