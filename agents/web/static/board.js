// The board: the drawing of the server, in which the legal places can be clicked.

const TOP = 52, BOTTOM = 562; // between the title and the last move of a drawing
const SVG = "http://www.w3.org/2000/svg";
const narrow = matchMedia("(max-width: 760px)");
const same = (a, b) => a.size === b.size && [...a].every((name) => b.has(name));
const holds = (all, some) => [...some].every((name) => all.has(name));

export class Board {
  // `choose(action)` is called with a legal action, `changed()` when the dice to keep change.
  constructor(host, dice, choose, changed) {
    this.host = host;
    this.dice = dice;
    this.choose = choose;
    this.changed = changed;
    this.actions = [];
    this.selection = new Set();
    this.values = new Map();
    this.best = null;
    host.addEventListener("click", (event) => this.clicked(event));
    host.addEventListener("keydown", (event) => this.typed(event));
    narrow.addEventListener("change", () => this.svg && this.draw());
  }

  // Show a position. Its choices are those that may be clicked.
  show(position) {
    this.svg = position.svg;
    this.actions = position.choices.flatMap((choice) => (choice.actions ?? [choice.action]).map((action, i) => (
      {action, words: choice.words, keeps: choice.keeps, regions: new Set(choice.regions[i])})));
    this.selection.clear();
    this.groups = new Map(position.choices.flatMap((choice) => (
      (choice.actions ?? [choice.action]).map((action) => [action, choice.action]))));
    this.values.clear();
    this.best = null;
    this.draw();
  }

  // The first of the actions with the same effect, which carries their value.
  first(action) {
    return this.groups.get(action);
  }

  // Show the values of choices on the board: those with one place, and those of a die on the cells.
  advise(choices) {
    this.values.clear();
    this.best = choices.length ? choices[0].action : null;
    for (const choice of choices) if (this.groups.has(choice.action)) this.values.set(choice.action, choice);
    this.update();
  }

  // The action that keeps the selected dice, if there is one.
  get keep() {
    return this.actions.find((action) => action.keeps && same(action.regions, this.selection));
  }

  get mayKeep() {
    return this.actions.some((action) => action.keeps);
  }

  draw() {
    const focused = document.activeElement?.closest?.("[data-region]")?.dataset.region;
    const drawing = new DOMParser().parseFromString(this.svg, "image/svg+xml").documentElement;
    const width = Number(drawing.getAttribute("width")), height = Number(drawing.getAttribute("height"));
    const split = Number(drawing.dataset.split ?? width);
    drawing.removeAttribute("width");
    drawing.removeAttribute("height");
    const parts = narrow.matches && split < width ? [[0, split], [split, width]] : [[0, width]];
    this.host.replaceChildren(...parts.map(([left, right]) => {
      const part = document.importNode(drawing, true);
      // A part has no room for the title above and the last move below, which the page shows itself.
      const [top, bottom] = parts.length > 1 ? [TOP, BOTTOM] : [0, height];
      part.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
      part.setAttribute("role", "group");
      for (const region of part.querySelectorAll("[data-region]")) {
        const middle = this.box(region).x + this.box(region).width / 2;
        if (middle < left || middle >= right) region.removeAttribute("data-region");
      }
      return part;
    }));
    this.host.classList.toggle("parted", parts.length > 1);
    this.dice.replaceChildren(...(narrow.matches ? this.copies() : []));
    this.update();
    if (focused) this.host.querySelector(`[data-region="${CSS.escape(focused)}"]`)?.focus();
  }

