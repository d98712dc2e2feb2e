// Gives a report in HTML its looks: colours by what they mean, in a light and a dark palette, and on paper.
#pragma once

#include <string_view>

namespace qps::transport {

// Contrast of text to ground is 4.5 and more in both palettes (tests/transport-replay/page).
inline constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --text: #1c2329; --soft: #5a6670; --line: #dde2e6; --raised: #f5f7f8;
  --fail: #b3261e; --inconclusive: #8a5a00; --deviation: #5b4bb0; --pass: #1a7f4b; --none: #5f6a72; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --text: #e4e8eb; --soft: #9aa5ad; --line: #2d353b; --raised: #1c2226;
  --fail: #ff8a80; --inconclusive: #f0b94d; --deviation: #b3a8ff; --pass: #5fd39a; --none: #8d979e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); } code, .id, pre { font-family: ui-monospace, monospace; }
.counts { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
.counts li { flex: 1 1 8rem; padding: .6rem .9rem; background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; } dt { color: var(--soft); } dd { margin: 0; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .4rem 0; background: var(--raised); }
summary { display: grid; grid-template-columns: 4.5rem 11rem 1fr; gap: .75rem; padding: .5rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
details > div { padding: .1rem .9rem .7rem; border-top: 1px solid var(--line); }
pre { overflow-x: auto; padding: .6rem; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
.id { white-space: nowrap; } h1, h2, dd { overflow-wrap: anywhere; }
.verdict { font-weight: 600; } .fail { color: var(--fail); } .inconclusive { color: var(--inconclusive); }
.deviation { color: var(--deviation); } .pass { color: var(--pass); } .none { color: var(--none); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 500; }
@media (max-width: 40rem) { summary { grid-template-columns: 1fr; gap: 0; } }
@media print { details { break-inside: avoid; } }
)";

}  // namespace qps::transport
