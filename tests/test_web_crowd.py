"""Many tables at once on one server that is killed in the middle: nothing that anybody was told is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from benchmarks.web import Server, missing, run


@pytest.mark.integration
def test_tables__lose_no_completed_action_when_the_server_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    server = Server(path)
    try:
        crowd = asyncio.run(run(server, tables=200, actions=12, agent="greedy"))
    finally:
        server.kill()
    assert len(crowd.completed) == 200
    assert crowd.total == 200 * 12
    assert crowd.lost_connections >= 200
    assert missing(crowd, path) == []
