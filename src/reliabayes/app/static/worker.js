// Python in a thread of its own, so that the page stays alive. Requests and answers are JSON.

import { start } from "./engine/engine.js";

const SETUP = `
from pathlib import Path
from reliabayes.app.in_browser import StaticPage, serve
page = StaticPage()
`;
const SERVE = 'serve(page, Path("/request.json"), Path("/response.json"))';

function message(error) {
  return String(error?.message ?? error);
}

const started = start((text) => postMessage({ progress: text })).then((python) => {
  postMessage({ progress: "Loading the package" });
  python.run(SETUP);
  return python;
});
started.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ broken: message(error) }),
);

onmessage = async ({ data: { id, name, arguments: given } }) => {
  const python = await started.catch(() => null);
  if (!python) return; // which the page knows
  try {
    python.write("request.json", JSON.stringify({ name, arguments: given }));
    python.run(SERVE);
    postMessage({ id, ...JSON.parse(python.read("response.json")) });
  } catch (error) {
    postMessage({ id, kind: "failure", value: message(error) });
  }
};
