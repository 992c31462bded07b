// The end of a game: who won, where the points went, and luck and play apart.

import {make} from "/static/api.js";

const SVG = "http://www.w3.org/2000/svg";

// `account` is null while it is computed, and where the game is not solved.
export function showEnd(host, game, found, account, who, look) {
  const parts = [make("h2", {id: "end-title"}, "The end")];
  const most = Math.max(...found.scores);
  const head = make("tr", {}, make("th", {}, "player"), make("th", {}, "points"));
  const rows = found.scores.map((points, seat) => make("tr", {class: found.winners.includes(seat) ? "won" : null},
    make("td", {}, make("span", {class: `seat seat-${seat}`}, who(seat)), game.seats[seat] === "person" ? "" : ` ${game.seats[seat].split("/").pop()}`),
    make("td", {}, `${points}${found.winners.includes(seat) && found.scores.length > 1 ? ", won" : ""}`)));
  if (account) {
    for (const name of ["expected", "dice", "choices"]) head.append(make("th", {}, name));
    account.seats.forEach((seat, place) => rows[place].append(
      make("td", {}, seat.start), make("td", {}, seat.luck), make("td", {}, seat.lost === "0.0" ? "0.0" : `−${seat.lost}`)));
  }
  parts.push(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  if (found.cut_short) parts.push(make("p", {}, "The game was cut short by its limit of turns."));
  if (account) parts.push(...played(game, account, who, look));
  else parts.push(make("p", {class: "hint"}, found.solved ? "Luck and play are being computed."
    : "This game is not solved, so luck and play cannot be told apart exactly."));
  if (most > 0) parts.push(make("h3", {}, "Where the points went"), chart(found, who), gains(found, who, look));
  host.replaceChildren(...parts);
  host.hidden = false;
}

function played(game, account, who, look) {
  const parts = [];
  const own = game.seats.map((seat, place) => seat === "person" ? place : -1).filter((place) => place >= 0);
  for (const place of own) {
    const seat = account.seats[place];
    const name = who(place) === "You" ? ["Your dice", "your choices"] : [`The dice of player_${place}`, "its choices"];
    parts.push(make("p", {class: "summary"}, `${name[0]} were worth ${seat.luck}, ${name[1]} cost ${seat.lost}` +
      `${seat.gained && seat.gained !== "0.0 %" ? `, and the choices of the other player gave ${seat.gained}` : ""} ` +
      `(${account.unit}; perfect play begins with ${seat.start}).`));
  }
  const losses = account.losses.filter((loss) => !own.length || own.includes(loss.seat));
  if (losses.length) {
    parts.push(make("h3", {}, "The most expensive choices"), make("ol", {class: "losses"}, ...losses.map((loss) => make("li", {},
      make("button", {onclick: () => look(loss.number - 1)}, `Move ${loss.number}, ${loss.words}: cost ${loss.lost}. Best: ${loss.best}`)))));
  }
  return parts;
}

function gains(found, who, look) {
  const large = found.gains.map((gain) => ({...gain, size: Math.max(...gain.changes.map(Math.abs))}))
    .sort((a, b) => b.size - a.size || a.number - b.number).slice(0, 8).sort((a, b) => a.number - b.number);
  return make("ol", {class: "losses"}, ...large.map((gain) => make("li", {}, make("button", {onclick: () => look(gain.number)},
    make("span", {class: `seat seat-${gain.seat}`}, who(gain.seat)),
    ` ${who(gain.seat) === "You" ? gain.words : gain.words.replace(/^\w+/, "$&s")} `,
    gain.changes.map((change, seat) => change ? `${who(seat)} ${change > 0 ? "+" : "−"}${Math.abs(change)}` : "").filter(Boolean).join(", ")))));
}

// The points of each seat after each move.
function chart(found, who) {
  const width = 340, height = 130, left = 30, bottom = 18;
  const moves = found.points.length - 1, most = Math.max(1, ...found.points.flat());
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "chart");
  svg.setAttribute("role", "img");
  const said = found.scores.map((points, seat) => `${who(seat)} ${points}`).join(", ");
  svg.setAttribute("aria-label", `Points after each move. At the end: ${said}`);
  const x = (move) => left + move / Math.max(1, moves) * (width - left - 8);
  const y = (points) => height - bottom - Math.max(0, points) / most * (height - bottom - 10);
  const add = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    svg.append(element);
  };
  for (const points of [0, most]) {
    add("line", {x1: left, x2: width - 8, y1: y(points), y2: y(points), class: "grid"});
    add("text", {x: left - 4, y: y(points) + 4, "text-anchor": "end"}, points);
  }
  add("text", {x: width - 8, y: height - 3, "text-anchor": "end"}, `move ${moves}`);
  found.scores.forEach((_, seat) => {
    const d = found.points.map((points, move) => `${move ? "L" : "M"}${x(move).toFixed(1)} ${y(points[seat]).toFixed(1)}`).join("");
    add("path", {d, class: `line line-${seat}`});
  });
  return svg;
}
