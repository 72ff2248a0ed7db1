// The static page: its elements ask Python, which runs in a worker, and show what it answers.

const EXAMPLE = `target\tJ1\tJ2\tJ3\tJ4
1\t9\t2\t5\t8
2\t6\t1\t3\t2
3\t8\t4\t6\t8
4\t7\t1\t2\t6
5\t10\t5\t6\t9
6\t6\t2\t4\t7
`; // Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420
const COLUMNS = { item: "Item", rater: "Rater", rating: "Rating", pool: "Pool", gold: "Known answer" };
const OPTIONS = {
  shape: ["Layout", { long: "one rating per row", wide: "a column per rater" }],
  scale: ["Kind of ratings", { "": "guessed", nominal: "categories", ordered: "grades", numeric: "amounts" }],
  missing: ["Rows without a rating", { error: "refuse", drop: "leave out" }],
  replicates: ["Repeated ratings", { error: "refuse", keep: "keep" }],
  twins: ["Spellings", { error: "refuse", join: "join" }],
  decimal: ["Decimal sign", { "": "guessed", ".": "point", ",": "comma" }],
};

const LONG = 20_000; // characters

const find = (selector) => document.querySelector(selector);
const found = (section) => find(`#${section} .found`);
const status = find("#status");
const cancel = find("#cancel");

let worker;
let waiting; // what to call with the answer to each question
let table; // the question that brought the table, to ask again after a cancelled computation

function begin() {
  waiting = new Map();
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.progress) status.textContent = `${data.progress} ...`;
    else if (data.broken) status.textContent = `This page cannot compute here. ${data.broken}`;
    else if (data.id) waiting.get(data.id)(data);
  };
  worker.onerror = (event) => {
    status.textContent = `This page cannot compute here. ${event.message ?? "A file is missing."}`;
  };
  return ask("Loading", "begin").then(({ style, heading, formats }) => {
    if (!find("#style")) {
      document.head.insertAdjacentHTML("beforeend", `<template id="style"></template>${style}`);
      find("#heading").innerHTML = heading;
      find("#file").accept = formats.join(",");
    }
  });
}

function ask(what, name, ...given) {
  const id = crypto.randomUUID?.() ?? String(Math.random());
  return new Promise((resolve, reject) => {
    waiting.set(id, ({ kind, value }) => {
      waiting.delete(id);
      work(null);
      if (kind === "result") resolve(value);
      else reject(new Error(value));
    });
    work(what);
    worker.postMessage({ id, name, arguments: given });
  });
}

function work(what) {
  for (const button of document.querySelectorAll("section button, section select")) button.disabled = Boolean(what);
  cancel.hidden = !what || what === "Loading";
  status.textContent = what ? `${what} ...` : "";
}

function show(place, html) {
  place.innerHTML = html;
}

function failed(place) {
  return (error) => {
    place.replaceChildren();
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = error.message;
    place.append(text);
  };
}

function answer(place, what, name, ...given) {
  return ask(what, name, ...given).then((html) => show(place, html), failed(place));
}

cancel.onclick = () => {
  worker.terminate();
  begin().then(() => table && take(...table));
  find("#shown").hidden = true;
  for (const place of document.querySelectorAll("section:not(#ratings) .found")) place.replaceChildren();
};

// Your ratings.

function take(name, ...given) {
  table = [name, ...given];
  return ask("Reading", name, ...given).then(use, failed(found("ratings")));
}

function use(read) {
  show(found("ratings"), read.html);
  const boxes = [...found("ratings").querySelectorAll("input[name=repair]")];
  for (const box of boxes)
    box.onchange = () => ask("Reading", "tick", boxes.map((each) => each.checked)).then(use, failed(found("ratings")));
  find("#shown").hidden = true;
  for (const place of document.querySelectorAll("section:not(#ratings, #simulate) .found")) place.replaceChildren();
  find("#columns").hidden = !read.columns;
  find("#download").hidden = true;
  if (!read.columns) return;
  find("#columns").replaceChildren(...controls(read));
  offer("reliability", read.models.reliability);
  offer("truth", read.models.truth);
}

