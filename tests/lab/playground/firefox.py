"""Debian's Firefox for tests: WebDriver BiDi over a socket, as far as one page needs it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

FIREFOX = next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)
ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Page:
    """A page of a Firefox of its own, whose profile and home are the folder @home."""

    def __init__(self, home: Path):
        self.home = home
        self.number = 0

    async def __aenter__(self) -> Page:
        assert FIREFOX
        command = [FIREFOX, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(self.home)]
        environment = {"HOME": str(self.home), "MOZ_HEADLESS": "1", "PATH": "/usr/bin:/bin"}
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # fmt: skip
        assert self.process.stderr
        address = next((found[1] for line in self.process.stderr if (found := ADDRESS.search(line))), None)
        assert address, "Firefox has ended without a socket"
        connection = await websocket_connect(f"{address}/session")
        assert isinstance(connection, WebSocketClientConnection)
        self.socket = connection
        await self.call("session.new", capabilities={})
        self.context = (await self.call("browsingContext.getTree"))["contexts"][0]["context"]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()
        self.process.terminate()
        self.process.wait()

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        await self.socket.write_message(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            text = await asyncio.wait_for(self.socket.read_message(), 120)
            assert text is not None, "Firefox has hung up"
            answer: dict[str, Any] = json.loads(text)
            if answer.get("id") == self.number:
                assert answer["type"] == "success", answer
                result: dict[str, Any] = answer["result"]
                return result

    async def go(self, address: str) -> None:
        await self.call("browsingContext.navigate", context=self.context, url=address, wait="complete")

    async def evaluate(self, expression: str) -> Any:
        """The value of @expression, which may be a promise's, by way of JSON."""
        wrapped = f"(async () => JSON.stringify(await ({expression})))()"
        answer = await self.call("script.evaluate", expression=wrapped, target={"context": self.context}, awaitPromise=True)  # fmt: skip
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])
