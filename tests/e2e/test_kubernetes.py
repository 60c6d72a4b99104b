"""The example for Kubernetes asks the server for what it has, and starts it as its command takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from tests.e2e.image_steps import ROOT, stages
from tests.server.world import serving
from trivium.cli.app import app
from trivium.server.run_server import CLOSE_SECONDS
from trivium.server.settings import ServerSettings

PROBES = {"startupProbe": "/health", "readinessProbe": "/ready", "livenessProbe": "/health"}


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    """The objects by their kind, each once."""
    found = list(yaml.safe_load_all((ROOT / "examples" / "kubernetes.yaml").read_text("utf-8")))
    assert len({one["kind"] for one in found}) == len(found) == 3
    return {one["kind"]: one for one in found}


@pytest.fixture(scope="module")
def pod(parts: dict[str, Any]) -> dict[str, Any]:
    return dict(parts["Deployment"]["spec"]["template"]["spec"])


def test_the_probes_ask_open_routes_of_the_server(pod: dict[str, Any], sample_store: Path) -> None:
    """Also where keys are asked for, and by the address of the pod, as the kubelet asks."""
    (container,) = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    settings = ServerSettings(host="0.0.0.0", api_keys=("a-key-of-some-length",))
    with serving(sample_store, settings) as client:
        for name, path in PROBES.items():
            asked = container[name]["httpGet"]
            assert asked["path"] == path and ports[asked["port"]] == int(stages()[-1].last("EXPOSE"))
            assert client.get(path, headers={"host": "10.1.2.3:8000"}).status_code == 200
        assert client.get("/stats").status_code == 401


def test_names_and_labels_lead_from_one_part_to_the_other(parts: dict[str, Any], pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    deployment, service = parts["Deployment"]["spec"], parts["Service"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert service["selector"] == deployment["selector"]["matchLabels"] == labels
    assert {port["targetPort"] for port in service["ports"]} <= {port["name"] for port in container["ports"]}
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    claim = volumes["data"]["persistentVolumeClaim"]["claimName"]
    assert claim == parts["PersistentVolumeClaim"]["metadata"]["name"]


def test_the_command_takes_the_arguments_and_has_time_to_end(pod: dict[str, Any]) -> None:
    (container,) = pod["containers"]
    name, *arguments = container["args"]
    serve = get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    known = {flag for option in serve.params for flag in option.opts}
    assert {word for word in arguments if word.startswith("--")} <= known
    keys = arguments[arguments.index("--api-key-file") + 1]
    mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
    assert str(Path(keys).parent) in mounted and {"/data", "/tmp"} <= set(mounted)
    assert pod["terminationGracePeriodSeconds"] > ServerSettings().shutdown_timeout + CLOSE_SECONDS


def test_the_container_is_confined_as_the_image_allows(pod: dict[str, Any]) -> None:
    """Its user is that of the image; no other pod's address gets into the variables that are settings."""
    (container,) = pod["containers"]
    user, group = stages()[-1].last("USER").split(":")
    security = pod["securityContext"]
    assert (security["runAsUser"], security["fsGroup"]) == (int(user), int(group))
    assert security["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod["enableServiceLinks"] is False
