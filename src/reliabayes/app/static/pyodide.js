// The engine of Pyodide, from a folder with its distribution: pyodide.mjs, its core and wheels.

import { loadPyodide } from "./pyodide.mjs";

const HERE = new URL(".", import.meta.url);
const PACKAGES = [
  "jinja2", "matplotlib", "narwhals", "numpy", "packaging", "pandas", "scipy", "threadpoolctl",
  "tqdm", "typing-extensions",
];

// Python, whose functions run code, and write and read texts in files of the root folder.
export async function start(tell) {
  tell("Loading Python");
  const pyodide = await loadPyodide({ indexURL: HERE.href });
  await pyodide.loadPackage(PACKAGES, { messageCallback: tell, errorCallback: () => {} });
  const missing = PACKAGES.filter((name) => !(name in pyodide.loadedPackages));
  if (missing.length) throw new Error(`The folder "engine" lacks wheels of ${missing.join(", ")}.`);
  const site = await fetch(new URL("../site.zip", HERE));
  if (!site.ok) throw new Error(`site.zip cannot be loaded (${site.status}).`);
  pyodide.FS.mkdirTree("/site");
  pyodide.unpackArchive(await site.arrayBuffer(), "zip", { extractDir: "/site" });
  pyodide.runPython('import sys; sys.path.insert(0, "/site")');
  return {
    run: (code) => pyodide.runPython(code),
    write: (name, text) => pyodide.FS.writeFile(`/${name}`, text),
    read: (name) => pyodide.FS.readFile(`/${name}`, { encoding: "utf8" }),
  };
}
