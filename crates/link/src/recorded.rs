//! Numbers of messages in a recording, which travel in the trace context.
//!
//! **Invariant.** A message's own trace context arrives as it was sent. One that has a number alone is not shown to the host.

use kumi_record::Recorder;
use kumi_wire::Trace;
use std::sync::Arc;

/// What stands before the number in the state, by which vendors tell theirs.
const VENDOR: &str = "kumi-record=";
/// A longer state has no room for one: its message is not written down.
const LONGEST: usize = 480;

/// The trace context of a message that goes to a node, with its number; `None`: it is not written down.
pub fn numbered(r: &Arc<Recorder>, to: &str, bytes: usize, trace: Option<&Trace>) -> Option<Trace> {
    if trace.is_some_and(|t| t.state.len() > LONGEST) {
        return None;
    }
    let number = match r.sends(to, bytes) {
        0 => return None,
        n => n,
    };
    let (comma, rest) = trace.map_or(("", ""), |t| if t.state.is_empty() { ("", "") } else { (",", &*t.state) });
    let state = format!("{VENDOR}{number}{comma}{rest}").into();
    Some(match trace {
        Some(t) => Trace { state, ..t.clone() },
        None => Trace { id: [0; 16], parent: [0; 8], flags: 0, state },
    })
}

/// Takes the number out of a trace context that came. 0: there is none.
pub fn number(trace: &mut Option<Box<Trace>>) -> u64 {
    let Some(t) = trace else { return 0 };
    let Some(rest) = t.state.strip_prefix(VENDOR) else { return 0 };
    let (number, rest) = rest.split_once(',').unwrap_or((rest, ""));
    let number = number.parse().unwrap_or(0);
    match t.id {
        // No trace of anybody's has such a name.
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] => *trace = None,
        _ => t.state = rest.into(),
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_context_arrives_as_it_was_sent() {
        let own = |state: &str| Trace { id: [1; 16], parent: [2; 8], flags: 1, state: state.into() };
        for state in ["", "a=1", "kumi=2,b=3"] {
            let (comma, rest) = if state.is_empty() { ("", "") } else { (",", state) };
            let mut came = Some(Box::new(own(&format!("{VENDOR}77{comma}{rest}"))));
            assert_eq!((number(&mut came), came.as_deref()), (77, Some(&own(state))));
        }
        // One that has nothing but a number is not there at all; whatever else comes is no number.
        let none = |state: &str| Some(Box::new(Trace { id: [0; 16], parent: [0; 8], flags: 0, state: state.into() }));
        let mut came = none("kumi-record=5");
        assert!(number(&mut came) == 5 && came.is_none() && number(&mut came) == 0);
        for state in ["kumi-record=", "kumi-record=-1", "kumi-record=99999999999999999999", "kumi-recor", "x=1"] {
            assert_eq!(number(&mut none(state)), 0, "{state}");
        }
    }
}
