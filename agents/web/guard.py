"""Who may ask the server: the browser that was given the address with the token, and pages of this server alone.

- The `Host` must be this server. Otherwise a foreign name that leads to this computer could ask ("DNS rebinding").
- A request that changes something must come from a page of this server: its `Origin` must be this server.
- Every request needs the token, as ``?token=…`` once, and from then on as a cookie that no script can read.
"""

import hmac
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")  # methods that change nothing


class Guard:
    """An ASGI middleware that refuses every request that is not from the own page with the token.

    Args:
        app: the application that answers the others.
        port: the port of the server.
        token: the token.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._token = app, token
        self.cookie = f"fivedice-{port}"  # browsers share cookies between the ports of a host
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it with one sentence."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in known)]
            await send(message)

        await self._answer(scope)(scope, receive, send_with_headers)

    def _answer(self, scope: Scope) -> ASGIApp:
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in ("host", "origin") and key in headers:
                return _refuse(400, f"the request has two {key} headers")
            headers[key] = f"{headers[key]}; {value.decode('latin-1')}" if key in headers else value.decode("latin-1")
        if headers.get("host") not in self._hosts:
            return _refuse(403, "this server answers to 127.0.0.1 and localhost only; use the address that it printed")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return _refuse(403, "requests from pages of other origins are refused")
        if scope["method"] not in SAFE and origin is None:
            return _refuse(403, "a request that changes something must come from a page of this server")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if given and self._is_token(given):
            response = RedirectResponse(scope["path"], 303)
            response.set_cookie(self.cookie, self._token, httponly=True, samesite="strict")
            return response
        if given or not self._is_token(_cookies(headers.get("cookie", ""), self.cookie)):
            return _refuse(403, "the token is missing or wrong; use the address that the server printed")
        return self._app

    def _is_token(self, given: Iterable[str]) -> bool:
        return any(hmac.compare_digest(token.encode(), self._token.encode()) for token in given)


def _cookies(header: str, name: str) -> list[str]:
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return []
    return [cookies[name].value] if name in cookies else []


def _refuse(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status)
