// The page of one game.

import {ask, make, patiently, Refused, say} from "/static/api.js";
import {Board} from "/static/board.js";
import {showEnd} from "/static/end.js";

const $ = (id) => document.getElementById(id);
const id = location.pathname.split("/")[2];
const path = `/api/game/${id}`;
const BEST = 5; // choices that are shown with advice

let game = null; // what the server says of the game
let viewed = null; // the number of the position that is looked at, or null for the present one
let advising = false;
let all = false; // whether all advised choices are shown
let busy = false;
let undoing = false; // whether to undo as soon as the present request is answered
let timer = 0;

const board = new Board($("board"), $("dice"), play, showThrow);

// Names

const alone = () => game.seats.filter((seat) => seat === "person").length === 1;
export const who = (seat) => game.seats[seat] === "person" && alone() ? "You" : `player_${seat}`;
// A line of the transcript, with "You keep" for "player_0 keeps".
const named = (line) => line.replace(/player_(\d)/g, (text, seat) => who(Number(seat)))
  .replace(/^You (\w+)s /, "You $1 ").replace(/(, throw)s /, (text, verb) => line.startsWith(`player_${own()} `) ? `${verb} ` : text);
const own = () => game.seats.indexOf("person");

// Shows the game

function showGame(position) {
  document.title = `${game.title}: fivedice`;
  $("title").textContent = game.title;
  $("seed").textContent = `Seed ${game.seed}. The same seed gives the same dice.`;
  $("download").href = `${path}/transcript`;
  $("undo").disabled = !game.can_undo;
  board.show(position);
  showStatus(position);
  showChoices(position);
  showMoves();
}

function showStatus(position) {
  const looking = viewed !== null;
  $("now").hidden = !looking;
  $("back").disabled = (viewed ?? game.number) === 0;
  $("forth").disabled = !looking;
  const said = $("status");
  if (looking) {
    said.textContent = `After move ${viewed} of ${game.number}. You are looking back.`;
  } else if (game.waits === "nobody") {
    said.textContent = `The game is over. ${won()}`;
  } else if (game.waits === "person") {
    said.textContent = alone() ? "Your move." : `player_${game.mover} moves: a person.`;
  } else {
    said.textContent = `player_${game.mover} (${short(game.seats[game.mover])}) is to move.`;
  }
  $("next").hidden = looking || game.waits !== "policy" || pace() >= 0;
  const move = game.moves[position.number];
  $("last").textContent = move.lines.length ? `${tell(move)}.` : "";
  Object.assign(document.body.dataset, {waits: looking ? "nobody" : game.waits, number: position.number});
}

const short = (name) => name.split("/").pop().replace(".safetensors", "");

function won() {
  const winners = game.winners.map(who);
  if (winners.length === 1) return winners[0] === "You" ? "You have won!" : `${winners[0]} has won.`;
  return winners.length === game.seats.length && game.seats.length === 1 ? "" : `${winners.join(" and ")} share the win.`;
}

function showThrow() {
  const button = $("throw");
  button.hidden = !board.mayKeep || viewed !== null;
  if (button.hidden) return;
  const keep = board.keep;
  button.disabled = !keep || busy;
  const value = keep && board.values.get(board.first(keep.action));
  button.textContent = (!keep ? "Leave a die to throw" : board.selection.size === 0
    ? "Throw all dice" : `${keep.words[0].toUpperCase()}${keep.words.slice(1)}, throw the rest`)
    + (value ? ` (${value.text}${value.best ? ", best" : ""})` : "");
}

function showChoices(position) {
  $("choices").hidden = position.choices.length === 0;
  // A game without a drawing of its own has no places to click, only this list.
  if (position.choices.every((choice) => choice.regions.every((places) => places.length === 0))) {
    document.querySelector("#choices details").open = true;
  }
  $("choices-title").textContent = `All choices (${position.choices.length})`;
  $("list").replaceChildren(...position.choices.map((choice) => make("li", {},
    make("button", {onclick: () => play(choice.action), "data-action": choice.action}, choice.words))));
}

// A move in words; the page itself shows the final scores and the winner.
const tell = (move) => move.lines.filter((line) => !/^(final scores|won by)/.test(line)).map(named).join(". ");

function moveItem(move) {
  const text = move.lines.length ? tell(move) : move.words;
  const label = move.seat === null ? "" : make("span", {class: `seat seat-${move.seat}`}, who(move.seat));
  return make("li", {}, make("button", {
    onclick: () => look(move.number), "aria-current": move.number === (viewed ?? game.number) ? "step" : null,
    "data-number": move.number,
  }, make("span", {class: "number"}, String(move.number)), " ", label, " ", move.seat === null ? text : text.replace(/^(You|player_\d) /, "")));
}

