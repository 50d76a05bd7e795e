//! How messages name classes and values. None of it calls a user's method.

use crate::Cx;
use kumi_heap::*;

impl Cx {
    /// Full name of a class or module as `inspect` shows it.
    pub fn class_name(&mut self, c: Gc<ClassObj>) -> String {
        let _classes = self.lock_classes();
        if let Some(r) = c.data.refined {
            let owner = c.data.attached.as_class().map(|m| format!("@{}", self.class_name(m)));
            return format!("#<refinement:{}{}>", self.class_name(r), owner.unwrap_or_default());
        }
        if let Some(n) = &c.data.name {
            return String::from_utf8_lossy(n).into_owned();
        }
        if c.is_singleton() {
            let a = c.data.attached;
            let inner = match a.as_class() {
                Some(k) => self.class_name(k),
                None => self.any_to_s(a),
            };
            return format!("#<Class:{inner}>");
        }
        let kind = self.real_class(c.val());
        let kind = self.class_name(kind);
        format!("#<{}:0x{:016x}>", kind, self.heap.object_id(c.val()) * 8)
    }
    /// `#<Foo>` as Kernel#to_s gives it.
    pub fn any_to_s(&mut self, v: Value) -> String {
        let c = self.real_class(v);
        let n = self.class_name(c);
        let id = if v.is_heap() { self.heap.object_id(v) } else { v.bits() };
        format!("#<{n}:0x{:016x}>", id * 8)
    }
    /// How error messages name a value: "nil", "true", "an instance of Foo", "class Foo", "module Foo", "main".
    pub fn describe(&mut self, v: Value) -> String {
        match v {
            Value::NIL => "nil".into(),
            Value::TRUE => "true".into(),
            Value::FALSE => "false".into(),
            _ if v == self.main_object => "main".into(),
            _ => match v.as_class() {
                Some(c) => format!("{} {}", if c.is_class() { "class" } else { "module" }, self.class_name(c)),
                // An object with methods of its own is told apart by its identity.
                None if self.class_of(v).is_singleton() => self.any_to_s(v),
                None => {
                    let c = self.real_class(v);
                    format!("an instance of {}", self.class_name(c))
                }
            },
        }
    }
    /// How conversion errors name a value: "nil", "true", "false" or its class.
    pub fn describe_type(&mut self, v: Value) -> String {
        match v {
            Value::NIL => "nil".into(),
            Value::TRUE => "true".into(),
            Value::FALSE => "false".into(),
            _ => {
                let c = self.real_class(v);
                self.class_name(c)
            }
        }
    }
    /// Text of a String value, lossy, for messages.
    pub fn text(&self, v: Value) -> String {
        v.as_str().map_or(String::new(), |s| String::from_utf8_lossy(s.bytes()).into_owned())
    }
}
