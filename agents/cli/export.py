"""``fivedice export``: a checkpoint as a file for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from fivedice.agents.cli.app import app, console, needs_module
from fivedice.agents.policies.files import no_checkpoint


@app.command
def export(
    file: Path,
    *,
    file_format: Annotated[Literal["onnx"], Parameter(name="--to")] = "onnx",
    out: Path | None = None,
) -> None:
    """Write the network of a checkpoint as an ONNX file, for programs without fivedice. Needs the extra onnx.

    Parameters
    ----------
    file
        A .safetensors checkpoint. Its network must get the plain observation: no prior, no canonical_form.
    file_format
        Format of the new file.
    out
        The new file. Default: beside the checkpoint, with the ending .onnx.
    """
    for module in ("onnx", "onnxruntime"):
        needs_module(module, "onnx")
    from fivedice.agents.policies.checkpoint import load_checkpoint
    from fivedice.agents.policies.onnx_file import INPUTS_AND_OUTPUTS, export_onnx

    if file.suffix != ".safetensors":
        raise ValueError(no_checkpoint(file) if not file.is_file() else f"{file} is not a .safetensors checkpoint")
    target = file.with_suffix(".onnx") if out is None else out
    if target.suffix != ".onnx":
        raise ValueError(f"{target} is no name for an ONNX file; end it in .onnx")
    export_onnx(load_checkpoint(file), target)
    console.print(f"{target}\n{INPUTS_AND_OUTPUTS}", soft_wrap=True)
