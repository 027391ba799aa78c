"""A real browser for the tests of the site and of the explorers: Chromium, without a
driver or a further package."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time
from urllib.parse import urlsplit

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)


def require(there, what):
    "Skip without it, but not on a machine that must have it"
    if there:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{what}, and CI needs it")
    pytest.skip(what)


class Browser:
    "Chromium over the two pipes of its own protocol: no driver, no further package"

    FLAGS = (
        "--headless",
        "--remote-debugging-pipe",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-extensions",
        "--mute-audio",
    )

    def __init__(self, profile):
        def high(pair):
            # out of the way of 3 and 4
            return [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in pair]

        theirs_in, ours_out = high(os.pipe())
        ours_in, theirs_out = high(os.pipe())

        def hand_over():
            os.dup2(theirs_in, 3), os.dup2(theirs_out, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, *self.FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=hand_over,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | dict(HOME=str(profile)),
        )
        os.close(theirs_in), os.close(theirs_out)
        self.to, self.back = ours_out, open(ours_in, "rb")
        self.n = 0
        self.buffer = b""
        self.events = []
        self.session = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def _next(self):
        while b"\0" not in self.buffer:
            data = (
                self.back.raw.read(1 << 16)
                if hasattr(self.back, "raw")
                else self.back.read1(1 << 16)
            )
            if not data:
                raise RuntimeError("Chromium ended")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def __call__(self, method, **params):
        self.n += 1
        message = dict(id=self.n, method=method, params=params) | (
            dict(sessionId=self.session) if self.session else {}
        )
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.n:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def js(self, expression):
        "The value of an expression in the page; promises are waited for"
        out = self(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in out:
            error = out["exceptionDetails"].get("exception", {})
            raise RuntimeError(f"{expression}: {error.get('description')}")
        return out["result"].get("value")

    def until(self, condition, seconds=30):
        "Wait until an expression is true in the page; an element is, and comes as {}"
        asked = f"Promise.resolve({condition}).then(Boolean)"
        end = time.monotonic() + seconds
        while True:
            try:
                if self.js(asked):
                    return
            except RuntimeError as error:  # the page may be on its way to another
                if time.monotonic() > end:
                    raise error
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def press_right(self):
        "The right arrow key, for what has the focus"
        for kind in ("keyDown", "keyUp"):
            self(
                "Input.dispatchKeyEvent",
                type=kind,
                key="ArrowRight",
                code="ArrowRight",
                windowsVirtualKeyCode=39,
            )

    def size(self, width, height=900):
        self(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def open(self, url):
        "Load a page, formulas typeset, and give what went wrong"
        self.events.clear()
        self("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next())
        self.js(
            "window.MathJax && MathJax.startup && MathJax.startup.promise"
            " ? MathJax.startup.promise.then(() => 1) : 1"
        )
        return self.troubles(url)

    def troubles(self, url):
        """Console errors, exceptions, failed requests, and requests to anywhere but
        the server"""
        found, host = [], urlsplit(url).netloc
        for e in self.events:
            kind, p = e.get("method"), e.get("params", {})
            if kind == "Runtime.exceptionThrown":
                found.append(
                    p["exceptionDetails"].get("exception", {}).get("description")
                    or p["exceptionDetails"]["text"]
                )
            if kind == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert"):
                found.append(
                    " ".join(
                        str(a.get("value", a.get("description"))) for a in p["args"]
                    )
                )
            if kind == "Log.entryAdded" and p["entry"]["level"] == "error":
                found.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))
            if kind == "Network.loadingFailed" and not p.get("canceled"):
                found.append(f"request failed: {p['errorText']}")
            if kind == "Network.responseReceived" and p["response"]["status"] >= 400:
                found.append(f"{p['response']['status']} {p['response']['url']}")
            if (
                kind == "Network.requestWillBeSent"
                and urlsplit(p["request"]["url"]).netloc not in (host, "")
                and not p["request"]["url"].startswith("data:")
            ):
                found.append(f"asks {p['request']['url']}")
        return found

    def picture(self, file, full=True):
        file.write_bytes(
            base64.b64decode(
                self("Page.captureScreenshot", captureBeyondViewport=full)["data"]
            )
        )

    def close(self):
        self.session = None
        try:
            self("Browser.close")
        except RuntimeError:
            pass  # it is gone before it answers
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.back.close()
