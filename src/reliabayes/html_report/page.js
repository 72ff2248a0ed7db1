"use strict";

// Tables sort, filter and page; without this script their first rows stand in the page.
(() => {
  const PAGE = 20;
  const PRINTED = 60;
  const FILTERED = 10; // rows from which on a table can be filtered
  const collator = new Intl.Collator("en", { numeric: true });
  const comparison = /^(.*?)\s*(<=|>=|<|>|=)\s*(-?\d*\.?\d+)%?$/;
  const compare = {
    "<": (a, b) => a < b,
    ">": (a, b) => a > b,
    "<=": (a, b) => a <= b,
    ">=": (a, b) => a >= b,
    "=": (a, b) => a === b,
  };

  const made = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const whole = (number) => number.toLocaleString("en-US");
  const isNumber = (column) => "decimals" in column || "shown" in column;

  function textOf(column, row) {
    if (column.shown) return column.shown[row];
    const value = column.values[row];
    if (value === null) return "-";
    if (!("decimals" in column)) return value;
    const digits = column.decimals;
    return value.toLocaleString("en-US", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  }

  // Rows by what stands in a column; what is not known comes last, in either order.
  function inOrder(column, descending) {
    const { values } = column;
    const sign = descending ? -1 : 1;
    const rows = Array.from(values.keys());
    const step = isNumber(column)
      ? (a, b) => values[a] - values[b]
      : (a, b) => collator.compare(values[a], values[b]);
    const known = rows.filter((row) => values[row] !== null);
    known.sort((a, b) => sign * step(a, b) || a - b);
    return known.concat(rows.filter((row) => values[row] === null));
  }

  // Whether a row has what is asked for: "name < number" of a column, or a text in any other.
  function asked(text, columns) {
    const parts = comparison.exec(text);
    const named = parts && columns.find(
      (column) => isNumber(column) && column.name.toLowerCase() === parts[1].toLowerCase(),
    );
    if (named) {
      const limit = Number(parts[3]);
      return (row) => named.values[row] !== null && compare[parts[2]](named.values[row], limit);
    }
    const sought = text.toLowerCase();
    const texts = columns.filter((column) => !isNumber(column));
    return (row) => texts.some((column) => column.values[row].toLowerCase().includes(sought));
  }

  function enhance(box) {
    const total = Number(box.dataset.rows);
    if (total < 2) return;
    const body = box.querySelector("tbody");
    const heads = [...box.querySelectorAll("thead th")];
    let columns = null;
    let order = null;
    let rows = null;
    let page = 0;

    // All rows are read when they are first asked for.
    function read() {
      if (columns) return;
      ({ columns } = JSON.parse(box.querySelector("script").textContent));
      order = Array.from({ length: total }, (_, row) => row);
      rows = order;
    }

    function show(start, number) {
      body.replaceChildren(...rows.slice(start, start + number).map((row) => {
        const line = made("tr", {});
        columns.forEach((column, place) => {
          const cell = made(place ? "td" : "th", { textContent: textOf(column, row) });
          if (!place) cell.scope = "row";
          if (isNumber(column)) cell.className = "number";
          line.append(cell);
        });
        return line;
      }));
      const last = Math.min(start + number, rows.length);
      const some = rows.length < total ? ` (of ${whole(total)})` : "";
      status.textContent = rows.length
        ? `Rows ${whole(start + 1)} to ${whole(last)} of ${whole(rows.length)}${some}`
        : `No row of ${whole(total)} has that`;
      back.disabled = start === 0;
      next.disabled = last >= rows.length;
    }

    function turn(to) {
      read();
      page = to;
      show(page * PAGE, PAGE);
    }

    function filter() {
      read();
      const text = field.value.trim();
      rows = text ? order.filter(asked(text, columns)) : order;
      turn(0);
    }

    function sort(place) {
      read();
      const column = columns[place];
      const was = heads[place].getAttribute("aria-sort");
      const descending = was ? was === "ascending" : isNumber(column);
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[place].setAttribute("aria-sort", descending ? "descending" : "ascending");
      order = inOrder(column, descending);
      filter();
    }

    heads.forEach((head, place) => {
      const button = made("button", { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => sort(place));
      head.replaceChildren(button);
    });

    const field = made("input", { type: "search", placeholder: example(heads) });
    const label = made("label", { textContent: "Filter" });
    label.append(field);
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, total > 5000 ? 200 : 0);
    });
    const tools = made("div", { className: "tools" });
    tools.append(label);
    if (total >= FILTERED) box.prepend(tools);

    const status = box.querySelector(".status") ?? made("p", { className: "status" });
    status.setAttribute("role", "status");
    const back = made("button", { type: "button", textContent: "Back", disabled: true });
    const next = made("button", { type: "button", textContent: "Next" });
    const name = box.querySelector("caption").textContent;
    back.setAttribute("aria-label", `Back: ${name}`);
    next.setAttribute("aria-label", `Next: ${name}`);
    back.addEventListener("click", () => turn(page - 1));
    next.addEventListener("click", () => turn(page + 1));
    const pages = made("div", { className: "pages" });
    pages.append(back, next);
    if (total > PAGE) status.after(pages);
    else if (total >= FILTERED) box.querySelector(".scroll").after(status);

    window.addEventListener("beforeprint", () => {
      read();
      show(0, PRINTED);
    });
    window.addEventListener("afterprint", () => turn(page));
  }

  function example(heads) {
    const numbers = heads.filter((head) => head.classList.contains("number"));
    const number = numbers.find((head) => head.textContent !== "ratings");
    return number ? `a name, or ${number.textContent} > 0.5` : "a name";
  }

  function offerScheme() {
    const button = document.getElementById("scheme");
    const root = document.documentElement;
    const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.scheme ?? (prefersDark.matches ? "dark" : "light")) === "dark";
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.setAttribute("aria-label", "Switch between light and dark");
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.scheme = isDark() ? "light" : "dark";
      name();
    });
    prefersDark.addEventListener("change", name);
    name();
  }

  document.querySelectorAll(".table").forEach(enhance);
  offerScheme();
})();
