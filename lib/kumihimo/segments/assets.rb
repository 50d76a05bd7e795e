# frozen_string_literal: true

module Kumihimo
  module Segments
    # What a browser gets of a node's page.
    module Assets
      PAGEHTML = <<~'HTML'
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>kumi</title>
        <link rel="stylesheet" href="/page.css">
        <header><h1 id="node">kumi</h1><span id="state">connecting</span></header>
        <main>
          <section class="figures">
            <div><b id="segments">0</b>segments under <b id="keys">0</b> keys</div>
            <div><b id="leased">0</b>leased, <b id="delayed">0</b> later</div>
            <div><b id="waiting">0</b>requests wait, <b id="puts">0</b> puts</div>
            <div><b id="running">0</b>code segments run, <b id="ready">0</b> ready, <b id="code">0</b> wait</div>
            <div><b id="memory">0</b>MB, <b id="live">0</b> live</div>
            <div><b id="full">0</b>full, <b id="young">0</b> young collections, longest <b id="longest">0</b> ms</div>
          </section>
          <section class="chart"><h2>A second: <i class="in">entered <b id="entered">0</b></i> <i class="out">taken <b id="taken">0</b></i></h2>
            <svg id="rates" viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="Segments that entered and were taken, each second of the last two minutes"></svg></section>
          <section><h2>Dead letters</h2><div id="dead"></div></section>
          <section><h2>Nodes</h2><div id="nodes"></div></section>
          <section id="schedule" hidden><h2>Collections: <b id="policy"></b>, full <b id="full_mode"></b>, young <b id="young_mode"></b>; <b id="ordered">0</b> by order, <b id="idle">0</b> ms idle</h2>
            <svg id="timeline" viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="Of the last minute, from above: full and young collections, and when something was decided; idle time; messages"></svg>
            <div id="decisions"></div></section>
          <section id="remote" hidden><h2>Objects: <b id="exports">0</b> of this node are held by others, <b id="imports">0</b> of others by this one</h2>
            <svg id="links" viewBox="0 0 640 400" role="img" aria-label="Which node has references to how many objects of which other one"></svg></section>
          <section><h2>Keys</h2><input id="part" type="search" placeholder="part of a name" aria-label="part of a name"><div id="table"></div></section>
        </main>
        <script src="/page.js"></script>
        </html>
      HTML

      PAGECSS = <<~'CSS'
        :root { color-scheme: light dark; --in: #1a7f5a; --out: #b4541a; --line: #8884 }
        @media (prefers-color-scheme: dark) { :root { --in: #5fd3a6; --out: #f0a06a } }
        body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70em; padding: 1em }
        header { display: flex; align-items: baseline; gap: 1em } h1 { font-size: 1.6em; margin: 0 } h2 { font-size: 1.05em; margin: 1.5em 0 .5em }
        #state { opacity: .7 } #state.lost { color: #c33; opacity: 1; font-weight: bold }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(14em, 1fr)); gap: .5em 2em; margin-top: 1em }
        .figures div { border-top: 1px solid var(--line); padding-top: .25em } .figures div > b:first-child { font-size: 1.5em; display: block }
        i { font-style: normal; margin-left: 1em } .in { color: var(--in) } .out { color: var(--out) }
        svg { width: 100%; height: 120px; border-bottom: 1px solid var(--line) } polyline { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke }
        #timeline { height: 120px } #timeline .full { fill: var(--out) } #timeline .young { fill: var(--in) } #timeline .idle, #timeline .messages { fill: var(--line) } #timeline line { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke }
        #links { height: auto; max-width: 44em; display: block; border: 0 } #links circle { fill: Canvas; stroke: currentColor } #links .own circle { stroke: var(--in); stroke-width: 2.5 }
        #links text { font-size: 13px; text-anchor: middle; dominant-baseline: middle; fill: currentColor } #links path { fill: none; stroke: var(--out); opacity: .75 }
        #links marker path { fill: var(--out); stroke: none } #links .count { fill: var(--out); paint-order: stroke; stroke: Canvas; stroke-width: 4px }
        table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .2em .75em .2em 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
        .n { text-align: right; white-space: nowrap } button { margin-right: .5em } input { margin-bottom: .5em; padding: .25em .5em; width: 20em; max-width: 100% }
      CSS

      PAGEJS = <<~'JS'
        "use strict";
        const $ = id => document.getElementById(id);
        const past = { entered: [], taken: [] };
        let source, part = "";

        function text(tag, content, cls) {
          const e = document.createElement(tag);
          e.textContent = content;
          if (cls) e.className = cls;
          return e;
        }
        // Rows of cells; numbers stand to the right. What was there is replaced only where it differs.
        function table(where, heads, rows, none) {
          const made = JSON.stringify([heads, rows.map(r => r.cells)]);
          if (where.made === made) return;
          where.made = made;
          where.replaceChildren();
          if (!rows.length) return where.append(text("p", none));
          const t = document.createElement("table"), head = t.insertRow();
          heads.forEach(h => head.append(text("th", h[0], h[1])));
          rows.forEach(row => {
            const r = t.insertRow();
            row.cells.forEach((c, i) => r.append(text("td", c ?? "", heads[i][1])));
            if (row.buttons) {
              const td = r.insertCell();
              row.buttons.forEach(b => td.append(b));
            }
          });
          where.append(t);
        }
        const number = n => n == null ? "" : n.toLocaleString("en");
        const some = n => n ? number(n) : "";
        const mb = n => (n / 1048576).toFixed(n < 10485760 ? 1 : 0);

        function button(what, path, letter) {
          const b = text("button", what);
          b.onclick = async () => {
            b.disabled = true;
            const answer = await fetch(path, { method: "POST", body: new URLSearchParams({ key: letter.key, index: letter.index }) });
            if (!answer.ok) b.textContent = "it is gone";
          };
          return b;
        }
        function chart() {
          const top = Math.max(1, ...past.entered, ...past.taken);
          const line = (values, color) => {
            const p = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
            p.setAttribute("points", values.map((v, i) => `${600 - (values.length - 1 - i) * 5},${116 - v / top * 112}`).join(" "));
            p.style.stroke = `var(--${color})`;
            return p;
          };
          $("rates").replaceChildren(line(past.entered, "in"), line(past.taken, "out"));
        }
        function svg(tag, attributes, content) {
          const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
          for (const name in attributes) e.setAttribute(name, attributes[name]);
          if (content != null) e.textContent = content;
          return e;
        }
        // Nodes on a circle; an arrow from whoever has references to whose objects they name, the broader the more.
        function links(s) {
          $("remote").hidden = !s.remote;
          if (!s.remote) return;
          $("exports").textContent = number(s.remote.exports);
          $("imports").textContent = number(s.remote.imports);
          const where = $("links"), made = JSON.stringify([s.node, s.nodes.map(n => n.name), s.remote.links]);
          if (where.made === made) return;
          where.made = made;
          const names = [...new Set([...s.nodes.map(n => n.name), ...s.remote.links.flatMap(l => [l.from, l.to])])].sort(), at = {};
          const arrow = svg("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 11, markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto" });
          arrow.append(svg("path", { d: "M0,0L10,5L0,10z" }));
          where.replaceChildren(arrow);
          names.forEach((name, i) => {
            const turn = 2 * Math.PI * i / names.length - Math.PI / 2;
            at[name] = { x: 320 + 230 * Math.cos(turn), y: 200 + 150 * Math.sin(turn) };
          });
          for (const { from, to, objects } of s.remote.links) {
            const a = at[from], b = at[to], long = Math.hypot(b.x - a.x, b.y - a.y) || 1, x = (b.x - a.x) / long, y = (b.y - a.y) / long;
            // Each way has a side of its own.
            const mid = { x: (a.x + b.x) / 2 - y * 26, y: (a.y + b.y) / 2 + x * 26 };
            const path = svg("path", { d: `M${a.x + x * 34 - y * 8},${a.y + y * 34 + x * 8}Q${mid.x},${mid.y} ${b.x - x * 36 - y * 8},${b.y - y * 36 + x * 8}`,
              "stroke-width": 1 + Math.min(5, Math.log10(objects)), "marker-end": "url(#arrow)" });
            path.append(svg("title", {}, `${from} has references to ${number(objects)} objects of ${to}`));
            where.append(path, svg("text", { class: "count", x: mid.x, y: mid.y }, number(objects)));
          }
          names.forEach(name => {
            const node = svg("g", name === s.node ? { class: "own" } : {}), { x, y } = at[name];
            node.append(svg("circle", { cx: x, cy: y, r: 30 }), svg("text", { x, y }, name.length > 9 ? name.slice(0, 8) + "…" : name), svg("title", {}, name));
            where.append(node);
          });
        }
        // The last minute: collections by how long they took, young ones below; a line where something was decided. Under them the idle part
        // of each quarter of a second, and how many messages there were, beside the most.
        function schedule(s) {
          $("schedule").hidden = !s.schedule;
          if (!s.schedule) return;
          const c = s.schedule, minute = 60000;
          $("policy").textContent = c.policy;
          for (const kind of ["full", "young"]) $(`${kind}_mode`).textContent = c[kind].mode;
          $("ordered").textContent = number(c.ordered);
          $("idle").textContent = number(Math.round(c.idle_ms));
          const marks = c.events.filter(e => e.ago_ms < minute).map(e => {
            const x = 600 - (e.ago_ms + e.ms) / minute * 600, full = e.kind === "full";
            const mark = e.what === "collected"
              ? svg("rect", { x, y: full ? 2 : 28, width: Math.max(1, e.ms / minute * 600), height: 22, class: full ? "full" : "young" })
              : svg("line", { x1: x, x2: x, y1: 0, y2: 52 });
            mark.append(svg("title", {}, e.text));
            return mark;
          });
          const { ms, parts } = c.timeline, width = ms / minute * 600, most = Math.max(1, ...parts.map(p => p[6] + p[7]));
          const bar = (ago, part, base, what, text) => {
            const height = Math.min(1, part) * 30, mark = svg("rect", { x: 600 - (ago + 1) * width, y: base - height, width: width * 0.9, height, class: what });
            mark.append(svg("title", {}, text));
            return mark;
          };
          for (const [ago, idle, periods, speculative, young, full, sent, heard] of parts) {
            if (idle) marks.push(bar(ago, idle / ms, 86, "idle", `${idle} ms idle in ${number(periods)} periods`));
            if (sent + heard) marks.push(bar(ago, (sent + heard) / most, 120, "messages", `${number(sent)} messages sent, ${number(heard)} came`));
          }
          $("timeline").replaceChildren(...marks);
          table($("decisions"), [["ago, s", "n"], ["what"], ["with what was seen"]],
            c.events.filter(e => e.what !== "collected").slice(0, 8).map(e => ({ cells: [(e.ago_ms / 1000).toFixed(1), e.what.replace("_", " "), e.text] })),
            "Nothing was decided yet.");
        }
        function nodes(s) {
          const row = n => n.own ? "this one" : n.us == null ? "no answer" : `${number(n.us)} us`;
          const heads = [["node"], ["round trip", "n"]], other = {};
          s.remote?.nodes.forEach(n => other[n.node] = [n.holds, n.held, n.calls, n.called].map(some));
          if (s.remote) heads.push(["holds of ours", "n"], ["we hold of it", "n"], ["our calls", "n"], ["its calls", "n"]);
          table($("nodes"), heads, s.nodes.map(n => ({ cells: [n.name, row(n), ...(s.remote ? other[n.name] ?? ["", "", "", ""] : [])] })),
            "This program is no node of a cluster.");
        }
        function show(s) {
          document.title = `${s.node} - kumi`;
          $("node").textContent = s.node;
          $("state").textContent = s.ready ? "ready" : "not ready";
          $("state").className = "";
          const set = { segments: s.sum.segments, keys: s.sum.keys, leased: s.sum.leased, delayed: s.sum.delayed, waiting: s.sum.waiting,
            puts: s.sum.waiting_puts, running: s.code.running, ready: s.code.ready, code: s.code.waiting, full: s.gc.full, young: s.gc.young,
            longest: s.gc.longest_ms, entered: s.rates.entered, taken: s.rates.taken };
          for (const id in set) $(id).textContent = number(set[id]);
          $("memory").textContent = mb(s.memory);
          $("live").textContent = mb(s.gc.live);
          for (const what of ["entered", "taken"]) {
            past[what].push(s.rates[what]);
            if (past[what].length > 121) past[what].shift();
          }
          chart();
          nodes(s);
          schedule(s);
          links(s);
          table($("table"), [["key"], ["segments", "n"], ["leased", "n"], ["later", "n"], ["wait", "n"], ["puts wait", "n"], ["last index", "n"], ["limit", "n"]],
            s.keys.map(k => ({ cells: [k.key, ...[k.segments, k.leased, k.delayed, k.waiting, k.waiting_puts, k.last_index, k.limit].map(some)] })), "none");
          table($("dead"), [["key"], ["error"], ["inputs"], ["tries", "n"], [""]].slice(0, s.dead.length ? 5 : 0),
            s.dead.map(d => ({ cells: [d.key, d.error, d.inputs, number(d.tries)],
              buttons: [...(d.returns ? [button("put back", "/put_back", d)] : []), button("forget", "/forget", d)] })), "none");
        }
        function listen() {
          source?.close();
          source = new EventSource(`/events?part=${encodeURIComponent(part)}`);
          source.onmessage = e => show(JSON.parse(e.data));
          source.onerror = () => { $("state").textContent = "no answer"; $("state").className = "lost"; };
        }
        let later;
        $("part").oninput = e => { clearTimeout(later); later = setTimeout(() => { part = e.target.value; listen(); }, 300); };
        listen();
      JS
    end
    private_constant :Assets
  end
end
