//! What of Prism's C interface its Rust crate leaves out: the laid-out text of
//! syntax errors, which warnings only `-w` shows, and the source's encoding.

use ruby_prism::{Node, ParseResult};
use std::ffi::{c_char, c_int, c_void};

unsafe extern "C" {
    fn pm_errors_format(parser: *const c_void, buffer: *mut c_void, format: c_int) -> c_int;
    fn pm_buffer_new() -> *mut c_void;
    fn pm_buffer_value(buffer: *const c_void) -> *const c_char;
    fn pm_buffer_length(buffer: *const c_void) -> usize;
    fn pm_buffer_free(buffer: *mut c_void);
    fn pm_parser_encoding_name(parser: *const c_void) -> *const c_char;
    fn pm_parser_warnings_first(parser: *const c_void) -> *const c_void;
    fn pm_diagnostic_next(diagnostic: *const c_void) -> *const c_void;
    fn pm_diagnostic_warning_level(diagnostic: *const c_void) -> c_int;
}

/// `PM_ERRORS_FORMAT_PLAIN`
const PLAIN: c_int = 1;

/// The parser behind a result.
fn parser(parsed: &ParseResult<'_>) -> Option<*const c_void> {
    match parsed.node() {
        Node::ProgramNode { parser, .. } => Some(parser.cast()),
        _ => None,
    }
}

/// The source lines with errors, marked, as CRuby prints them.
pub fn marked_errors(parsed: &ParseResult<'_>) -> Option<String> {
    let parser = parser(parsed)?;
    // SAFETY: the parser lives as long as `parsed`; the buffer is ours from `new` to `free`, and
    // its bytes are copied before it is freed.
    unsafe {
        let buffer = pm_buffer_new();
        if buffer.is_null() {
            return None;
        }
        pm_errors_format(parser, buffer, PLAIN);
        let bytes = std::slice::from_raw_parts(pm_buffer_value(buffer).cast::<u8>(), pm_buffer_length(buffer));
        let text = String::from_utf8_lossy(bytes).into_owned();
        pm_buffer_free(buffer);
        Some(text)
    }
}

/// For each warning, in their order: is it only for `-w`?
pub fn verbose_warnings(parsed: &ParseResult<'_>) -> Vec<bool> {
    let Some(parser) = parser(parsed) else { return Vec::new() };
    let mut out = Vec::new();
    // SAFETY: the list belongs to the parser, which outlives this walk; `next` ends with null.
    unsafe {
        let mut d = pm_parser_warnings_first(parser);
        while !d.is_null() {
            out.push(pm_diagnostic_warning_level(d) == 1);
            d = pm_diagnostic_next(d);
        }
    }
    out
}

/// Name of the encoding that the text was read in.
pub fn encoding<'a>(parsed: &'a ParseResult<'_>) -> Option<&'a [u8]> {
    let parser = parser(parsed)?;
    // SAFETY: the name is a constant of the parser library, ended by a NUL.
    unsafe {
        let name = pm_parser_encoding_name(parser);
        (!name.is_null()).then(|| std::ffi::CStr::from_ptr(name).to_bytes())
    }
}
