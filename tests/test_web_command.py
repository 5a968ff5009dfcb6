"""The command that serves the web table: what keeps it from starting is one line that names it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("tyro")

from smear_table.store import Store, StoreError
from smear_table.web.server import main


def test_store__of_another_kind_or_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but long enough to look at" * 50)
    with pytest.raises(StoreError, match="--tables"):
        Store(tmp_path / "text")
    store = Store(tmp_path / "later")
    store._base.execute("PRAGMA user_version=99")
    store.close()
    with pytest.raises(StoreError, match="version 99"):
        Store(tmp_path / "later")


def test_command__names_a_file_that_is_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("no database, but long enough to look at" * 50)
    assert main(["--tables", str(tmp_path / "text"), "--port", "0"]) == 1
    assert "--tables" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--allow-host" in capsys.readouterr().out


def test_store__that_cannot_be_opened_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"unable to open.*--tables"):
        Store(tmp_path)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--port", "99999"], "port=99999 must be 0 to 65535"),
        (["--port", "-1"], "port=-1 must be 0 to 65535"),
        (["--host", "no.such.invalid"], "host='no.such.invalid' is no address"),
        # Set aside for documentation: nobody's.
        (["--host", "192.0.2.1"], "host='192.0.2.1', port=8765: cannot assign requested address"),
    ],
)
def test_command__that_cannot_listen_says_so_before_it_lays_a_table(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*flags, "--tables", ":memory:"]) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


def test_command__names_a_port_that_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port), "--tables", ":memory:"]) == 1
    said = capsys.readouterr()
    assert f"port={port}: address already in use; name another" in said.err
    assert said.out == ""
