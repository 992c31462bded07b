"""A film as one HTML page that needs nothing else: step through the game by keys or buttons.

The drawings of neighbouring frames are almost equal. So the page holds each different part of all drawings once, and
for each frame the numbers of its parts.
"""

import html
import json
import re

from fivedice.agents.reports.film import Film, Frame
from fivedice.envs.display.drawing import font_style
from fivedice.envs.display.svg import HEIGHT

PARTS = re.compile(r"(?=<g )|(?<=</g>)")  # where drawings are cut; together, the parts are the drawing again
HEADER, FOOTER = 48, 36  # the heights of the drawing that a narrow page writes as text

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.45 "Fivedice Sans", system-ui, sans-serif; color: #24292b; background: #f6f2e8; margin: 0; }
main { max-width: 1180px; margin: 0 auto; padding: .8rem; display: grid; gap: .8rem; grid-template-columns: 1fr; }
h1 { font-size: 1.15rem; margin: 0; grid-column: 1 / -1; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; display: block; border-radius: 8px; }
#right { display: none; }
nav { display: flex; gap: .4rem; align-items: center; flex-wrap: wrap; margin: .5rem 0; }
button { font: inherit; min-width: 2.75rem; min-height: 2.75rem; border: 1px solid #8a8370; border-radius: 8px;
  background: #fffdf6; cursor: pointer; }
button:focus-visible, input:focus-visible { outline: 3px solid #2a7de1; outline-offset: 1px; }
input[type=range] { flex: 1 1 8rem; min-height: 2rem; }
#said { margin: .3rem 0; min-height: 1.5em; font-weight: bold; }
table { border-collapse: collapse; width: 100%; } td { padding: .15rem .3rem; border-bottom: 1px solid #ddd4bf; }
td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
tr.chosen { font-weight: bold; background: #fbe3a6; }
ol { margin: 0; padding: 0; list-style: none; max-height: 22rem; overflow: auto; border: 1px solid #ddd4bf; }
ol button { display: block; width: 100%; min-height: 0; text-align: left; border: 0; border-radius: 0;
  background: none; padding: .25rem .5rem; }
ol [aria-current] { background: #fbe3a6; font-weight: bold; }
.note { color: #5c6468; font-size: .9rem; margin: .2rem 0; }
@media (min-width: 621px) { #said { position: absolute; left: -100vw; } }
@media (min-width: 1000px) { main { grid-template-columns: minmax(0, 800px) 1fr; } }
@media (max-width: 620px) {
  main { padding: .4rem; }
  #right { display: block; max-width: 17rem; margin: .4rem auto 0; }
  #keys { display: none; }
}
"""

SCRIPT = """
"use strict";
const film = JSON.parse(document.getElementById("film").textContent);
const byId = (id) => document.getElementById(id);
const narrow = matchMedia("(max-width: 620px)");
let at = 0, timer = null;
const svgOf = (frame) => frame.parts.map((part) => film.parts[part]).join("");
function show(number, jump) {
  at = Math.max(0, Math.min(film.frames.length - 1, number));
  const frame = film.frames[at];
  byId("left").innerHTML = svgOf(frame);
  byId("right").innerHTML = "";
  const svg = byId("left").firstElementChild, split = Number(svg.dataset.split);
  if (narrow.matches && split < svg.width.baseVal.value) {
    const height = film.height - film.header - film.footer, right = svg.cloneNode(true);
    byId("right").append(right);
    right.setAttribute("viewBox", `${split} ${film.header} ${svg.width.baseVal.value - split} ${height}`);
    svg.setAttribute("viewBox", `0 ${film.header} ${split} ${height}`);
    for (const part of [svg, right]) { part.removeAttribute("width"); part.removeAttribute("height"); }
  }
  byId("said").textContent = frame.said;
  byId("status").textContent = frame.status;
  byId("slider").value = at;
  byId("count").textContent = `${at + 1} of ${film.frames.length}`;
  const rows = frame.choices.map(([words, value, chosen]) => {
    const row = document.createElement("tr");
    for (const text of [words, value]) row.insertCell().textContent = text;
    if (chosen) row.className = "chosen";
    return row;
  });
  byId("choices").replaceChildren(...rows);
  byId("who").textContent = frame.mover ? `${frame.mover} decides` : "End of the game";
  for (const item of byId("moves").querySelectorAll("[aria-current]")) item.removeAttribute("aria-current");
  const item = byId("moves").children[at].firstElementChild;
  item.setAttribute("aria-current", "step");
  byId("moves").scrollTop = item.offsetTop - byId("moves").offsetTop - 120;
}
function play() {
  if (timer !== null) { clearInterval(timer); timer = null; }
  else {
    if (at === film.frames.length - 1) show(0);
    timer = setInterval(() => { if (at === film.frames.length - 1) play(); else show(at + 1); }, 1000);
  }
  byId("play").textContent = timer === null ? "Play" : "Pause";
}
const keys = {ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1), Home: () => show(0),
  End: () => show(film.frames.length - 1), " ": play};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  event.preventDefault();
  keys[event.key]();
});
film.frames.forEach((frame, number) => {
  const button = document.createElement("button");
  button.textContent = frame.said || "start";
  button.addEventListener("click", () => show(number));
  const item = document.createElement("li");
  item.append(button);
  byId("moves").append(item);
});
byId("first").addEventListener("click", keys.Home);
byId("back").addEventListener("click", keys.ArrowLeft);
byId("next").addEventListener("click", keys.ArrowRight);
byId("last").addEventListener("click", keys.End);
byId("play").addEventListener("click", play);
byId("slider").addEventListener("input", (event) => show(Number(event.target.value)));
narrow.addEventListener("change", () => show(at));
show(0);
"""

BODY = """
<main>
<h1>{title}</h1>
<section>
<div id="left"></div>
<p id="said" aria-live="polite"></p>
<nav aria-label="Steps">
<button id="first" aria-label="First position">&#124;&#9664;</button>
<button id="back" aria-label="One step back">&#9664;</button>
<button id="next" aria-label="One step forwards">&#9654;</button>
<button id="last" aria-label="Last position">&#9654;&#124;</button>
<button id="play">Play</button>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="Position"><span id="count"></span>
</nav>
<div id="right"></div>
<p class="note" id="keys">Keys: left and right arrow, Home, End; the space bar plays.</p>
</section>
<section>
<p class="note" id="status"></p>
<p id="who"></p>
<table><tbody id="choices"></tbody></table>
<p class="note">{unit}</p>
<ol id="moves" aria-label="Moves"></ol>
</section>
</main>
"""


def film_page(film: Film) -> str:
    """The page as HTML."""
    numbers: dict[str, int] = {}  # the number of each different part
    frames = []
    for frame in film.frames:
        parts = [numbers.setdefault(part, len(numbers)) for part in PARTS.split(frame.drawing.svg) if part]
        frames.append({"parts": parts, **_in_words(frame)})
    data = {"height": HEIGHT, "header": HEADER, "footer": FOOTER, "parts": list(numbers), "frames": frames}
    # Within <script>, only "<" could end the data.
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src data:"
    title = html.escape(film.title)
    body = BODY.format(title=title, last=len(frames) - 1, unit=html.escape(_about(film)))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{font_style()}{STYLE}</style>\n</head>\n<body>{body}"
        f'<script type="application/json" id="film">{written}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )


def _in_words(frame: Frame) -> dict[str, object]:
    title = re.search(r"<title>(.*?)</title>", frame.drawing.svg)
    return {
        "said": "; ".join(frame.lines),
        "status": html.unescape(title[1]) if title else "",
        "mover": frame.mover,
        "choices": [
            [choice.words, "" if choice.value is None else f"{choice.value:.2f}", choice.is_chosen]
            for choice in frame.choices
        ],
    }


def _about(film: Film) -> str:
    return f"The numbers are {film.unit}; the choice that was made is highlighted." if film.unit else ""
