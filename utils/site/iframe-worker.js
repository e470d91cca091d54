// Pages that were opened from a disk may not start workers. There, a frame stands for
// one, so that the search works; its script waits for the same messages.
if (location.protocol === 'file:') {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement('iframe');
      this.frame.hidden = true;
      window.addEventListener('message', event => {
        if (event.source === this.frame.contentWindow)
          this.dispatchEvent(new MessageEvent('message', {data: event.data}));
      });
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      // What the script sends goes to the page.
      inside.postMessage = data => window.dispatchEvent(
        new MessageEvent('message', {data, source: inside}));
      const script = inside.document.createElement('script');
      script.src = url;
      script.onload = () => {
        this.send = data => inside.dispatchEvent(new MessageEvent('message', {data}));
        this.waiting.forEach(this.send);
      };
      inside.document.head.append(script);
    }
    postMessage(data) {
      if (this.send)
        this.send(data);
      else
        this.waiting.push(data);
    }
  };
  window.Worker = window.IFrameWorker;
}