function showMoves() {
  const list = $("moves");
  list.replaceChildren(...game.moves.map(moveItem));
  const current = list.querySelector("[aria-current]");
  if (current) list.scrollTop = current.offsetTop + current.offsetHeight - list.clientHeight;
}

// Plays

function take(answer) {
  const {move, position, ...rest} = answer;
  Object.assign(game, rest);
  game.moves = [...game.moves.slice(0, move.number), move];
  viewed = null;
  address();
  showGame(position);
  after();
}

async function ply(action, body) {
  if (busy) return;
  busy = true;
  clearTimeout(timer);
  try {
    take(await ask(`${path}/${action}`, body));
    say("");
  } catch (error) {
    say(error.message);
    if (error instanceof Refused) await reload();
  } finally {
    busy = false;
    showThrow();
    if (undoing) undo();
    else follow();
  }
}

function play(action) {
  if (viewed !== null || game.waits !== "person" || busy) return;
  const number = game.number;
  $("loss").textContent = "";
  ply("move", {number, action}).then(() => game.number > number && showLoss(number + 1));
}

function undo() {
  undoing = busy;
  if (busy) return;
  $("loss").textContent = "";
  return ply("undo", {number: game.number});
}

function pace() {
  return Number($("pace").value);
}

// Lets the policies move, one move after the other.
function follow() {
  clearTimeout(timer);
  if (game.waits !== "policy" || viewed !== null || busy || pace() < 0) return;
  timer = setTimeout(() => ply("policy", {number: game.number}), pace());
}

function after() {
  if (game.waits === "nobody") end();
  else $("end").hidden = true;
  if (advising && game.waits === "person") advise();
  else hideAdvice();
}

async function showLoss(number) {
  try {
    const loss = await ask(`${path}/loss/${number}`);
    if (!loss.known || number > game.number) return;
    const text = loss.lost < 1e-9 ? "This was the best choice."
      : `This gave away ${loss.text} (${loss.unit}${loss.noise ? "; that may be noise" : ""}). Best: ${loss.best}.`;
    const item = document.querySelector(`#moves [data-number="${number}"]`);
    game.moves[number].loss = text;
    $("loss").textContent = `Your last move. ${game.moves[number].words}: ${text[0].toLowerCase()}${text.slice(1)}`;
    item?.setAttribute("title", text);
  } catch {
    // What a move gave away is an extra; the game goes on without it.
  }
}

// Looks at other positions

function address() {
  const url = viewed === null ? location.pathname : `${location.pathname}?move=${viewed}`;
  history.replaceState(null, "", url);
}

async function look(number) {
  clearTimeout(timer);
  const target = Math.max(0, Math.min(game.number, number));
  viewed = target === game.number ? null : target;
  address();
  const position = await patiently(() => ask(`${path}/position/${target}`));
  if (!position) return;
  showGame(position);
  if (viewed === null) {
    after();
    follow();
  } else {
    hideAdvice();
  }
}

// Advice

function hideAdvice() {
  $("advice").hidden = true;
}

async function advise() {
  const number = game.number, adviser = $("adviser").value;
  $("advice").hidden = false;
  $("values").replaceChildren();
  $("advice-note").textContent = "The adviser is thinking.";
  for (;;) {
    let found;
    try {
      found = await ask(`${path}/advice`, {number, adviser});
    } catch (error) {
      $("advice-note").textContent = error.message;
      return;
    }
    if (!advising || number !== game.number || viewed !== null || adviser !== $("adviser").value) return;
    showAdvice(found);
    if (found.done) return;
    await new Promise((resolve) => setTimeout(resolve, found.simulated ? 400 : 100));
    if (!advising || number !== game.number) return;
  }
}

function showAdvice(found) {
  $("progress").hidden = $("stop").hidden = found.done || !found.simulated;
  $("progress").value = found.progress;
  const noise = found.simulated ? ` after ${found.games} simulated games; ± is a 95 % interval` : "";
  $("advice-note").textContent = `${found.adviser}: ${found.unit}${noise}.`;
  const focused = document.activeElement?.closest("#values button")?.dataset.action;
  const shown = all ? found.choices : found.choices.slice(0, BEST);
  $("values").replaceChildren(...shown.map((choice) => make("li", {class: choice.best ? "best" : choice.near ? "near" : null},
    make("button", {
      onclick: () => play(choice.action), onfocus: () => board.select(choice.action), onmouseenter: () => board.select(choice.action),
      "data-action": choice.action,
    }, make("span", {}, choice.words), make("span", {class: "figure"}, choice.text + (choice.error ? ` ± ${choice.error}` : "")),
      choice.best ? make("strong", {}, "best") : choice.near ? make("em", {}, "as good, perhaps") : ""))));
  if (focused) $("values").querySelector(`[data-action="${focused}"]`)?.focus();
  $("more").hidden = found.choices.length <= BEST;
  $("more").textContent = all ? `Show the best ${BEST}` : `Show all ${found.choices.length}`;
  $("more").onclick = () => {
    all = !all;
    showAdvice(found);
  };
  board.advise(found.choices);
}

