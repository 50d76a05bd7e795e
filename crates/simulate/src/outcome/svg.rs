//! A timeline as SVG, which follows the reader's light or dark.

use super::timeline::{Doing, Timeline};
use crate::Time;
use kumi_schedule::Mode;
use std::fmt::Write;

const WIDTH: u64 = 1200;
const LEFT: u64 = 80;
const TOP: u64 = 56;
const ROW: u64 = 18;
const BAR: u64 = 12;

/// Classes, colours in the light and in the dark, and what they are called. Idle is the ground.
const COLOURS: [(Doing, &str, &str, &str, &str); 5] = [
    (Doing::Active, "a", "#2f6fb0", "#6aa8e8", "active"),
    (Doing::Speculative, "s", "#9dbfe0", "#3c638c", "speculative"),
    (Doing::Idle, "i", "#e3e3e3", "#3a3a3a", "idle"),
    (Doing::Collecting, "g", "#c2410c", "#f59e5b", "collection"),
    (Doing::Overhead, "o", "#7a5195", "#b794d6", "overhead"),
];

fn class(doing: Doing) -> &'static str {
    COLOURS.iter().find(|c| c.0 == doing).map_or("", |c| c.1)
}

impl Timeline {
    /// A picture: a row for each node, collections on top with what they were decided by as tooltips, messages where they are few.
    pub fn svg(&self, title: &str) -> String {
        let end = self.end.max(1);
        let x = |t: Time| LEFT as f64 + (WIDTH - LEFT - 40) as f64 * t.min(end) as f64 / end as f64;
        let y = |n: u32| TOP + n as u64 * ROW;
        let height = y(self.nodes) + 40;
        let mut out = String::new();
        let _ = write!(out, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">"#);
        out.push_str("\n<style>\nsvg { background: #ffffff; font: 12px sans-serif } text { fill: #1c1c1c } .m { stroke: #00000030 } .f { fill: none; stroke: #1c1c1c }\n");
        for (_, class, light, _, _) in COLOURS {
            let _ = writeln!(out, ".{class} {{ fill: {light} }}");
        }
        out.push_str("@media (prefers-color-scheme: dark) {\nsvg { background: #181818 } text { fill: #e8e8e8 } .m { stroke: #ffffff30 } .f { stroke: #e8e8e8 }\n");
        for (_, class, _, dark, _) in COLOURS {
            let _ = writeln!(out, ".{class} {{ fill: {dark} }}");
        }
        out.push_str("}\n</style>\n");
        let cut = if self.cut { ", not all of it kept" } else { "" };
        let some = if self.nodes < self.of { format!(", the first {} of {} nodes", self.nodes, self.of) } else { String::new() };
        let _ = writeln!(out, r#"<text x="{LEFT}" y="18" font-weight="bold">{} (simulated{some}{cut})</text>"#, escape(title));
        let mut at = LEFT;
        for (_, class, _, _, name) in COLOURS {
            let _ = writeln!(
                out,
                r#"<rect class="{class}" x="{at}" y="28" width="12" height="12"/><text x="{}" y="38">{name}</text>"#,
                at + 16
            );
            at += 30 + 8 * name.len() as u64;
        }
        for n in 0..self.nodes {
            let _ = writeln!(out, r#"<text x="{}" y="{}" text-anchor="end">node {n}</text>"#, LEFT - 8, y(n) + 10);
        }
        self.bars(&mut out, &x, &y);
        if self.messages.len() <= 2000 {
            for &(from, a, to, b) in &self.messages {
                let (ya, yb) = (y(from) + BAR / 2, y(to) + BAR / 2);
                let _ = writeln!(out, r#"<line class="m" x1="{:.2}" y1="{ya}" x2="{:.2}" y2="{yb}"/>"#, x(a), x(b));
            }
        }
        for c in &self.collections {
            let i = &c.seen.kinds[1];
            let why = match (c.sliced, c.ordered, c.orders) {
                (true, ..) => "in slices",
                (_, true, _) => "ordered",
                (_, _, true) => "orders all",
                _ => "alone",
            };
            let mode = if c.mode == Mode::Synchronised { "synchronised" } else { "independent" };
            let _ = writeln!(
                out,
                r#"<rect class="f" x="{:.2}" y="{}" width="{:.2}" height="{BAR}"><title>{why}, {mode}; at {} ms for {} ms; A {} KB of H {} KB; n {}, L {} ms, used {:.2}, useful {:.2}</title></rect>"#,
                x(c.at),
                y(c.node),
                if c.sliced { 1.0 } else { (x(c.at.saturating_add(c.took)) - x(c.at)).max(0.5) },
                c.at / 1_000_000,
                c.took / 1_000_000,
                c.seen.heap.allocated / 1024,
                c.seen.heap.size / 1024,
                i.idle_periods,
                i.length / 1_000_000,
                i.utilisation(),
                i.useful()
            );
        }
        for tenth in 0..=10 {
            let t = end / 10 * tenth;
            let _ =
                writeln!(out, r#"<text x="{:.1}" y="{}" text-anchor="middle">{:.2} s</text>"#, x(t), y(self.nodes) + 18, t as f64 / 1e9);
        }
        out.push_str("</svg>\n");
        out
    }
    /// What each node did. A span that is thinner than a third of a unit is left to what is around it, which is drawn over it.
    fn bars(&self, out: &mut String, x: &impl Fn(Time) -> f64, y: &impl Fn(u32) -> u64) {
        for n in 0..self.nodes {
            let _ = writeln!(out, r#"<rect class="i" x="{LEFT}" y="{}" width="{}" height="{BAR}"/>"#, y(n), WIDTH - LEFT - 40);
            let mut drawn = 0.0;
            for &(_, doing, from, to) in self.spans.iter().filter(|s| s.0 == n && s.1 != Doing::Idle) {
                let (a, b) = (x(from).max(drawn), x(to));
                if b - a >= 0.33 {
                    let _ =
                        writeln!(out, r#"<rect class="{}" x="{a:.2}" y="{}" width="{:.2}" height="{BAR}"/>"#, class(doing), y(n), b - a);
                    drawn = b;
                }
            }
        }
    }
}

fn escape(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).fold(String::new(), |mut out, c| {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
        out
    })
}
