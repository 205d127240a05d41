// Shows one transcript and one scale, and turns keys into messages. It keeps nothing: what was said
// lies in Python and on its disk. Text from transcripts is set as textContent, never as markup.

const PATIENCE = 4000; // ms without an answer before the kernel is called silent
const HIDDEN = /⟦U\+[0-9A-F]{4,6}⟧|[\u2400-\u2421]/g; // signs that stand for hidden characters
// A key, what the line below the screen says of it ("": it stands at its box), and what the list says.
const DIGITS = "1 – 9";
const KEYS = [
  [DIGITS, "score and go on", "choose that level and go on; levels beyond 9 by Tab and Enter, or by a click"],
  ["c", "cannot tell", "cannot tell; also 0 where the scale has no level 0"],
  ["Enter", "next", "next transcript"],
  ["Backspace", "back", "back to the transcript before"],
  ["s", "skip", "skip this transcript for now"],
  ["u", "undo", "undo the last thing said, where it was said"],
  ["← →", "dimension", "another dimension"],
  ["j k", "turn", "point at the next turn, or the one before"],
  ["t", "mark it", "mark the turn pointed at, or take the mark away"],
  ["o", "tool calls", "open or fold the tool calls: of the turn pointed at, else all, here and from here on"],
  ["n", "", "note on this dimension; Enter or Esc keeps it, Shift+Enter is a new line"],
  ["f", "", "say in words what went wrong, at the turn pointed at; Enter adds it, Esc leaves it"],
  ["d", "definition", "the whole definition, or its beginning"],
  ["↑ ↓ PgUp PgDn Space", "", "scroll the transcript"],
  ["Tab", "", "to the calls, levels and boxes, one by one; Enter or Space presses them"],
  ["?", "help", "this list; Esc closes it"],
];
const LAST_PAGE = ["Backspace", "u", "?"];
const OF_SCALE = [DIGITS, "c", "d"];
const SCROLL = { ArrowDown: 60, ArrowUp: -60, PageDown: "page", " ": "page", PageUp: "-page" };

let views = 0;

function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

// Text of others: signs for hidden characters are coloured, everything stays text.
function said(tag, kind, text) {
  const made = el(tag, { class: kind, dir: "auto" });
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    made.append(text.slice(from, found.index));
    made.append(el("span", { class: "hidden-sign", title: "a hidden character" }, found[0]));
    from = found.index + found[0].length;
  }
  made.append(text.slice(from));
  return made;
}

const words = (name) => name.replaceAll("_", " ");
const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const brief = (text) => text.replace(/\s+/g, " ").slice(0, 400);
const keyOf = (level) => (level <= 9 ? String(level) : null);

const caps = (key) => key.split(" ").map((one) => (one === "–" ? " – " : el("kbd", {}, one)));