// The end

async function end() {
  const number = game.number;
  try {
    const found = await ask(`${path}/result`);
    showEnd($("end"), game, found, null, who, look);
    if (!found.solved) return;
    const account = await ask(`${path}/account`); // it may have to solve the game first
    if (game.number === number) showEnd($("end"), game, found, account, who, look);
  } catch (error) {
    say(error.message);
  }
}

// Begins

async function reload() {
  game = await ask(path);
  const position = await ask(`${path}/position`);
  viewed = null;
  showGame(position);
  after();
}

async function begin() {
  game = await ask(path);
  const asked = new URLSearchParams(location.search).get("move");
  if (asked !== null && Number(asked) >= 0 && Number(asked) < game.number) viewed = Math.floor(Number(asked));
  const position = await ask(`${path}/position${viewed === null ? "" : `/${viewed}`}`);
  const overview = await ask("/api/games");
  const known = overview.games.find((other) => other.name === game.game);
  $("adviser").append(make("option", {value: ""}, "the best there is"), ...known.policies
    .filter((policy) => policy.name !== "random" && (policy.num_players ?? game.seats.length) === game.seats.length)
    .map((policy) => make("option", {value: policy.name}, policy.name)));
  $("pace").value = sessionStorage.getItem("pace") ?? "900";
  advising = sessionStorage.getItem(`advice ${id}`) === "yes";
  $("advise").setAttribute("aria-pressed", String(advising));
  showGame(position);
  if (viewed === null) after();
  follow();
  return true;
}

$("throw").addEventListener("click", () => board.keep && play(board.keep.action));
$("next").addEventListener("click", () => ply("policy", {number: game.number}));
$("undo").addEventListener("click", undo);
$("advise").addEventListener("click", () => {
  advising = !advising;
  sessionStorage.setItem(`advice ${id}`, advising ? "yes" : "no");
  $("advise").setAttribute("aria-pressed", String(advising));
  if (advising && game.waits === "person" && viewed === null) {
    advise();
  } else {
    hideAdvice();
    board.advise([]);
    ask(`${path}/cancel`, {});
  }
});
$("stop").addEventListener("click", () => {
  $("advise").click();
});
$("adviser").addEventListener("change", () => advising && game.waits === "person" && advise());
$("pace").addEventListener("change", () => {
  sessionStorage.setItem("pace", $("pace").value);
  $("next").hidden = game.waits !== "policy" || pace() >= 0;
  follow();
});
$("back").addEventListener("click", () => look((viewed ?? game.number) - 1));
$("forth").addEventListener("click", () => look((viewed ?? game.number) + 1));
$("now").addEventListener("click", () => look(game.number));
$("again").addEventListener("click", async () => {
  const made = await patiently(() => ask(`${path}/again`, {}));
  if (made) location.href = `/game/${made.id}`;
});
$("save").addEventListener("click", async () => {
  const made = await patiently(() => ask(`${path}/save`, {}));
  if (made) say(`Saved as ${made.file}`, "note");
});
$("link").addEventListener("click", async () => {
  const link = `${location.origin}${location.pathname}?move=${viewed ?? game.number}`;
  try {
    await navigator.clipboard.writeText(link);
    say("The link is copied. It works in this browser while the server runs.", "note");
  } catch {
    say(link, "note");
  }
});
document.addEventListener("click", (event) => {
  const menu = document.querySelector(".menu");
  if (menu.open && (!menu.contains(event.target) || event.target.closest(".menu button"))) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (!game || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (/^[1-9]$/.test(event.key)) board.die(Number(event.key));
  else if (event.key === "u" || event.key === "U") undo();
  else if (event.key === "a" || event.key === "A") $("advise").click();
  else if (event.key === "t" || event.key === "T") $("throw").hidden || $("throw").click();
  else if (event.key === "Enter" && event.target === document.body && board.selection.size) $("throw").click();
  else if (event.key === "Escape") document.querySelector(".menu").open = false;
  else if (event.key === "ArrowLeft" && event.target === document.body) look((viewed ?? game.number) - 1);
  else if (event.key === "ArrowRight" && event.target === document.body && viewed !== null) look(viewed + 1);
  else return;
  event.preventDefault();
});

await patiently(begin);
