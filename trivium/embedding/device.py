"""Where a model is run: on the processor, or on a graphics card by CUDA."""

from __future__ import annotations

import contextlib
import io
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError

DEVICES = "cpu, cuda, or cuda:N for the card of that number"
_KNOWN = re.compile(r"cpu|cuda(:[0-9]{1,3})?")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Device:
    """A device by its name, and the execution provider of onnxruntime that computes there, with its options. A
    ``batched`` one is given many texts a call. Make one with :func:`parse_device`."""

    name: str
    provider: str
    options: dict[str, str] = field(default_factory=dict)
    batched: bool = False

    @property
    def providers(self) -> list[str | tuple[str, dict[str, str]]]:
        """What an ``InferenceSession`` takes as ``providers``; what the first cannot do is left to the processor."""
        return (
            [CPU.provider]
            if self.provider == CPU.provider
            else [(self.provider, dict(self.options)), CPU.provider]
        )


CPU = Device("cpu", "CPUExecutionProvider")


def parse_device(name: str) -> Device:
    """The device of that name. Raises ConfigurationError for an unknown one.

    >>> parse_device("cpu").providers
    ['CPUExecutionProvider']
    >>> parse_device("cuda:1").providers
    [('CUDAExecutionProvider', {'device_id': '1', 'use_tf32': '0'}), 'CPUExecutionProvider']
    """
    if _KNOWN.fullmatch(name) is None:
        raise ConfigurationError(f"expected a device ({DEVICES}), got {name!r}")
    kind, _, number = name.partition(":")
    if kind == "cpu":
        return CPU
    # Without use_tf32 the card rounds the factors of products to ten bits.
    options = {"device_id": str(int(number or "0")), "use_tf32": "0"}
    return Device(f"cuda:{options['device_id']}", "CUDAExecutionProvider", options, batched=True)


def check_device(device: Device) -> None:
    """Raises MissingExtraError where the installed onnxruntime was not built for the device. Whether there is a card is
    only known when a model is loaded."""
    if device == CPU:
        return
    import onnxruntime  # 0.1 s, which only those who embed pay

    if device.provider not in onnxruntime.get_available_providers():
        # Both packages are the folder ``onnxruntime``, and that of whichever was installed last.
        raise MissingExtraError(
            f"the device {device.name}", "cuda", "pip install --force-reinstall --no-deps onnxruntime-gpu"
        )


def load_libraries(onnxruntime: Any, device: Device) -> None:
    """Have the libraries of the extra found, which are packages of their own and on no search path."""
    preload = getattr(onnxruntime, "preload_dlls", None)
    if device == CPU or preload is None:
        return
    with contextlib.redirect_stdout(io.StringIO()) as said:  # it prints what it does not find
        preload()
    if said.getvalue():
        _log.info("libraries of CUDA: %s", said.getvalue().strip())


def check_taken(onnxruntime: Any, device: Device, providers: Sequence[str]) -> None:
    """Raises EmbeddingError where a session with these providers does not compute on the device: onnxruntime takes the
    processor instead, and only logs it."""
    if device.provider not in providers:
        cuda = getattr(onnxruntime, "cuda_version", "") or "its version"
        raise EmbeddingError(
            f"onnxruntime {onnxruntime.__version__} cannot use {device.name}: it needs an NVIDIA card of that number with"
            f" its driver (nvidia-smi lists them), CUDA {cuda} and cuDNN 9"
            " (pip install 'onnxruntime-gpu[cuda,cudnn]'); or leave out the device to embed on the processor"
        )
