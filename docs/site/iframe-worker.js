// Browsers start no worker for a page that is opened as a file. There, the search of the site runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentDocument;
      inside.open();
      inside.write("<!doctype html><title>search</title><body></body>");
      inside.close();
      this.frame.contentWindow.postMessage = (data) => this.onmessage?.({ data });
      const script = inside.createElement("script");
      script.src = new URL(address, location.href).href;
      script.onerror = (event) => this.onerror?.(event);
      script.onload = () => {
        const early = this.waiting;
        this.waiting = null;
        early.forEach((data) => this.postMessage(data));
      };
      inside.body.append(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else setTimeout(() => this.frame.contentWindow?.onmessage({ data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
