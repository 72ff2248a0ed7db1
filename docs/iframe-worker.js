/* Search on pages that are opened as files. Browsers refuse workers there; a hidden frame runs the
   script of the worker instead. The name tells the plugin "offline" that it need not load another. */

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.documentElement.append(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }))
      const script = this.inside.document.createElement("script")
      this.ready = new Promise((done) => script.addEventListener("load", done))
      script.src = url
      this.inside.document.head.append(script)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
