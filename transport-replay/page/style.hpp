// What a report with pictures looks like beside what all reports share, and its one script, without which it can be
// read as well.
#pragma once

#include <string_view>

namespace qps::transport::page {

// What reports with pictures have beside report/page_style.hpp.
inline constexpr std::string_view kPictureStyle = R"(
:root { --data: #2f6fb3; --again: #b3261e; --mark: #8a5a00; --reply: #1a7f4b; --cnp: #7a3e9d; --acked: #1c2329; }
@media (prefers-color-scheme: dark) { :root { --data: #7db4ea; --again: #ff8a80; --mark: #f0b94d; --reply: #5fd39a; --cnp: #cf9bf0; --acked: #e4e8eb; } }
h1 { font-size: 1.3rem; line-height: 1.35; } h3 { font-size: .95rem; margin: 1.25rem 0 .25rem; font-weight: 600; }
.finding summary { grid-template-columns: 4.5rem 15rem 1fr; } .advice { margin: .6rem 0; padding-left: .8rem; border-left: 3px solid var(--pass); }
figure { margin: .6rem 0; } svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; fill: var(--text); }
svg .axis { stroke: var(--line); stroke-width: 1; fill: none; } svg .soft { fill: var(--soft); } svg .data { fill: var(--data); } svg .again { fill: var(--again); }
svg .mark { fill: var(--mark); } svg .reply { fill: var(--reply); } svg .cnp { fill: var(--cnp); } svg .acked { stroke: var(--acked); stroke-width: 1; fill: none; } svg .arrow { stroke: var(--data); stroke-width: 1.5; fill: none; }
svg .arrow.again { stroke: var(--again); fill: none; } svg .mono { font-family: ui-monospace, monospace; }
figcaption { color: var(--soft); font-size: .85rem; } figcaption b { font-weight: 600; }
figcaption .data { color: var(--data); } figcaption .again { color: var(--again); } figcaption .mark { color: var(--mark); }
figcaption .reply { color: var(--reply); } figcaption .cnp { color: var(--cnp); } figcaption .acked { color: var(--acked); }
.each { margin: .6rem 0; padding-left: 1.1rem; } .each li { margin: .3rem 0; overflow-wrap: anywhere; }
.also { margin: .8rem 0; padding-top: .5rem; border-top: 1px dashed var(--line); } .also .line { display: grid; grid-template-columns: 4.5rem 15rem 1fr; gap: .75rem; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } th.sorted::after { content: " \25BE"; }
.sortable th { cursor: default; } .js .sortable th { cursor: pointer; }
@media (max-width: 40rem) { .finding summary, .also .line { grid-template-columns: 1fr; gap: 0; } svg { font-size: 22px; } svg .between { display: none; }
  .ladder { overflow-x: auto; } .ladder svg { width: 1040px; font-size: 11px; } dl { grid-template-columns: 1fr; } dd { margin: 0 0 .4rem; } }
@media print { :root { --ground: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb; --raised: #ffffff; --fail: #8c1d18; --inconclusive: #6b4600; --none: #444444;
  --data: #1f4f82; --again: #8c1d18; --mark: #6b4600; --reply: #12623a; --cnp: #5b2a78; --acked: #000000; } main { max-width: none; padding: 0; } body { font-size: 10pt; }
  details { border: 0; border-top: 1px solid var(--line); border-radius: 0; break-inside: auto; } figure, tr, dl { break-inside: avoid; }
  h2, h3, summary, .advice { break-after: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } @page { margin: 15mm; } }
)";

// Tables can be sorted by a click where scripts run; without them they are in the order that matters most.
inline constexpr std::string_view kSorting = R"(
document.documentElement.classList.add("js");
for (const table of document.querySelectorAll(".sortable")) table.tHead.rows[0].onclick = event => {
  const th = event.target.closest("th"); if (!th) return;
  const at = th.cellIndex, body = table.tBodies[0], down = !th.classList.contains("sorted");
  const key = row => { const cell = row.cells[at]; return cell.dataset.n === undefined ? cell.textContent : Number(cell.dataset.n); };
  const rows = [...body.rows].sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (typeof x === "number" && down ? -1 : 1); });
  for (const each of table.tHead.rows[0].cells) each.classList.toggle("sorted", each === th && down);
  body.append(...rows);
};
)";

}  // namespace qps::transport::page
