"""Where a model runs: on the CPU, or on a GPU through CUDA."""

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
ERRORS = 3
"""onnxruntime's log level for errors."""
_KNOWN = re.compile(r"cpu|cuda(:[0-9]{1,3})?")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Device:
    """A device, with the execution provider of onnxruntime and its options. A ``batched`` device is given many texts
    per call. Create one with :func:`parse_device`.
    """

    name: str
    provider: str
    options: dict[str, str] = field(default_factory=dict)
    batched: bool = False

    @property
    def providers(self) -> list[str | tuple[str, dict[str, str]]]:
        """The ``providers`` argument of an ``InferenceSession``. The CPU is the fallback for unsupported operations."""
        return (
            [CPU.provider]
            if self.provider == CPU.provider
            else [(self.provider, dict(self.options)), CPU.provider]
        )


CPU = Device("cpu", "CPUExecutionProvider")


def parse_device(name: str) -> Device:
    """Return the device of that name. Raises ConfigurationError for an unknown one.

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
    # With TF32 the GPU would round factors to ten bits of mantissa.
    options = {"device_id": str(int(number or "0")), "use_tf32": "0"}
    return Device(f"cuda:{options['device_id']}", "CUDAExecutionProvider", options, batched=True)


def check_device(device: Device) -> None:
    """Raise MissingExtraError if the installed onnxruntime was not built for the device. Whether a GPU is present is
    known only when a model is loaded.
    """
    if device == CPU:
        return
    import onnxruntime  # takes 0.1 s, so only on demand

    if device.provider not in onnxruntime.get_available_providers():
        # Both packages install the folder ``onnxruntime``; the last one installed wins.
        raise MissingExtraError(
            f"the device {device.name}", "cuda", "pip install --force-reinstall --no-deps onnxruntime-gpu"
        )


def load_libraries(onnxruntime: Any, device: Device) -> None:
    """Load the CUDA libraries of the extra, which are separate packages outside the library search path."""
    preload = getattr(onnxruntime, "preload_dlls", None)
    if device == CPU or preload is None:
        return
    with contextlib.redirect_stdout(io.StringIO()) as said:  # it prints the libraries it cannot find
        preload()
    if said.getvalue():
        _log.info("libraries of CUDA: %s", said.getvalue().strip())


def check_taken(onnxruntime: Any, device: Device, providers: Sequence[str]) -> None:
    """Raise EmbeddingError if a session with these providers does not run on the device: onnxruntime may fall back to
    the CPU with only a log message.
    """
    if device.provider not in providers:
        raise unusable(onnxruntime, device)


def is_refusal(error: Exception) -> bool:
    """Whether onnxruntime's error is about CUDA, for example that there is no card, rather than about the model."""
    return "CUDA failure" in str(error)


def unusable(onnxruntime: Any, device: Device) -> EmbeddingError:
    """Return the error for a device that onnxruntime cannot use."""
    cuda = getattr(onnxruntime, "cuda_version", "") or "its version"
    return EmbeddingError(
        f"onnxruntime {onnxruntime.__version__} cannot use {device.name}: it needs an NVIDIA card of that number with"
        f" its driver (nvidia-smi lists them), CUDA {cuda} and cuDNN 9"
        " (pip install 'onnxruntime-gpu[cuda,cudnn]'); or leave out the device to embed on the processor"
    )


def one_thread(onnxruntime: Any) -> Any:
    """Return the options of a session of onnxruntime that uses the calling thread alone and logs errors only."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS
    return options