function render({ model, el: host, signal }) {
  const view = ++views;
  const at = (tag, kind, more = {}) => el(tag, { class: kind, ...more });
  const top = at("header", "top");
  const alert = at("div", "alert", { role: "alert", hidden: true });
  const told = at("div", "told", { hidden: true });
  const read = at("section", "read", { role: "document", tabindex: 0, "aria-label": "Transcript" });
  const chips = at("div", "chips", { role: "group", "aria-label": "Dimensions" });
  const definition = at("p", "definition");
  const levels = at("div", "levels", { role: "radiogroup" });
  const noteBox = at("textarea", "note", { rows: 1, maxlength: 10000 });
  const failureBox = at("textarea", "failure", { rows: 1, "aria-label": "What went wrong",
    maxlength: 10000, placeholder: "what went wrong, in words; Enter adds it" });
  const noted = at("ul", "noted");
  const field = (key, name, ...boxes) => el("label", { class: "field" }, el("kbd", {}, key),
    el("span", {}, name), el("div", {}, ...boxes));
  const say = el("section", { class: "say", "aria-label": "Labels" }, definition, levels);
  const panes = el("div", { class: "panes" }, read, say);
  // Outside of what scrolls: neither the active dimension nor a box leaves the view.
  const fields = el("div", { class: "fields" }, field("n", "Note", noteBox),
    field("f", "Failure", failureBox, noted));
  const done = at("section", "done", { hidden: true });
  const foot = at("footer", "keys");
  const help = at("div", "help", { role: "dialog", "aria-label": "Keys", hidden: true });
  const live = at("div", "live", { role: "status", "aria-live": "polite" });
  const root = el("div", {
    class: "agenteval-labeler", role: "application", tabindex: 0,
    // Without this JupyterLab reads the keys as its own: two d delete the cell.
    "data-lm-suppress-shortcuts": "true",
  }, top, chips, alert, told, panes, fields, done, foot, help, live);
  help.append(el("h3", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([key, , does]) =>
    [el("dt", {}, ...caps(key)), el("dd", {}, does)])));

  let state = model.get("state");
  let item = null;
  let noteOf = null; // which transcript and dimension the note box is about
  let kept = ""; // what of it is saved
  let pointed = null; // the turn that j and k point at
  let open = false; // whether tool calls are shown open
  let whole = null; // whether the definition is shown whole; null: where there is room
  let savedAt = Date.parse(state.saved_at) || null;
  let again = false; // whether one looks at what is finished
  let waiting = null; // the message that is not answered yet, and when its key was pressed
  let queue = [];
  let sent = 0;
  let silence = null;

  // --- to the kernel and back ---

  // One message at a time, and each says which transcript its sender saw.
  function send(message) {
    const asked = { message: { ...message, seen: item.position }, at: performance.now() };
    if (waiting === null) post(asked);
    else if (alert.hidden) queue.push(asked);
  }

  function post(asked) {
    waiting = asked;
    sent += 1;
    silence = setTimeout(lost, PATIENCE);
    try {
      model.send({ ...asked.message, ack: [view, sent] });
    } catch {
      lost();
    }
  }

  function lost() {
    tell("The kernel does not answer: it is busy, or it was stopped. The last key may not be saved; " +
      "what was said before it is. If it stays so, run the notebook again (load the page anew): " +
      "you go on where you were.");
  }

  function tell(text) {
    alert.textContent = text;
    alert.hidden = !text;
  }

  function answered() {
    const before = state;
    const held = root.contains(document.activeElement);
    state = model.get("state");
    const [by, number] = state.ack;
    const asked = by === view && number === sent ? waiting : null;
    if (asked) {
      clearTimeout(silence);
      waiting = null;
      again = state.finished && !["label", "next"].includes(asked.message.op);
    }
    if (state.saved_at !== before.saved_at) savedAt = Date.now();
    const moved = show() || state.finished !== before.finished;
    if (asked) live.textContent = state.message || spoken(asked.message, before);
    if (held && !typing(document.activeElement)) root.focus({ preventScroll: true });
    if (!asked) return;
    // Two frames on, what was drawn is on the screen.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.measure(
      moved ? "labeler-transcript" : "labeler-key", { start: asked.at, end: performance.now() })));
    // What was typed before this transcript was seen is not about it.
    if (moved && queue.length) {
      const typed = queue.map(({ message }) => message.text ?? message.op).join(", ");
      tell(`Too quick: another transcript had come up, so this was not used: ${typed}`);
      queue = [];
    }
    if (state.error) queue = [];
    const next = queue.shift();
    if (next) post(next);
  }

  function spoken({ op, score }, before) {
    if (state.error) return "";
    if (op === "label") return `saved: ${words(before.dimension)} ${score ?? "cannot tell"}`;
    return { note: "note saved", failure: "failure saved", mark: "mark saved", undo: "undone",
      skip: "skipped" }[op] ?? "";
  }

  // --- drawing ---

  const over = () => state.finished && !again;
  const active = () => state.dimensions.find((one) => one.name === state.dimension);

  function show() {
    const moved = model.get("item") !== item;
    if (moved) {
      item = model.get("item");
      pointed = null;
      drawTranscript();
    }
    root.setAttribute("aria-label", `Labelling as ${state.rater}; ? lists the keys`);
    panes.hidden = fields.hidden = over();
    done.hidden = !over();
    root.classList.toggle("over", over());
    if (over()) drawDone();
    drawTop();
    drawSay();
    drawMarks();
    drawFoot();
    tell(state.error);
    told.textContent = state.message;
    told.hidden = !state.message || over();
    return moved;
  }

  function drawTop() {
    const p = state.progress;
    const part = p.total ? p.done / p.total : 0;
    const bar = el("i");
    bar.style.width = `${100 * part}%`;
    top.replaceChildren(
      el("strong", {}, state.rater),
      el("span", { class: "count" }, `${p.done} of ${p.total}`
        + (p.skipped ? `, ${p.skipped} skipped` : "")),
      el("span", { class: "bar", role: "progressbar", "aria-label": "Transcripts labelled",
        "aria-valuemin": 0, "aria-valuemax": p.total, "aria-valuenow": p.done }, bar),
      el("span", { class: "saved" }, savedWords()),
    );
  }

  function savedWords() {
    if (savedAt === null) return "nothing said yet";
    const seconds = Math.max(0, Math.round((Date.now() - savedAt) / 1000));
    if (seconds < 60) return `saved ${seconds} s ago`;
    if (seconds < 3600) return `saved ${Math.round(seconds / 60)} min ago`;
    return `saved ${new Date(savedAt).toLocaleString()}`;
  }

  function drawTranscript() {
    const repeat = item.item.repeat ? `, repeat ${item.item.repeat}` : "";
    const parts = [el("p", { class: "head" }, said("b", "case", item.item.case_id),
      `${repeat} · ${many(item.turns.length, "turn")} · transcript ${item.position + 1} of ${item.total}`)];
    if (item.expected) {
      parts.push(el("div", { class: "expected" }, el("span", { class: "who" }, "expected"),
        said("div", "said", item.expected)));
    }
    if (item.system) parts.push(folded("the agent's instructions", "", [["", item.system, "system"]]));
    parts.push(el("ol", { class: "turns" }, ...item.turns.map(drawTurn)));
    if (item.ended) parts.push(said("p", "end", item.ended));
    if (item.output) {
      parts.push(el("h3", {}, "The record that the agent returned"), piece(item.output, "output"));
    }
    if (item.sources.length) {
      parts.push(el("h3", {}, "The passages it was given"), el("ol", { class: "turns" },
        ...item.sources.map((one, at) => el("li", { class: "turn" }, said("span", "who", one.id),
          piece(one.text, `sources/${at}/text`, "said")))));
    }
    read.replaceChildren(...parts);
    read.scrollTop = 0;
  }

  function drawTurn(turn) {
    const who = { assistant: "agent" }[turn.role] ?? turn.role;
    const place = `turns/${turn.turn}`;
    const number = el("button", { class: "who", type: "button", tabindex: -1,
      title: "mark this turn" }, `${turn.turn} ${who}`);
    number.addEventListener("click", () => mark(turn.turn));
    const body = el("div");
    if (turn.role === "tool") {
      body.append(folded(`result${turn.name ? ` of ${turn.name}` : ""}`, `: ${brief(turn.text)}`,
        [["", turn.text, `${place}/text`]]));
    } else if (turn.text) {
      body.append(piece(turn.text, `${place}/text`, "said"));
    }
    if (turn.refusal) {
      body.append(el("span", { class: "who" }, "refuses"),
        piece(turn.refusal, `${place}/refusal`, "said"));
    }
    turn.calls.forEach((call, at) => body.append(drawCall(call, `${place}/calls/${at}`)));
    if (!body.childNodes.length) body.append(el("span", { class: "who" }, "(no text)"));
    return el("li", { class: `turn by-${who}`, "data-turn": turn.turn }, number, body);
  }

  function drawCall(call, place) {
    const rows = [["arguments", call.arguments, `${place}/arguments`]];
    if (call.malformed) rows.push(["malformed", call.malformed, ""]);
    if (call.error) rows.push(["error", call.error, `${place}/error`]);
    // A result that has a turn of its own is read there.
    if (call.result_turn === null) {
      rows.push(["result", call.result ?? "(no reply)", `${place}/result`]);
    }
    const answer = call.result_turn === null && call.result ? ` → ${brief(call.result)}` : "";
    const made = folded(call.name, ` ${brief(call.arguments)}${answer}`, rows);
    const fault = call.malformed ? "malformed" : call.error ? "error" : "";
    if (fault) made.firstChild.append(el("b", { class: "fault" }, ` ${fault}`));
    return made;
  }

  // The gist stands for the rows until they are opened.
  function folded(title, gist, rows) {
    return el("details", { open }, el("summary", { class: "tool" }, el("span", { class: "brief" },
      said("span", "", title), said("span", "gist", gist))), ...rows.flatMap(([name, text, place]) =>
      [name ? el("span", { class: "who" }, name) : null, piece(text, place)]));
  }

  // A text; where it was cut, with a button that fetches it whole.
  function piece(text, place, kind = "code") {
    const made = said("div", kind, text);
    if (!item.cut.some((one) => one.place === place)) return made;
    const more = el("button", { class: "more", type: "button" }, "show all of it");
    more.addEventListener("click", () => send({ op: "whole", place }));
    return el("div", { "data-place": place }, made, more);
  }

  function opened({ place, text }) {
    const found = read.querySelector(`[data-place="${place}"]`);
    found?.replaceChildren(said("div", found.firstChild.className, text));
  }

  function drawSay() {
    const now = active();
    chips.hidden = !now || over();
    say.hidden = !now;
    chips.replaceChildren(...state.dimensions.map((one) => {
      const chip = el("button", { type: "button", class: one.answered ? "given" : null,
        "aria-current": one === now ? "true" : null }, words(one.name),
        one.answered ? el("b", {}, ` ${one.score ?? "?"}`) : null);
      chip.addEventListener("click", () => send({ op: "choose", dimension: one.name }));
      return chip;
    }));
    if (now) {
      const not = now.not_rewarded.length ? ` Not rewarded: ${now.not_rewarded.join("; ")}.` : "";
      definition.replaceChildren(said("span", "", now.definition + not));
      drawLevels(now);
      fit();
    }
    const about = `${item.position}/${state.dimension}`;
    // What is being typed is not lost to the answer to something else: it goes where one is now.
    const writing = document.activeElement === noteBox;
    if (about !== noteOf || !writing) {
      const typed = writing && noteBox.value.startsWith(kept) ? noteBox.value.slice(kept.length) : "";
      kept = now ? now.note : state.note;
      noteBox.value = kept + typed;
      noteOf = about;
    }
    const on = now ? `on ${words(now.name)}` : "on the transcript";
    noteBox.placeholder = `${on}; Enter keeps it`;
    noteBox.setAttribute("aria-label", `Note ${on}`);
    noted.replaceChildren(...state.failures.map((one) =>
      el("li", {}, said("span", "", one.text), one.turn === null ? null : ` (turn ${one.turn})`)));
  }

  function drawLevels(now) {
    const rows = [...now.levels].reverse().map((level) =>
      [level, keyOf(level), now.anchors[level] || "(between the levels around it)"]);
    rows.push([null, "c", "Cannot tell"]);
    levels.setAttribute("aria-label", words(now.name));
    levels.replaceChildren(...rows.map(([level, key, text]) => {
      const on = now.answered && now.score === level;
      const made = el("button", { type: "button", role: "radio", "aria-checked": String(on) },
        key ? el("kbd", {}, key) : el("b", { class: "level" }, String(level)), said("span", "", text));
      made.addEventListener("click", () => label(level));
      return made;
    }));
  }

  // A definition is cut to two lines only where the levels need its room.
  function fit() {
    const cut = (is) => definition.classList.toggle("cut", is);
    cut(false);
    cut(whole === null ? levels.scrollHeight > levels.clientHeight : !whole);
  }

  function drawMarks() {
    for (const turn of read.querySelectorAll("[data-turn]")) {
      const number = Number(turn.dataset.turn);
      turn.classList.toggle("pointed", number === pointed);
      turn.classList.toggle("marked", number === state.mark);
    }
  }

  function drawDone() {
    const p = state.progress;
    const what = state.dimensions.length ? "labelled" : "read";
    done.replaceChildren(
      el("h3", {}, `All ${many(p.total, "transcript")} are ${what}`),
      el("p", {}, `${many(p.labels, "label")} of ${state.rater}, every one of them on disk.`),
      el("p", {}, el("kbd", {}, "Backspace"), " opens the last one again, to change what was said."),
    );
  }

  function drawFoot() {
    const usable = (active()?.levels ?? []).map(keyOf).filter(Boolean);
    const works = (key) => (over() ? LAST_PAGE.includes(key)
      : key === DIGITS ? usable.length
      : OF_SCALE.includes(key) ? active()
      : key !== "← →" || state.dimensions.length > 1);
    foot.replaceChildren(
      el("span", { class: "asleep" }, "Click here, or press Tab until you are here: then the keys work."),
      ...KEYS.filter(([key, does]) => does && works(key)).map(([key, does]) => el("span", {},
        ...caps(key === DIGITS ? `${usable[0]} – ${usable.at(-1)}` : key), ` ${does}`)));
  }

  // --- what keys and clicks do ---

  const label = (level) => send({ op: "label", score: level });

  function mark(turn) {
    pointed = turn;
    send({ op: "mark", turn: state.mark === turn ? null : turn });
  }

  function point(step) {
    const last = item.turns.length - 1;
    if (last < 0) return;
    pointed = pointed === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, pointed + step));
    drawMarks();
    const turn = read.querySelector(`[data-turn="${pointed}"]`);
    turn.scrollIntoView({ block: "nearest" });
    live.textContent = turn.textContent.slice(0, 400);
  }

  function openCalls() {
    const within = pointed === null ? read : read.querySelector(`[data-turn="${pointed}"]`);
    const found = [...within.querySelectorAll("details")];
    const unfold = found.some((one) => !one.open);
    for (const one of found) one.open = unfold;
    if (pointed === null && found.length) open = unfold;
  }

  function turnTo(step) {
    const names = state.dimensions.map((one) => one.name);
    if (names.length < 2) return;
    const next = (names.indexOf(state.dimension) + step + names.length) % names.length;
    send({ op: "choose", dimension: names[next] });
  }

  function digit(key) {
    const now = active();
    if (!now) return;
    const level = now.levels.find((one) => keyOf(one) === key);
    if (level !== undefined) label(level);
    else if (key === "0") label(null);
    else tell(`${key} is no level of ${words(now.name)}; nothing was saved`);
  }

  function back() {
    if (!over()) return send({ op: "back" });
    again = true; // what was read last lies under the last page
    show();
  }

  function toggleHelp(open) {
    help.hidden = !open;
    root.focus({ preventScroll: true });
  }

  const typing = (node) => node === noteBox || node === failureBox;

  function box(event) {
    const leave = event.key === "Escape";
    if (!leave && (event.key !== "Enter" || event.shiftKey)) return;
    event.preventDefault();
    if (event.target === failureBox && !leave) addFailure();
    root.focus({ preventScroll: true }); // the note is kept as its box is left
  }

  function addFailure() {
    const text = failureBox.value.trim();
    if (text) send({ op: "failure", text, turn: pointed });
    failureBox.value = "";
  }

  const once = {
    Enter: () => send({ op: "next" }),
    Backspace: back,
    s: () => send({ op: "skip" }),
    u: () => send({ op: "undo" }),
    c: () => state.dimensions.length && label(null),
    t: () => (pointed === null ? tell("Point at a turn first, with j and k, or click its number.")
      : mark(pointed)),
    o: openCalls,
    d: () => {
      whole = definition.classList.contains("cut");
      fit();
    },
    n: () => noteBox.focus({ preventScroll: true }),
    f: () => failureBox.focus({ preventScroll: true }),
    "?": () => toggleHelp(true),
  };
  const steps = {
    j: () => point(1),
    k: () => point(-1),
    ArrowRight: () => turnTo(1),
    ArrowLeft: () => turnTo(-1),
  };

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    event.stopPropagation();
    root.scrollIntoView({ block: "nearest" });
    if (typing(event.target)) return box(event);
    let name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!help.hidden) {
      if (["Escape", "?", "Enter"].includes(name)) toggleHelp(false);
      return event.preventDefault();
    }
    if (event.target.closest("button, summary") && (name === "Enter" || name === " ")) return;
    // On some keyboards the digits stand above the signs.
    const physical = event.shiftKey ? null : /^Digit(\d)$/.exec(event.code);
    if (!/^\d$/.test(name) && physical) name = physical[1];
    if (/^\d$/.test(name) || name in once) {
      event.preventDefault();
      // A key that is held down says what it says once.
      if (event.repeat || (over() && !LAST_PAGE.includes(name))) return;
      if (waiting === null) tell("");
      return name in once ? once[name]() : digit(name);
    }
    if (over()) return;
    if (name in steps) {
      event.preventDefault();
      steps[name]();
    } else if (name in SCROLL) {
      event.preventDefault();
      const page = read.clientHeight - 60;
      read.scrollBy(0, { page, "-page": -page }[SCROLL[name]] ?? SCROLL[name]);
    } else if (name === "Home" || name === "End") {
      event.preventDefault();
      read.scrollTo(0, name === "Home" ? 0 : read.scrollHeight);
    }
  }

  root.addEventListener("keydown", key);
  noteBox.addEventListener("change", () => send({ op: "note", text: noteBox.value.trim() }));
  // A click on plain text selects it and leaves the keys alive.
  root.addEventListener("click", (event) => {
    if (!typing(event.target) && !event.target.closest("summary, label")) {
      root.focus({ preventScroll: true });
    }
  });
  // JupyterLab's kernel lives on when its page is closed: it must not keep the rater's name.
  const leave = () => {
    try {
      model.send({ op: "leave", ack: [view, 0] });
    } catch {
      // Voilà has closed the connection by now, and ends the kernel.
    }
  };
  window.addEventListener("beforeunload", leave);
  model.on("change:state", answered);
  model.on("msg:custom", opened);
  const clock = setInterval(() => {
    const saved = top.querySelector(".saved");
    if (saved) saved.textContent = savedWords();
  }, 1000);
  const room = new ResizeObserver(() => active() && fit());
  room.observe(panes);
  signal?.addEventListener("abort", () => {
    room.disconnect();
    window.removeEventListener("beforeunload", leave);
    leave();
    model.off("change:state", answered);
    model.off("msg:custom", opened);
    clearInterval(clock);
    clearTimeout(silence);
  });

  show();
  host.replaceChildren(root);
  // In Voilà the page is the widget; in JupyterLab the focus is elsewhere and stays there.
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) root.focus({ preventScroll: true });
  });
}

export default { render };
