# SPDX-License-Identifier: Apache-2.0
# A headless Chromium, driven by the DevTools protocol over a pipe: opens a file at a width and a colour scheme, and says what is
# wrong with it. Needs only the browser.
import base64, json, os, select, shutil, subprocess, tempfile, time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    """The browser of TILE_BROWSER, or of PATH; None."""
    named = os.environ.get("TILE_BROWSER")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. Not thread-safe; `close` ends the process."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="tile-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), env=dict(os.environ, TMPDIR=self.profile), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self, deadline):
        """The next message; None at the deadline."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.read_end, 1 << 20) if ready else b""
            if not data:
                return None
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, timeout=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer is None:
                raise TimeoutError(f"no answer to {method}")
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"])[:300])
        return result["result"].get("value")

    def open(self, path, width, dark=False):
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="file://" + path)
        deadline = time.monotonic() + 60
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            event = self.receive(deadline)
            if event is None:
                raise TimeoutError(path)
            self.events.append(event)

    def faults(self):
        """Errors that the console has, fetches from elsewhere, and elements that make the page wider than its window."""
        found = []
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
        for e in self.events:
            p = e.get("params", {})
            if e["method"] == "Runtime.exceptionThrown":
                found.append("exception: " + p["exceptionDetails"].get("exception", {}).get("description", p["exceptionDetails"]["text"]))
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append("console: " + " ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif e["method"] == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append("log: " + p["entry"]["text"])
            elif e["method"] == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:")):
                found.append("fetches " + p["request"]["url"])
        wide = self.evaluate("""(() => {
          const room = document.documentElement.clientWidth, all = document.documentElement.scrollWidth;
          if (all <= room) return [];
          const inside = e => { for (let p = e.parentElement; p; p = p.parentElement)
            if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return true; return false; };
          const wide = [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > room + 1 && !inside(e));
          return [`${all} pixels wide in a window of ${room}: ` + wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(' | ')]; })()""")
        return found + wide

    def low_contrast(self, least=4.5):
        """Texts whose contrast with what is behind them is lower (WCAG 2.1, 1.4.3); not those inside pictures."""
        return self.evaluate("""(least => {
          const parts = c => c.match(/[\\d.]+/g).map(Number);
          const light = c => { const [r, g, b] = parts(c).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if ((parts(c)[3] ?? 1) > 0.5) return c; }
            return 'rgb(255,255,255)'; };
          const found = new Set();
          for (const e of document.body.querySelectorAll('*')) {
            if (e.closest('svg') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
            const a = light(getComputedStyle(e).color), b = light(behind(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < least) found.add(`contrast ${ratio.toFixed(2)}: ${e.outerHTML.slice(0, 100)}`);
          }
          return [...found].slice(0, 3); })(%s)""" % least)

    def screenshot(self, path, whole=False):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        options = {"captureBeyondViewport": True, "clip": clip} if whole else {}
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png", **options)["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", timeout=10)
        except (OSError, TimeoutError, RuntimeError):
            self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)
