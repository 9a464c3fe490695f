"""An integration in a folder: publish it from its manifest, and receive its events on this computer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.shell import Shell, signed_in
from tests.running_service import LOOPBACK, running_service
from tests.service.integration_scripts import RUNTIME
from tests.web_server import WebServer, web_server

MANIFEST = """name: torch
title: Torch
description: Lights up pages
script: dist/index.js
icon: icon.png
scopes:
  - space:content:read
organization: Tallowick
blocks:
  - {id: torch, title: A torch}
contentSources:
  - {id: torches, title: Torches}
secrets:
  KEY: ${{ env.TORCH_KEY }}
"""
SCRIPT = """export default { async fetch(request) {
  const event = JSON.parse((await request.formData()).get("event"));
  console.log("got", event.type);
  return Response.json({ element: { type: "text", children: ["Shines"] } });
} };
"""
CONVENTIONS = (
    RUNTIME
    + """
const block = createComponent({
  componentId: "torch",
  async render(_element, { environment }) {
    return { type: "text", children: [`Drawn by ${environment.integration.name}`] };
  },
});
const source = createContentSource({
  sourceId: "torches",
  async getRevision() { return { pages: [] } },
  async getPageDocument({ props }) { return { object: "document", data: { lit: props.lit }, nodes: [] } },
});
const events = {
  async installation_setup(event, { environment }) {
    console.log("set up in", environment.installation.id.length > 0);
    const body = JSON.stringify({ type: event.type, installation: environment.installation.id });
    for (const url of RECEIVERS) {
      try {
        const response = await fetch(url, { method: "POST", body });
        console.log("received with", response.status);
      } catch (error) { console.log(String(error)); }
    }
  },
};
export default createIntegration({ components: [block], contentSources: [source], events });
"""
)
"""A script with the conventions of the platform's runtime: a block, a content source, a listener that posts."""
RENDER = ("integration", "render", "torch", "--component-id", "torch", "--props", "{}")
CONTEXT = json.dumps({"theme": "dark", "type": "document", "spaceId": "guides"})


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True, outside=LOOPBACK) as service:
        shell = signed_in(tmp_path / "home", service)
        shell.env["TORCH_KEY"] = "hunter2"
        yield shell


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "torch"
    (folder / "dist").mkdir(parents=True)
    (folder / "gitbook-manifest.yaml").write_text(MANIFEST)
    (folder / "dist" / "index.js").write_text(SCRIPT)
    (folder / "icon.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    return folder


def drawn(shell: Shell) -> str:
    return shell.json(*RENDER, "--context", CONTEXT)["element"]["children"][0]


@contextmanager
def developing(shell: Shell, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `presscheck integration dev` in a process, which is killed at the end of the block."""
    command = ("integration", "dev", "torch", "--manifest", str(folder), "--port", "0", "--allow-fetch", "localhost")
    with subprocess.Popen(
        [sys.executable, "-m", "presscheck", *command],
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as dev:
        try:
            yield dev
        finally:
            dev.kill()


@pytest.mark.slow
def test_folder_is_published_and_served_during_development(shell: Shell, folder: Path) -> None:
    """A block, a content source and a listener respond from the folder, which is read again after a change."""
    published = shell.run("integration", "publish", "torch", "--manifest", str(folder), "--yes")
    assert published.exit_code == 0, published.stderr
    assert "--title: Torch" in published.stderr
    assert "hunter2" not in published.output
    assert drawn(shell) == "Shines"
    script = folder / "dist" / "index.js"
    with web_server({}) as receiver:
        addresses = [receiver.url.replace("127.0.0.1", "localhost"), receiver.url]
        script.write_text(CONVENTIONS.replace("RECEIVERS", json.dumps(addresses)))
        with developing(shell, folder) as dev:
            _see_conventions(shell, dev, receiver)
            assert dev.stdout and dev.stderr
            script.write_text(SCRIPT.replace("Shines", "Glows"))
            assert dev.stderr.readline() == "Reloaded torch.\n"
            assert drawn(shell) == "Glows", "the folder responds, and not the published script"
            dev.send_signal(signal.SIGINT)
            _, err = dev.communicate(timeout=30)
        assert (dev.returncode, err) == (130, "Stopped: its published script gets the events.\n")
    assert drawn(shell) == "Shines"


def _see_conventions(shell: Shell, dev: subprocess.Popen[str], receiver: WebServer) -> None:
    assert dev.stdout and dev.stderr
    started = dev.stderr.readline()
    assert started.startswith("Events of Torch come to port "), started
    stranger = urllib.request.Request(f"http://127.0.0.1:{started.split()[6].rstrip('.')}/", b"{}", method="POST")
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(stranger)
    shell.ok("integration", "install", "torch", "--organization", "Tallowick")
    printed = [dev.stdout.readline().split(maxsplit=1)[1].strip() for _ in range(5)]
    assert printed[0].startswith("installation_setup") and printed[1] == "set up in true", printed
    assert printed[2] == "received with 200", "the host was allowed by its name"
    assert "127.0.0.1 is at 127.0.0.1, in a private network" in printed[3], "the address was not allowed"
    (passed_on,) = receiver.posted
    assert passed_on["type"] == "installation_setup" and passed_on["installation"]
    assert drawn(shell) == "Drawn by torch"
    source = json.dumps({"type": "integration:torch:torches", "props": {"lit": True}})
    computed = ("space", "computed-document", "guides", "--source", source, "--seed", "1")
    assert shell.json(*computed)["data"] == {"lit": True}
