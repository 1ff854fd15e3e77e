"""Connections that do not say what they want are closed: slow senders keep nobody waiting."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request, and connections that may be without one.
HEAD_SECONDS, MOST_SILENT = 10.0, 200


def patient_protocol() -> type[H11Protocol]:
    """uvicorn's protocol with an end to its patience; connections of one server know each other."""
    silent: dict[H11Protocol, None] = {}

    class PatientProtocol(H11Protocol):
        """A connection that is silent too long, or was silent first of too many, is closed."""

        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()
            if len(silent) > MOST_SILENT:
                next(iter(silent)).transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self._wait()  # the head of a request, in part
            elif self.conn.their_state is not h11.IDLE:
                self._wait_no_more()

        def connection_lost(self, exc: Exception | None) -> None:
            self._wait_no_more()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._patience is None:
                self._patience = self.loop.call_later(HEAD_SECONDS, self._lose_patience)
                silent[self] = None

        def _wait_no_more(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
            self._patience = None
            silent.pop(self, None)

        def _lose_patience(self) -> None:
            self._wait_no_more()
            self.transport.abort()

    return PatientProtocol