  box(region) {
    const frame = region.querySelector(":scope > .frame");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(frame.getAttribute(name)));
    return {x, y, width, height};
  }

  // The dice as buttons, large enough for a thumb.
  copies() {
    return [...this.host.querySelectorAll('[data-region^="die-"]')]
      .map((region) => {
        const {x, y, width, height} = this.box(region);
        const svg = document.createElementNS(SVG, "svg");
        svg.setAttribute("viewBox", `${x - 3} ${y - 3} ${width + 6} ${height + 6}`);
        const copy = region.cloneNode(true);
        svg.append(copy);
        const button = document.createElement("button");
        button.dataset.copy = region.dataset.region;
        button.disabled = !this.actions.some((action) => action.regions.has(region.dataset.region));
        button.setAttribute("aria-label", region.querySelector("title").textContent);
        copy.removeAttribute("data-region");
        copy.querySelector("title").remove();
        button.append(svg);
        button.addEventListener("click", () => this.toggle(region.dataset.region));
        return button;
      });
  }

  // Whether the selection is a part of an action, such as a die that waits for its cell. Dice to keep are none.
  get isPart() {
    return this.selection.size > 0 && this.actions.some((action) => !action.keeps && holds(action.regions, this.selection));
  }

  // The places that lead on from the present selection, and all places that can be clicked.
  legal() {
    const fitting = this.isPart ? this.actions.filter((action) => holds(action.regions, this.selection)) : this.actions;
    const names = new Set(fitting.flatMap((action) => [...action.regions]));
    const all = new Set(this.actions.flatMap((action) => [...action.regions]));
    return {names, all};
  }

  update() {
    const {names, all} = this.legal();
    const best = this.actions.find((action) => action.action === this.best)?.regions ?? new Set();
    for (const region of this.host.querySelectorAll("[data-region]")) {
      const name = region.dataset.region;
      region.querySelector(":scope > .value")?.remove();
      region.classList.toggle("legal", names.has(name));
      region.classList.toggle("chosen", this.selection.has(name));
      region.classList.toggle("best", best.has(name));
      if (!all.has(name)) {
        region.removeAttribute("tabindex");
        region.removeAttribute("role");
        continue;
      }
      region.setAttribute("tabindex", "0");
      region.setAttribute("role", "button");
      const value = this.value(name);
      const label = region.querySelector(":scope > title").textContent;
      region.setAttribute("aria-label", `${label}${value ? `, ${value.text}${value.best ? ", best" : ""}` : ""}`);
      if (region.dataset.kind === "die") region.setAttribute("aria-pressed", String(this.selection.has(name)));
      if (value) region.append(this.badge(region, value));
    }
    for (const copy of this.dice.children) {
      copy.setAttribute("aria-pressed", String(this.selection.has(copy.dataset.copy)));
      copy.classList.toggle("best", best.has(copy.dataset.copy));
    }
    this.changed();
  }

  // The value at a place: that of its action, or the best of its actions with the selected die.
  value(name) {
    let found = null;
    if (name.startsWith("die-")) return null;
    for (const action of this.actions) {
      if (action.keeps || !action.regions.has(name)) continue;
      const others = this.isPart ? [...this.selection].filter((other) => other !== name) : [];
      if (!others.every((other) => action.regions.has(other))) continue;
      const value = this.values.get(this.first(action.action));
      if (value && (!found || value.value > found.value)) found = value;
    }
    return found;
  }

  badge(region, value) {
    const {x, y, width} = this.box(region);
    const wide = 10 + 6.8 * value.text.length;
    const right = Math.min(x + width + 4, 798), top = Math.max(y - 8, 2);
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("class", value.best ? "value top" : "value");
    const ground = document.createElementNS(SVG, "rect");
    for (const [key, number] of Object.entries({x: right - wide, y: top, width: wide, height: 17, rx: 8.5})) {
      ground.setAttribute(key, number);
    }
    const text = document.createElementNS(SVG, "text");
    text.setAttribute("x", right - wide / 2);
    text.setAttribute("y", top + 12.5);
    text.textContent = value.text;
    group.append(ground, text);
    return group;
  }

  // A click belongs to the innermost place that is legal.
  clicked(event) {
    const all = this.legal().all;
    let region = event.target.closest?.("[data-region]");
    while (region && !all.has(region.dataset.region)) region = region.parentElement?.closest("[data-region]");
    if (region) this.toggle(region.dataset.region);
  }

  toggle(name) {
    if (this.selection.has(name)) {
      this.selection.delete(name);
    } else {
      const with_it = new Set([...this.selection, name]);
      if (!this.actions.some((action) => holds(action.regions, with_it))) this.selection.clear();
      this.selection.add(name);
      const action = this.actions.find((known) => !known.keeps && same(known.regions, this.selection));
      if (action) {
        this.choose(action.action);
        return;
      }
    }
    this.update();
  }

  // Select the dice that an action keeps, to show it.
  select(action) {
    const found = this.actions.find((known) => known.action === action);
    if (!found) return;
    this.selection = new Set(found.regions);
    this.update();
  }

  // The n-th die in hand, from 1.
  die(number) {
    const name = `die-${number}`;
    if (this.legal().all.has(name)) this.toggle(name);
  }

  typed(event) {
    const region = event.target.closest?.("[data-region]");
    if (!region) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.toggle(region.dataset.region);
    }
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const centre = (element) => {
      const box = element.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = centre(region);
    let nearest = null, least = Infinity;
    for (const other of this.host.querySelectorAll('[tabindex="0"]')) {
      const [ox, oy] = centre(other);
      const ahead = (ox - x) * way[0] + (oy - y) * way[1];
      const aside = Math.abs((ox - x) * way[1]) + Math.abs((oy - y) * way[0]);
      if (ahead > 1 && ahead + 2 * aside < least) [nearest, least] = [other, ahead + 2 * aside];
    }
    nearest?.focus();
  }
}
