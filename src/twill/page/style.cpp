#include "twill/page/print.h"

namespace twill::page {

const char* const kStyle = R"CSS(
:root{color-scheme:light dark;--bg:#f7f6f3;--panel:#fff;--ink:#1d1c1a;--muted:#66625c;--line:#dedad3;--row:#f1efeb;--unit:#e9e6e0;--last:#c62f2f;--proven:#2d6a4f;--simulated:#3454b4;--model:#8a5a00;--measured:#8b2f7d;--strength:.34;--faint:.15}
.c0{--c:#3d62c4}.c1{--c:#2f9a58}.c2{--c:#d9822b}.c3{--c:#9353c9}.c4{--c:#c93f5f}.c5{--c:#1698a5}.c6{--c:#8a6a3c}.c7{--c:#6f7d8c}.c8{--c:#b4a018}.c9{--c:#d160ab}.none,.kept{--c:#8b8a88}
@media screen and (prefers-color-scheme:dark){:root{--bg:#131417;--panel:#1b1d21;--ink:#e9e7e3;--muted:#a09c95;--line:#34373d;--row:#212429;--unit:#292c33;--last:#ff7b72;--proven:#6fcf97;--simulated:#8fb0ff;--model:#e9b44c;--measured:#e29bd7;--strength:.5;--faint:.24}
.c0{--c:#6f92f2}.c1{--c:#4fc07c}.c2{--c:#f0a04b}.c3{--c:#b585ea}.c4{--c:#f0708c}.c5{--c:#3fc0cc}.c6{--c:#bf9a63}.c7{--c:#94a3b3}.c8{--c:#d8c544}.c9{--c:#ec8ecb}.none,.kept{--c:#8f8f8f}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
main,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{padding:26px 0 4px}
.brand{margin:0;color:var(--muted);font:600 12px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;letter-spacing:.04em}
h1{margin:2px 0;font-size:30px;line-height:1.2;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{margin:0 0 12px;font-size:17px;font-weight:650}
h3{margin:18px 0 8px;font-size:14px;font-weight:650}
.headline{margin:0 0 12px;color:var(--muted)}
.about{display:flex;flex-wrap:wrap;gap:6px 26px;margin:0 0 10px}
.about div{min-width:0}
dt{color:var(--muted);font-size:12px}
dd{margin:0;overflow-wrap:anywhere}
section{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:14px 0}
small,.note,.legend,.detail{font-size:12.5px;color:var(--muted)}
.note{margin:10px 0 0;max-width:90ch}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(170px,1fr));gap:12px}
.card{display:flex;flex-direction:column;border-left:4px solid var(--k);padding:2px 0 2px 12px}
.card.proven,.mark.proven{--k:var(--proven)}.card.simulated,.mark.simulated{--k:var(--simulated)}.card.model,.mark.model{--k:var(--model)}.card.measured,.mark.measured{--k:var(--measured)}
.who{font-weight:600}
.cycles b{font-size:27px;font-weight:650;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.basis{color:var(--k);font-size:12.5px;font-weight:600}
svg{display:block;overflow:hidden}
svg text{font-size:11.5px;fill:var(--ink)}
.scale{margin:16px 0 0}
.scale .row,.lanes .row,.fill-bar .row,.mini .row{fill:var(--row)}
.lanes .row.unit{fill:var(--unit)}
.mark{fill:var(--k);fill-opacity:var(--strength)}
.limit{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}
.gap{margin:12px 0 0}
.chart{display:flex}
.names{flex:none;padding-top:24px;width:148px}
.name{height:34px;display:flex;flex-direction:column;justify-content:center;line-height:1.15;padding:0 8px;overflow:hidden;white-space:nowrap}
.name b{font:600 12.5px/1.2 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;overflow:hidden;text-overflow:ellipsis}
.name small{font-size:11px}
.name.unit{background:var(--unit)}
.scroll{flex:1;min-width:0;overflow-x:auto}
.lanes{min-width:700px}
.row{stroke:var(--panel)}
.axis{fill:var(--muted);font-size:11px}
.grid{stroke:var(--line)}
.border{stroke:var(--ink);stroke-width:1.2;stroke-opacity:.55}
.bar .fill{fill:var(--c);fill-opacity:var(--strength)}
.bar.odd .fill{fill-opacity:var(--faint)}
.bar .fill.solid{fill-opacity:.62}
.bar .edge{fill:var(--c)}
.bar text,.lanes text.axis,.fill-bar text,.mini{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.it{fill:var(--muted);font-size:10px}
.bar.wait .fill{fill:url(#hatch);fill-opacity:1}
.bar.wait text{fill:var(--muted)}
.wide{display:none}
.hatch{fill:var(--muted);fill-opacity:.22}
.tick line{stroke:var(--c);stroke-width:2}
.arrow line{stroke:var(--muted);stroke-width:1.1;stroke-opacity:.5}
.arrow.last line{stroke:var(--last);stroke-width:1.6;stroke-opacity:.95}
.tip{fill:var(--muted)}
.tip.last{fill:var(--last)}
.lit .fill{stroke:var(--ink);stroke-width:1.6}
.lit.tick line{stroke-width:4}
.lit.arrow line{stroke-width:2.6;stroke-opacity:1}
tr.lit td{background:var(--row)}
.edge path{fill:none;stroke:var(--muted);stroke-opacity:.7}
.edge.crosses path{stroke:var(--ink);stroke-width:1.6;stroke-opacity:.85}
.edge.later path{stroke-dasharray:5 4}
.node .fill{stroke:var(--c)}
.ground{fill:var(--panel)}
.lit.edge path{stroke-width:2.8;stroke-opacity:1}
.graph{margin:0 auto}
.graph text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.role{font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 8px}
.key{white-space:nowrap}
.key::before{content:"";display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px;background:var(--c);vertical-align:-1px}
.detail{min-height:3.2em;margin:8px 0 0;white-space:pre-line;color:var(--ink);background:var(--row);border-radius:6px;padding:6px 10px}
.fill-row{display:grid;grid-template-columns:104px 1fr 104px;gap:10px;align-items:center;margin:4px 0}
.fill-name{line-height:1.15}
.fill-name b{font:600 12.5px/1.2 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.fill-name small{margin-left:6px;font-size:11px}
.fill-total{font-variant-numeric:tabular-nums;font-size:13px;white-space:nowrap}
.levels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:22px 26px}
.level{margin:0;min-width:0}
figcaption{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;margin-bottom:4px}
.stack{background:var(--row);border-radius:4px}
.ends{display:flex;justify-content:space-between;font-size:11px;color:var(--muted)}
.layers{list-style:none;margin:6px 0 0;padding:0;font-size:12.5px}
.layers li{display:grid;grid-template-columns:minmax(0,124px) 66px 1fr;gap:8px;padding:1px 0}
.layers .key{white-space:normal;overflow-wrap:anywhere}
.layers small{line-height:1.35;align-self:center}
.layers b{font-weight:600;text-align:right;font-variant-numeric:tabular-nums}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.lines{white-space:pre-line}
a{color:inherit;text-decoration-color:var(--muted)}
.module{overflow-x:auto;counter-reset:line;font:11.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;margin:8px 0 0}
.module span{display:block;min-height:1.5em;width:max-content;min-width:100%}
.module span::before{counter-increment:line;content:counter(line);display:inline-block;width:4ch;margin-right:1.5ch;text-align:right;color:var(--muted)}
.module :target{background:var(--row);outline:1px solid var(--line)}
#strategies td:last-child{white-space:nowrap}#strategies td:first-child{min-width:180px}#changes td:first-child{min-width:150px}
td small{display:block;font-weight:400}
th.n,td.n{text-align:right;padding-right:24px;font-variant-numeric:tabular-nums;white-space:nowrap}
th button{all:unset;cursor:pointer;font-weight:600;color:var(--muted);white-space:nowrap}
th button:focus-visible{outline:2px solid var(--simulated);outline-offset:2px}
th[aria-sort] button{color:var(--ink)}
th[aria-sort=ascending] button::after{content:" \2191"}
th[aria-sort=descending] button::after{content:" \2193"}
.mini{display:inline-block;margin-left:8px}
.mini .mine{fill:var(--simulated)}.mini .other{fill:var(--muted)}
.core{margin:6px 0}
.facts{display:grid;grid-template-columns:minmax(90px,max-content) 1fr;gap:4px 18px;margin:0}
.facts dt{font-size:13px}
details{margin:10px 0 0}
summary{cursor:pointer;color:var(--muted)}
ul{padding-left:20px;margin:8px 0}
footer{padding-top:6px;padding-bottom:30px;color:var(--muted);font-size:12.5px}
.defs{position:absolute}
@media screen and (min-width:1180px){.wide{display:inline}}
@media (max-width:640px){.page{display:none}main,footer{padding:0 10px}section{padding:14px 12px;border-radius:8px}h1{font-size:24px}.names{width:86px}.name small{display:none}.name{padding:0 6px}.cards{grid-template-columns:1fr 1fr}.cycles b{font-size:21px}.card small:last-child{display:none}.cycles small{display:inline!important}.fill-row{grid-template-columns:64px 1fr 82px;gap:6px}.fill-name small{display:none}.facts{grid-template-columns:1fr}.facts dd{margin-bottom:8px}}
@media print{:root{--bg:#fff;--panel:#fff;--ink:#000;--muted:#444;--line:#ccc;--row:#f4f4f4;--unit:#eaeaea;--last:#c00;--strength:.34;--faint:.15}body{font-size:11px}section{break-inside:avoid;border-color:#ccc}#operations,#changes,#basis,#memory{break-inside:auto}tr,figure{break-inside:avoid}.detail,.screen{display:none}.levels{grid-template-columns:1fr 1fr}.lanes{min-width:0}.scroll,.table{overflow:visible}.graph{max-width:100%;height:auto}table{font-size:10px}th,td,th.n,td.n{padding-right:8px}td.lines{overflow-wrap:anywhere}td small{font-size:10px}th button{white-space:normal}#strategies td:last-child{white-space:normal}#strategies td:first-child,#changes td:first-child{min-width:0}.module span{white-space:pre-wrap;overflow-wrap:anywhere;width:auto}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}th button::after{content:""!important}}
)CSS";

}  // namespace twill::page
