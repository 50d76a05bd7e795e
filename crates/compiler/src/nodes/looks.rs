//! Quick looks into a piece of code: does it assign a local, can it jump away?

use ruby_prism::*;

/// Looks for an assignment to one local variable inside a piece of code.
pub struct Writes<'a> {
    pub name: &'a [u8],
    pub found: bool,
}

macro_rules! local_writes {
    ($($visit:ident $ty:ident),* $(,)?) => {
        $(fn $visit(&mut self, n: &$ty<'pr>) {
            if n.name().as_slice() == self.name {
                self.found = true;
            } else {
                $visit(self, n);
            }
        })*
    };
}

impl<'pr> Visit<'pr> for Writes<'_> {
    local_writes! {
        visit_local_variable_write_node LocalVariableWriteNode,
        visit_local_variable_target_node LocalVariableTargetNode,
        visit_local_variable_operator_write_node LocalVariableOperatorWriteNode,
        visit_local_variable_or_write_node LocalVariableOrWriteNode,
        visit_local_variable_and_write_node LocalVariableAndWriteNode,
    }
    fn visit_def_node(&mut self, _n: &DefNode<'pr>) {}
    fn visit_block_node(&mut self, _n: &BlockNode<'pr>) {}
    fn visit_lambda_node(&mut self, _n: &LambdaNode<'pr>) {}
}

/// Looks for a jump that could leave a piece of code (`return`, `break`, `next`, `redo`, `retry`).
#[derive(Default)]
pub struct Jumps {
    pub found: bool,
}

impl<'pr> Visit<'pr> for Jumps {
    fn visit_return_node(&mut self, _n: &ReturnNode<'pr>) {
        self.found = true;
    }
    fn visit_break_node(&mut self, _n: &BreakNode<'pr>) {
        self.found = true;
    }
    fn visit_next_node(&mut self, _n: &NextNode<'pr>) {
        self.found = true;
    }
    fn visit_redo_node(&mut self, _n: &RedoNode<'pr>) {
        self.found = true;
    }
    fn visit_retry_node(&mut self, _n: &RetryNode<'pr>) {
        self.found = true;
    }
    fn visit_def_node(&mut self, _n: &DefNode<'pr>) {}
    fn visit_block_node(&mut self, _n: &BlockNode<'pr>) {}
    fn visit_lambda_node(&mut self, _n: &LambdaNode<'pr>) {}
}
