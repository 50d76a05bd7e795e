//! The router: brings what the binder delivered, in document order, to the nodes and lists that somebody reaches.
//!
//! Invariant: `frames` are the nodes that are open where the router stands. All references are weak, so a router
//! keeps nothing alive: what it can't reach it drops. Every `Open` gets the next serial number, the same that
//! the binding side counts, by which the two find out whether they stand in the same node.

use std::sync::{Arc, Weak};

use kumi_xml::{Batch, ClassId, Item, Schema};

use crate::cell::{Cell, What};
use crate::list::{List, ListCore};
use crate::producer::Token;
use crate::registry::{Meter, Shared};
use crate::tree::{Node, Slot};

/// What routing needs besides.
pub(crate) struct Context {
    pub schema: Arc<Schema>,
    pub meter: Arc<Meter>,
    pub shared: Arc<Shared>,
}

enum RootRef {
    Node(Weak<Node>, Vec<(u16, Weak<ListCore>)>),
    List(Weak<ListCore>),
    /// Before the document's root exists.
    None,
}

struct Frame {
    node: Weak<Node>,
    lists: Vec<(u16, Weak<ListCore>)>,
    serial: u64,
}

fn lists_of(node: &Node) -> Vec<(u16, Weak<ListCore>)> {
    let mut lists = Vec::new();
    node.each_list(|slot, list| lists.push((slot, Arc::downgrade(&list.core))));
    lists
}

fn reachable(list: &Weak<ListCore>) -> bool {
    list.upgrade().is_some_and(|list| list.state.lock().reachable())
}

impl Frame {
    fn needed(&self) -> bool {
        self.lists.iter().any(|(_, list)| reachable(list)) || self.node.upgrade().is_some_and(|node| node.expects())
    }
}

/// What of a document can still be reached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// What is being read now, or something else that is to come.
    All,
    /// Not what is left of the node at this depth, which has this serial number.
    Outside { depth: usize, serial: u64 },
    /// Nothing any more.
    Nothing,
}

pub(crate) struct Router {
    root: RootRef,
    frames: Vec<Frame>,
    serial: u64,
    /// A node was entered that nobody can reach.
    astray: bool,
}

impl Router {
    pub fn nothing() -> Router {
        Router { root: RootRef::None, frames: Vec::new(), serial: 0, astray: false }
    }

    pub fn node(root: &Arc<Node>) -> Router {
        Router { root: RootRef::Node(Arc::downgrade(root), lists_of(root)), frames: Vec::new(), serial: 0, astray: false }
    }

    pub fn list(root: &List) -> Router {
        Router { root: RootRef::List(Arc::downgrade(&root.core)), frames: Vec::new(), serial: 0, astray: false }
    }

    /// The list that an item of this slot belongs to; null when it is none's.
    pub fn target(&self, slot: u16) -> *const ListCore {
        self.find(slot).map_or(std::ptr::null(), Weak::as_ptr)
    }

    fn find(&self, slot: u16) -> Option<&Weak<ListCore>> {
        match (self.frames.last(), &self.root) {
            (Some(frame), _) => frame.lists.iter().find(|(s, _)| *s == slot).map(|(_, list)| list),
            (None, RootRef::List(list)) => Some(list),
            (None, _) => None,
        }
    }

    fn push(&mut self, node: Weak<Node>, lists: Vec<(u16, Weak<ListCore>)>) {
        self.frames.push(Frame { node, lists, serial: self.serial });
        self.serial += 1;
    }

    /// Enters a new node.
    pub fn open(&mut self, token: &Arc<Token>, class: ClassId, row: &[u8]) -> Arc<Node> {
        let node = Node::pending(token, class);
        node.open(row);
        self.push(Arc::downgrade(&node), lists_of(&node));
        node
    }

