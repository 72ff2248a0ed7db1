"use strict";

// Makes tables sortable, filterable and paged; without this script the page shows their first rows.
(() => {
  const PAGE = 20;
  const PRINTED = 60; // rows of a table on paper
  const FILTERABLE = 10; // rows from which on a table has a filter
  const collator = new Intl.Collator("en", { numeric: true });
  const comparison = /^(.*?)\s*(<=|>=|<|>|=)\s*(-?\d*\.?\d+)%?$/;
  const compare = {
    "<": (a, b) => a < b,
    ">": (a, b) => a > b,
    "<=": (a, b) => a <= b,
    ">=": (a, b) => a >= b,
    "=": (a, b) => a === b,
  };

  const create = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const withCommas = (number) => number.toLocaleString("en-US");
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

  // Row numbers sorted by a column; missing values come last in either order.
  function sorted(column, descending) {
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

  // A test whether a row matches the filter: "column < number", or a text in any text column.
  function matcher(text, columns) {
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

    // Parses all rows when they are first needed.
    function read() {
      if (columns) return;
      ({ columns } = JSON.parse(box.querySelector("script").textContent));
      order = Array.from({ length: total }, (_, row) => row);
      rows = order;
    }

    function show(start, number) {
      body.replaceChildren(...rows.slice(start, start + number).map((row) => {
        const line = create("tr", {});
        columns.forEach((column, place) => {
          const cell = create(place ? "td" : "th", { textContent: textOf(column, row) });
          if (!place) cell.scope = "row";
          if (isNumber(column)) cell.className = "number";
          line.append(cell);
        });
        return line;
      }));
      const last = Math.min(start + number, rows.length);
      const some = rows.length < total ? ` (of ${withCommas(total)})` : "";
      status.textContent = rows.length
        ? `Rows ${withCommas(start + 1)} to ${withCommas(last)} of ${withCommas(rows.length)}${some}`
        : `None of the ${withCommas(total)} rows match`;
      previous.disabled = start === 0;
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
      rows = text ? order.filter(matcher(text, columns)) : order;
      turn(0);
    }

    function sort(place) {
      read();
      const column = columns[place];
      const was = heads[place].getAttribute("aria-sort");
      const descending = was ? was === "ascending" : isNumber(column);
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      heads[place].setAttribute("aria-sort", descending ? "descending" : "ascending");
      order = sorted(column, descending);
      filter();
    }

    heads.forEach((head, place) => {
      const button = create("button", { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => sort(place));
      head.replaceChildren(button);
    });

    const field = create("input", { type: "search", placeholder: example(heads) });
    const label = create("label", { textContent: "Filter" });
    label.append(field);
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(filter, total > 5000 ? 200 : 0);
    });
    const tools = create("div", { className: "tools" });
    tools.append(label);
    if (total >= FILTERABLE) box.prepend(tools);

    const status = box.querySelector(".status") ?? create("p", { className: "status" });
    status.setAttribute("role", "status");
    const previous = create("button", { type: "button", textContent: "Previous", disabled: true });
    const next = create("button", { type: "button", textContent: "Next" });
    const name = box.querySelector("caption").textContent;
    previous.setAttribute("aria-label", `Previous: ${name}`);
    next.setAttribute("aria-label", `Next: ${name}`);
    previous.addEventListener("click", () => turn(page - 1));
    next.addEventListener("click", () => turn(page + 1));
    const pages = create("div", { className: "pages" });
    pages.append(previous, next);
    if (total > PAGE) status.after(pages);
    else if (total >= FILTERABLE) box.querySelector(".scroll").after(status);

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
