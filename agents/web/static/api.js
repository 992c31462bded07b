// Asks the server. Errors carry the server's sentence.

export class Refused extends Error {}

export async function ask(path, body) {
  const request = body === undefined ? {} : {
    method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Error("The server does not answer. Is it still running in the terminal?");
  }
  const answer = await response.json();
  if (response.status === 409) throw new Refused(answer.error);
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const message = document.getElementById("message");

export function say(text, kind = "error") {
  message.textContent = text;
  message.hidden = !text;
  message.dataset.kind = kind;
}

// Runs something that may take long, and says so after a while. Returns undefined after an error, which it shows.
export async function patiently(work) {
  const wait = setTimeout(() => say("Preparing the game. When it is played for the first time, its rules are compiled, " +
    "which takes up to a minute or two.", "wait"), 800);
  try {
    const found = await work();
    clearTimeout(wait);
    if (message.dataset.kind === "wait") say("");
    return found;
  } catch (error) {
    clearTimeout(wait);
    say(error.message);
    return undefined;
  }
}

export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...content);
  return element;
}
