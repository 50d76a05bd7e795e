/* expat on the documents of the bench. */
#include "row.h"
#include <expat.h>

static void XMLCALL on_start(void *d, const XML_Char *name, const XML_Char **attributes) {
    (void)attributes;
    begin(d, name);
}
static void XMLCALL on_end(void *d, const XML_Char *name) { end(d, name); }
static void XMLCALL on_text(void *d, const XML_Char *s, int n) { text(d, s, (size_t)n); }

static void *parser_new(struct document *d) {
    XML_Parser p = XML_ParserCreate(0);
    XML_SetUserData(p, d);
    XML_SetElementHandler(p, on_start, on_end);
    XML_SetCharacterDataHandler(p, on_text);
    return p;
}

static void parser_feed(void *p, const char *piece, size_t n) {
    if (XML_Parse(p, piece, (int)n, n == 0) != XML_STATUS_OK) die(XML_ErrorString(XML_GetErrorCode(p)));
}
