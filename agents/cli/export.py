"""``fivedice export``: a checkpoint as a file for other programs."""

from pathlib import Path

from fivedice.agents.cli.app import app, console, needs_module
from fivedice.agents.policies.files import no_checkpoint

FORMAT = "onnx"


@app.command
def export(file: Path, *, to: str = FORMAT) -> None:
    """Write the network of a checkpoint as an ONNX file, for programs without fivedice. Needs the extra onnx.

    Parameters
    ----------
    file
        A .safetensors checkpoint. Its network must get the plain observation: no prior, no canonical_form.
    to
        onnx: a file beside the checkpoint, with the ending .onnx. Or the path of another file with this ending.
    """
    target = file.with_suffix(f".{FORMAT}") if to == FORMAT else Path(to)
    if target.suffix != f".{FORMAT}":
        raise ValueError(f"--to {to} is not possible; use onnx, or the path of a file that ends in .onnx")
    for module in ("onnx", "onnxruntime"):
        needs_module(module, "onnx")
    from fivedice.agents.policies.checkpoint import load_checkpoint
    from fivedice.agents.policies.onnx_file import INPUTS_AND_OUTPUTS, export_onnx

    if file.suffix != ".safetensors":
        raise ValueError(f"{file} is not a .safetensors checkpoint" if file.is_file() else no_checkpoint(file))
    export_onnx(load_checkpoint(file), target)
    console.print(f"{target}\n{INPUTS_AND_OUTPUTS}", soft_wrap=True)
