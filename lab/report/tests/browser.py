"""A headless Chromium with no way to the network, driven over its debugging socket: enough to look at one page."""

from __future__ import annotations

import atexit
import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from functools import cache
from pathlib import Path

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)


class _Process:
    """The browser itself: started when first asked for, ended with the tests. Each page is a tab of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="headroom-browser-", ignore_cleanup_errors=True)  # its children still write
        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        atexit.register(self.end)
        self.port = self._port()

    def _port(self) -> int:
        file = Path(self.folder.name) / "DevToolsActivePort"
        for _ in range(300):
            if file.exists() and (found := re.match(r"(\d+)\n", file.read_text())):
                return int(found[1])
            if self.process.poll() is not None:
                raise RuntimeError("chromium ended: " + self.process.stderr.read().decode(errors="replace")[-500:])
            time.sleep(0.1)
        raise RuntimeError("chromium did not open its debugging port")

    def ask(self, path: str) -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/{path}", method="PUT")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()


@cache
def _browser() -> _Process:
    return _Process()


class Browser:
    """with Browser() as browser: browser.open(path); browser.evaluate("…")"""

    width, height = 1400, 1000

    def __init__(self):
        import websocket

        self.log: list[str] = []
        self.requests: list[str] = []
        self.number = 0
        self.page = json.loads(_browser().ask("new?about:blank"))
        self.socket = websocket.create_connection(self.page["webSocketDebuggerUrl"], timeout=60)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=self.width, height=self.height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()
        _browser().ask(f"close/{self.page['id']}")

    def call(self, method: str, **parameters):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._event(message)

    def _event(self, message: dict) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.log.append(
                " ".join(str(argument.get("value", argument.get("description", ""))) for argument in parameters["args"])
            )
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.log.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.log.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def evaluate(self, expression: str):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "?"))
        return result["result"].get("value")

    def wait(self, expression: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise AssertionError(f"still not so after {seconds} s: {expression}")
            time.sleep(0.1)

    def open(self, path: Path) -> None:
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")

    def dark(self, on: bool = True) -> None:
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}],
        )

    def press(self, key: str) -> None:
        code = {"Enter": 13, " ": 32, "Tab": 9}[key]
        text = {"Enter": "\r", " ": " "}.get(key)
        more = {"text": text} if text else {}
        self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key=key,
            code="Space" if key == " " else key,
            windowsVirtualKeyCode=code,
            **more,
        )
        self.call(
            "Input.dispatchKeyEvent",
            type="keyUp",
            key=key,
            code="Space" if key == " " else key,
            windowsVirtualKeyCode=code,
        )

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - 3, y=y - 3)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path, top: float = 0, height: float | None = None, scale: float = 1) -> None:
        clip = {"x": 0, "y": top, "width": self.width, "height": height or self.height, "scale": scale}
        data = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        data = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"]
        Path(path).write_bytes(base64.b64decode(data))
