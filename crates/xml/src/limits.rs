//! What a document may cost, for everything that its author could make grow.

/// Limits of one document. Every size is in bytes of UTF-8 unless it says otherwise; reaching one is an
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) error.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Elements open at the same time.
    pub depth: usize,
    /// One name (of an element, attribute, entity, target of an instruction), or one reference. More than 1 GB is taken as 1 GB.
    pub name: usize,
    /// Attributes of one element, defaults from the document type included.
    pub attributes: usize,
    /// One start or end tag as it stands in the document; the values of its attributes after expansion; the names of all open
    /// elements; the namespace declarations in scope.
    pub tag_bytes: usize,
    /// One comment or processing instruction.
    pub markup_bytes: usize,
    /// The document type declaration with its internal subset.
    pub doctype_bytes: usize,
    /// Entities, notations and attributes declared in the internal subset, together.
    pub declarations: usize,
    /// Replacement text of all entity references and defaults of attributes together, beyond 16 times the bytes of the document
    /// before them. References to characters and to the five predefined entities are not counted: they never grow.
    pub entity_expansion: usize,
    /// Entities within entities. More than 500 is taken as 500.
    pub entity_depth: usize,
    /// Namespace declarations in scope at the same time.
    pub namespaces: usize,
    /// Not a limit of the document: the size of the pieces in which text is delivered, at least 4.
    pub text_piece: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 4096,
            name: 64 << 10,
            attributes: 10_000,
            tag_bytes: 16 << 20,
            markup_bytes: 16 << 20,
            doctype_bytes: 1 << 20,
            declarations: 10_000,
            entity_expansion: 8 << 20,
            entity_depth: 64,
            namespaces: 10_000,
            text_piece: 64 << 10,
        }
    }
}