function controls({ columns, reading }) {
  const all = Object.fromEntries(columns.map((name) => [name, name]));
  const wide = reading.shape === "wide";
  const roles = Object.entries(COLUMNS).filter(([role]) => !wide || role === "item" || role === "gold");
  const options = Object.entries(OPTIONS).filter(([name]) => !wide || !["missing", "replicates"].includes(name));
  return [
    ...roles.map(([role, label]) => [role, label, role === "pool" || role === "gold" ? { "": "none", ...all } : all]),
    ...options.map(([name, [label, values]]) => [name, label, values]),
  ].map(([name, label, values]) => control(name, label, values, reading[name] ?? ""));
}

function control(name, text, values, value) {
  const label = document.createElement("label");
  const select = document.createElement("select");
  select.append(...Object.entries(values).map(([each, shown]) => new Option(shown, each, false, each === value)));
  select.onchange = () => ask("Reading", "read", { [name]: select.value }).then(use, failed(found("ratings")));
  label.append(`${text} `, select);
  return label;
}

function offer(question, { models, none }) {
  const select = find(`#${question}-model`);
  const here = ({ refusal }) => question === "truth" || !refusal;
  select.replaceChildren(...models.map((each) => new Option(here(each) ? each.name : `${each.name}: not in a browser`, each.name)));
  select.closest(".row").hidden = models.length === 0;
  select.onchange = () => show(find(`#${question} .why`), models[select.selectedIndex]?.why ?? "");
  select.onchange();
  if (none) show(found(question), none);
}

// Browsers take minutes to insert thousands of lines as if they were typed.
find("#pasted").onpaste = (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (text.length < LONG) return;
  event.preventDefault();
  const area = event.target;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
};
find("#read").onclick = () => take("paste", find("#pasted").value);
find("#example").onclick = () => {
  find("#pasted").value = EXAMPLE;
  take("paste", EXAMPLE);
};
find("#file").onchange = async ({ target: { files: [file] } }) => {
  if (!file) return;
  const url = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(file);
  });
  take("drop", file.name, url.slice(url.indexOf(",") + 1));
};

// The other tabs.

const target = find("#target");
const goal = () => Number(target.value);
const shown = () => answer(found("reliability"), "Computing", "show", "Reliability", find("#part").value, goal());

find("#fit").onclick = () => {
  find("#part").value = "";
  answer(found("reliability"), "Sampling", "fit", "Reliability", find("#reliability-model").value, goal())
    .then(() => { find("#shown").hidden = false; });
};
target.oninput = () => { find("output").textContent = goal().toFixed(2); };
target.onchange = shown;
find("#part").onchange = shown;
find("#agree").onclick = () => answer(found("agreement"), "Computing", "agreement");
find("#estimate").onclick = () => answer(found("truth"), "Estimating", "estimate", find("#truth-model").value);

function values(form) {
  const filled = [...find(form).elements].filter(({ value }) => value !== "");
  return Object.fromEntries(filled.map(({ name, type, value }) => [name, type === "number" ? Number(value) : value]));
}

function simulate(name, place, ...forms) {
  find(`#${name}`).onclick = () => {
    if (forms.every((form) => find(form).reportValidity())) answer(find(place), "Simulating", name, ...forms.map(values));
  };
}
simulate("matrix", "#matrix-found", "#matrix-form");
simulate("study", "#matrix-found", "#matrix-form", "#own-form");
simulate("tap", "#tap-found", "#tap-form");

find("#write").onclick = () => {
  ask("Writing", "report", goal()).then(({ code, page }) => {
    show(found("report"), code);
    const link = find("#download");
    link.hidden = !page;
    if (page) link.href = URL.createObjectURL(new Blob([Uint8Array.from(atob(page), (c) => c.charCodeAt(0))], { type: "text/html" }));
  }, failed(found("report")));
};

// Tabs, also by the arrow keys.

const tabs = [...document.querySelectorAll("[role=tab]")];

function open(tab) {
  for (const each of tabs) {
    const isOpen = each === tab;
    each.setAttribute("aria-selected", isOpen);
    each.tabIndex = isOpen ? 0 : -1;
    find(`#${each.getAttribute("aria-controls")}`).hidden = !isOpen;
  }
}
for (const [at, tab] of tabs.entries()) {
  tab.onclick = () => open(tab);
  tab.onkeydown = ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(at + step + tabs.length) % tabs.length];
    open(next);
    next.focus();
  };
}

begin();