    /// Brings one item where it belongs. The list that got an element, or null.
    pub fn step(&mut self, item: Item, batch: &Batch, context: &Context) -> *const ListCore {
        match item {
            Item::Row { class, slot, row } => {
                let row = batch.row_bytes(row);
                if let Some(list) = self.find(slot) {
                    return append(list, || Cell::new(What::Row(class), row, &context.meter));
                }
                match (self.frames.last(), &self.root) {
                    (Some(frame), _) => {
                        if let Some(node) = frame.node.upgrade() {
                            node.set(slot, Slot::Row(Cell::new(What::Row(class), row, &context.meter).handle()));
                        }
                    }
                    (None, RootRef::Node(root, _)) => {
                        if let Some(root) = root.upgrade() {
                            root.fill(row, &context.schema, &context.meter);
                        }
                    }
                    (None, _) => {}
                }
            }
            Item::Field { slot, text } => {
                if let Some(list) = self.find(slot) {
                    return append(list, || Cell::new(What::Text, batch.placed_text(text), &context.meter));
                }
                let text = batch.text(text);
                if let Some(node) = self.frames.last().and_then(|frame| frame.node.upgrade()) {
                    node.set(slot, Slot::Text(text.into()));
                }
            }
            Item::Open { class, slot, row } => return self.enter(class, slot, batch.row_bytes(row), context),
            Item::Close => {
                if let Some(frame) = self.frames.pop() {
                    if let Some(node) = frame.node.upgrade() {
                        node.close();
                    }
                    for (_, list) in &frame.lists {
                        complete(list);
                    }
                }
            }
        }
        std::ptr::null()
    }

    fn enter(&mut self, class: ClassId, slot: u16, row: &[u8], context: &Context) -> *const ListCore {
        if let Some(list) = self.find(slot) {
            let target = list.as_ptr();
            if let Some(list) = list.upgrade().filter(|list| list.state.lock().reachable()) {
                let node = self.open(&list.token, class, row);
                list.state.lock().append(Cell::new(What::Node(node), &[], &context.meter));
                return target;
            }
        } else if let Some(frame) = self.frames.last() {
            if let Some(parent) = frame.node.upgrade() {
                let node = self.open(&parent.token, class, row);
                parent.set(slot, Slot::Node(node));
                return std::ptr::null();
            }
        } else if let RootRef::Node(root, lists) = &mut self.root {
            let (root, lists) = (root.clone(), std::mem::take(lists));
            if let Some(node) = root.upgrade() {
                node.open(row);
            }
            self.push(root, lists);
            return std::ptr::null();
        }
        self.push(Weak::new(), Vec::new());
        self.astray = true;
        std::ptr::null()
    }

    /// Whether a node was entered since the last call that nobody can reach: it is to be passed over.
    pub fn went_astray(&mut self) -> bool {
        std::mem::take(&mut self.astray)
    }

    /// The document is complete.
    pub fn finish(&mut self) {
        while let Some(frame) = self.frames.pop() {
            if let Some(node) = frame.node.upgrade() {
                node.close();
            }
            frame.lists.iter().for_each(|(_, list)| complete(list));
        }
        match &self.root {
            RootRef::List(list) => complete(list),
            RootRef::Node(node, lists) => {
                if let Some(node) = node.upgrade() {
                    node.close();
                }
                lists.iter().for_each(|(_, list)| complete(list));
            }
            RootRef::None => {}
        }
    }

    /// What is still needed of the document.
    pub fn need(&self) -> Need {
        let useless = self.frames.iter().rev().take_while(|frame| !frame.needed()).count();
        let depth = self.frames.len() - useless;
        let root = match &self.root {
            RootRef::None => true,
            RootRef::List(list) => reachable(list),
            RootRef::Node(node, lists) => {
                self.frames.is_empty() && (node.strong_count() > 0 || lists.iter().any(|(_, list)| reachable(list)))
            }
        };
        match self.frames.get(depth) {
            None if depth > 0 || root => Need::All,
            Some(frame) if depth > 0 || root => Need::Outside { depth, serial: frame.serial },
            _ => Need::Nothing,
        }
    }
}

fn append(list: &Weak<ListCore>, cell: impl FnOnce() -> Cell) -> *const ListCore {
    if let Some(list) = list.upgrade() {
        let mut state = list.state.lock();
        if state.reachable() {
            state.append(cell());
        }
    }
    list.as_ptr()
}

fn complete(list: &Weak<ListCore>) {
    if let Some(list) = list.upgrade() {
        let tail = list.state.lock().finish();
        drop(tail);
    }
}
