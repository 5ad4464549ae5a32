// A page that is opened as a file may start no worker, so its search would find nothing.
// There, and only there, a hidden frame stands in for the worker: it loads the same script, and
// messages go to it and back. The search of the English pages loads no further scripts.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      const page = inner.document;
      page.open();  // without it some browsers replace the empty document a moment later
      page.write("<!doctype html><body></body>");
      page.close();
      inner.postMessageToPage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const begin = page.createElement("script");
      begin.textContent = "window.postMessage = (data) => window.postMessageToPage(data);";
      page.body.append(begin);
      const script = page.createElement("script");
      script.src = url;
      script.onload = () => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      page.body.append(script);
    }

    postMessage(data) {
      if (!this.ready) {
        this.waiting.push(data);
        return;
      }
      const inner = this.frame.contentWindow;
      inner.dispatchEvent(new inner.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
