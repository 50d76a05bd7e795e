//! `allocate`: an instance of a class before `initialize`, whatever its layout.

use crate::doors::NO_METHOD;
use crate::doors::R;
use crate::{Cx, sym};
use kumi_heap::*;

impl Cx {
    /// An empty instance of `class`: what `Class#allocate` returns. Classes whose instances have a
    /// Rust payload bring their own native `allocate` on their singleton class.
    pub fn allocate(&mut self, class: Gc<ClassObj>) -> R {
        if class.role == Role::Singleton {
            return Err(self.type_error("can't create instance of singleton class"));
        }
        if class.data.superclass.is_none() && class != self.k.basic_object {
            return Err(self.type_error("can't instantiate uninitialized class"));
        }
        if let Some(v) = self.heap.instance(class) {
            return Ok(v);
        }
        match class.data.instance {
            Instance::Class => {
                let d = ClassData::new(None, Instance::Object);
                Ok(self.heap.class(class.val(), Role::Class, d).val())
            }
            Instance::Module => {
                let m = self.new_module();
                m.hdr.set_class(class.val());
                Ok(m.val())
            }
            Instance::Data => {
                let i = self.find_method(self.class_of(class.val()), sym::ALLOCATE);
                let own = i != NO_METHOD && self.method(i).owner != self.k.class;
                match if own { self.method(i).native } else { None } {
                    Some(f) => f(self, class.val(), &[]),
                    None => Err(self.no_allocator(class)),
                }
            }
            _ => Err(self.no_allocator(class)),
        }
    }
    fn no_allocator(&mut self, class: Gc<ClassObj>) -> crate::Exit {
        let n = self.class_name(class);
        self.type_error(&format!("allocator undefined for {n}"))
    }
}
