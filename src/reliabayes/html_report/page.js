"use strict";

// Makes tables sortable, filterable, paged and files; without this script the page shows their first rows.
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

  // What begins a formula, as in the files that the package writes: an apostrophe keeps it a text.
  const formula = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

  function csvOf(columns, rows) {
    const cell = (text, isText) => {
      const safe = isText && formula.test(text) ? `'${text}` : text;
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    };
    const line = (row) => columns.map(
      (column) => cell(String(column.values[row] ?? ""), !isNumber(column)),
    );
    const names = columns.map((column) => cell(column.name, true));
    return [names, ...rows.map(line)].map((cells) => `${cells.join(",")}\n`).join("");
  }

  function workbookOf(columns, rows) {
    const office = "http://schemas.openxmlformats.org";
    const types = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
    const safe = (text) => text
      .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
    const text = (value) =>
      `<c t="inlineStr"><is><t xml:space="preserve">${safe(value)}</t></is></c>`;
    const cell = (column, row) => {
      const value = column.values[row];
      if (value === null) return "<c/>";
      return isNumber(column) ? `<c><v>${value}</v></c>` : text(value);
    };
    const lines = [
      columns.map((column) => text(column.name)),
      ...rows.map((row) => columns.map((column) => cell(column, row))),
    ].map((cells) => `<row>${cells.join("")}</row>`);
    const relation = (name, target) => `${head}<Relationships xmlns="${office}/package/2006/`
      + `relationships"><Relationship Id="r1" Type="${office}/officeDocument/2006/relationships/`
      + `${name}" Target="${target}"/></Relationships>`;
    return zipped({
      "[Content_Types].xml": `${head}<Types xmlns="${office}/package/2006/content-types"><Default `
        + 'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        + `<Override PartName="/book.xml" ContentType="${types}.sheet.main+xml"/>`
        + `<Override PartName="/sheet.xml" ContentType="${types}.worksheet+xml"/></Types>`,
      "_rels/.rels": relation("officeDocument", "book.xml"),
      "_rels/book.xml.rels": relation("worksheet", "sheet.xml"),
      "book.xml": `${head}<workbook xmlns="${office}/spreadsheetml/2006/main" xmlns:r="${office}/`
        + 'officeDocument/2006/relationships"><sheets><sheet name="table" sheetId="1" r:id="r1"/>'
        + "</sheets></workbook>",
      "sheet.xml": `${head}<worksheet xmlns="${office}/spreadsheetml/2006/main"><sheetData>`
        + `${lines.join("")}</sheetData></worksheet>`,
    });
  }

  const remainders = Int32Array.from({ length: 256 }, (_, number) => {
    let found = number;
    for (let bit = 0; bit < 8; bit += 1) found = (found >>> 1) ^ (found & 1 ? 0xedb88320 : 0);
    return found;
  });

  function checksum(bytes) {
    let found = -1;
    for (const byte of bytes) found = remainders[(found ^ byte) & 255] ^ (found >>> 8);
    return ~found;
  }

  // A zip archive of texts, which are not compressed.
  function zipped(texts) {
    const number = (value, size) => Array.from({ length: size }, (_, at) => (value >>> (8 * at)) & 255);
    const files = [];
    const directory = [];
    let start = 0;
    for (const [name, text] of Object.entries(texts)) {
      const [path, bytes] = [name, text].map((each) => new TextEncoder().encode(each));
      const size = number(bytes.length, 4);
      // Version 2.0, names in UTF-8, no compression, 1 January 1980.
      const about = Uint8Array.of(
        20, 0, 0, 8, 0, 0, 0, 0, 33, 0, ...number(checksum(bytes), 4), ...size, ...size,
        ...number(path.length, 2), 0, 0,
      );
      files.push(Uint8Array.of(80, 75, 3, 4), about, path, bytes);
      const rest = Uint8Array.of(...Array(10).fill(0), ...number(start, 4));
      directory.push(Uint8Array.of(80, 75, 1, 2, 20, 0), about, rest, path);
      start += 30 + path.length + bytes.length;
    }
    const length = directory.reduce((sum, part) => sum + part.length, 0);
    const count = number(Object.keys(texts).length, 2);
    const end = Uint8Array.of(
      80, 75, 5, 6, 0, 0, 0, 0, ...count, ...count, ...number(length, 4), ...number(start, 4), 0, 0,
    );
    return new Blob([...files, ...directory, end]);
  }

  function save(name, content) {
    const address = URL.createObjectURL(new Blob([content]));
    create("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
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

    const files = create("div", { className: "pages" });
    const { id } = box.querySelector("caption");
    for (const [kind, made] of [["csv", csvOf], ["xlsx", workbookOf]]) {
      const button = create("button", { type: "button", textContent: kind.toUpperCase() });
      button.setAttribute("aria-label", `Save as ${kind.toUpperCase()}: ${name}`);
      button.addEventListener("click", () => {
        read();
        save(`${id.replace(/-0$/, "")}.${kind}`, made(columns, order));
      });
      files.append(button);
    }
    box.append(files);

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
