// The page on which a game is chosen.

import {ask, make, patiently, say} from "/static/api.js";

const $ = (id) => document.getElementById(id);
let games = [];

const chosen = () => games.find((game) => game.name === new FormData($("new")).get("game"));

function showGame() {
  const game = chosen();
  const counts = [];
  for (let n = game.min_players; n <= game.max_players; n++) counts.push(n);
  $("players").replaceChildren(...counts.map((n) => make("option", {value: n, selected: n === game.default_players}, String(n))));
  $("options").replaceChildren(...game.options.map((option) => {
    const input = option.choices
      ? make("select", {name: `option-${option.name}`}, ...option.choices.map((choice) => make("option", {value: choice}, choice)))
      : make("input", {name: `option-${option.name}`, placeholder: option.default, title: option.valid});
    return make("label", {}, make("span", {}, option.meaning), input);
  }));
  showSeats();
}

function showSeats() {
  const game = chosen();
  const players = Number($("players").value);
  const before = $("own").value;
  const seats = Array.from({length: players}, (_, seat) => make("option", {value: seat}, `player_${seat}`));
  $("own").replaceChildren(...seats, make("option", {value: "none"}, "none: watch policies play"));
  $("own").value = before && (before === "none" || Number(before) < players) ? before : "0";
  $("seats").replaceChildren(...Array.from({length: players}, (_, seat) => {
    const fits = game.policies.filter((policy) => policy.num_players === null || policy.num_players === players);
    const select = make("select", {name: `seat-${seat}`, "aria-label": `Who plays player_${seat}`},
      make("option", {value: "person"}, "a person"),
      ...fits.map((policy) => make("option", {value: policy.name}, `${policy.name}: ${policy.about}`)));
    return make("li", {}, make("span", {class: `seat seat-${seat}`}, `player_${seat}`), select);
  }));
  showOwn();
}

function showOwn() {
  const own = $("own").value;
  document.querySelectorAll("#seats select").forEach((select, seat) => {
    if (String(seat) === own) select.value = "person";
    else if (select.value === "person") {
      select.value = "greedy";
      if (select.selectedIndex < 0) select.value = "random"; // a game without a greedy policy
    }
  });
}

$("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData($("new"));
  const options = {};
  for (const [name, value] of form) if (name.startsWith("option-") && value !== "") options[name.slice(7)] = value;
  const seats = [...document.querySelectorAll("#seats select")].map((select) => select.value);
  // A checkpoint plays with the options that it was trained with.
  const bound = chosen().policies.find((policy) => policy.options && seats.includes(policy.name));
  const seed = $("seed").value.trim();
  $("start").disabled = true;
  const made = await patiently(() => ask("/api/games", {
    game: chosen().name, seats, options: bound ? bound.options : options, seed: seed === "" ? null : Number(seed),
  }));
  $("start").disabled = false;
  if (made) location.href = `/game/${made.id}`;
});

async function load(asked) {
  const made = await patiently(() => ask("/api/load", asked));
  if (made) location.href = `/game/${made.id}`;
}

$("file").addEventListener("change", async () => {
  const file = $("file").files[0];
  if (file && file.size > 900000) say("This file is too large for a transcript.");
  else if (file) load({text: await file.text()});
});

const found = await patiently(() => ask("/api/games"));
if (found) {
  games = found.games.sort((a, b) => a.min_players - b.min_players); // those for one player first
  $("games").append(...games.map((game, place) => make("label", {},
    make("input", {type: "radio", name: "game", value: game.name, checked: place === 0}),
    make("span", {}, game.title))));
  const asked = new URLSearchParams(location.search).get("game");
  for (const input of document.querySelectorAll("input[name=game]")) if (input.value === asked) input.checked = true;
  $("folder").textContent = `They are files in ${found.folder}.`;
  $("saved").append(...found.saved.map((name) => make("li", {}, make("button", {onclick: () => load({file: name})}, name))));
  $("games").addEventListener("change", showGame);
  $("players").addEventListener("change", showSeats);
  $("own").addEventListener("change", showOwn);
  showGame();
}
