"""ONNX files: a checkpoint as a file for other programs, and a network from any other program as a policy.

Both directions use the same names. A file that `load` can play has the input ``observation``, an optional input
``action_mask``, and the output ``logits``. `export_onnx` writes such files. The text in `INPUTS_AND_OUTPUTS` is the
description in each of them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from fivedice.agents.policies.checkpoint import CheckpointPolicy, parse_card
from fivedice.agents.policies.files import no_checkpoint, write_whole
from fivedice.agents.policies.network import Network, likeliest, sampled
from fivedice.envs.core.spec import Game, Options
from fivedice.envs.core.view import View

OBSERVATION, MASK, LOGITS, VALUE = "observation", "action_mask", "logits", "value"
INPUTS_AND_OUTPUTS = (
    "observation: float32 (N, size), action_mask: int8 (N, num_actions), 1 if legal -> "
    "logits: float32 (N, num_actions), the lowest float32 where an action is not legal; "
    "value: float32 (N,), in units of the training reward"
)
CARD = "fivedice card"  # the key of the checkpoint's card in the metadata of the file
OPSET = 13  # of 2020: every runtime in use knows it
IR_VERSION = 8
DTYPES = {"tensor(float)": np.float32, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def export_onnx(policy: CheckpointPolicy, path: Path) -> None:
    """Write the network of a checkpoint as an ONNX file. If writing fails, a file that was there before is unchanged.

    The file has two inputs and two outputs, all with N rows:

    - ``observation`` float32 (N, size) and ``action_mask`` int8 (N, num_actions), 1 if legal;
    - ``logits`` float32 (N, num_actions), the lowest float32 where an action is not legal, and ``value`` float32 (N,),
      in units of the training reward.

    Its metadata has the card, so that `fivedice.agents.load` knows which game it plays.

    Args:
        policy: the policy of a checkpoint, as `fivedice.agents.load` returns it.
        path: the file; folders are made as needed.

    Raises:
        ValueError: the network has other inputs than the observation: a prior policy, or a canonical form.
        OSError: the file cannot be written.
    """
    setting = "a prior policy" if policy.prior else "a canonical form" if policy.canonical_form else None
    if setting is not None:
        raise ValueError(
            f"the checkpoint {policy.name!r} was trained with {setting}, which fivedice computes outside the network; "
            "only a checkpoint whose network gets the plain observation can be exported"
        )
    content = _make_model(policy.network, policy.card())
    write_whole(path, lambda temporary: _write(temporary, content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _make_model(network: Network, card: dict[str, Any]) -> bytes:
    import onnx  # only an export needs it
    from onnx import TensorProto, helper, numpy_helper

    size, num_actions = network.tensors["policy.0.weight"].shape[1], network.num_actions
    nodes = [
        helper.make_node("Cast", [MASK], ["is_legal"], to=TensorProto.BOOL),
        *_layers(helper, network, "policy", "all_logits"),
        helper.make_node("Where", ["is_legal", "all_logits", "lowest"], [LOGITS]),
        *_layers(helper, network, "value", "value_column"),
        helper.make_node("Squeeze", ["value_column", "columns"], [VALUE]),
    ]
    constants = {"lowest": np.finfo(np.float32).min, "columns": np.array([1], np.int64), **network.tensors}
    graph = helper.make_graph(
        nodes,
        "fivedice",
        [
            helper.make_tensor_value_info(OBSERVATION, TensorProto.FLOAT, ["N", size]),
            helper.make_tensor_value_info(MASK, TensorProto.INT8, ["N", num_actions]),
        ],
        [
            helper.make_tensor_value_info(LOGITS, TensorProto.FLOAT, ["N", num_actions]),
            helper.make_tensor_value_info(VALUE, TensorProto.FLOAT, ["N"]),
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="fivedice")
    model.ir_version, model.doc_string = IR_VERSION, INPUTS_AND_OUTPUTS
    helper.set_model_props(model, {CARD: json.dumps(card)})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _layers(helper: Any, network: Network, head: str, output: str) -> list[Any]:
    """The nodes of one of the two multilayer perceptrons, from the observation to `output`."""
    nodes, before, last = [], OBSERVATION, len(network.net_arch)
    for layer in range(last + 1):
        after = output if layer == last else f"{head}.{layer}.linear"
        weights = [f"{head}.{layer}.weight", f"{head}.{layer}.bias"]
        nodes.append(helper.make_node("Gemm", [before, *weights], [after], transB=1))
        if layer < last:
            before = f"{head}.{layer}.{network.activation}"
            nodes.append(helper.make_node(network.activation.capitalize(), [after], [before]))
    return nodes


class OnnxPolicy:
    """A network in an ONNX file, played by ONNX Runtime on the processor.

    The file may come from any program. It needs an input ``observation``, float32 (N, size), and an output ``logits``,
    (N, num_actions). If it has an input ``action_mask``, int8, bool or float32 (N, num_actions), it gets the legal
    actions. Other outputs are ignored. Illegal actions are never played.

    Args:
        path: the file. Its stem is the policy's name.
        deterministic: True: the most probable action. False: an action sampled from the probabilities, with
            `View.uniforms`.

    Raises:
        ValueError: the file does not exist, is not an ONNX file, or has other inputs or outputs.
    """

    def __init__(self, path: Path, *, deterministic: bool = True) -> None:
        if not path.is_file():
            raise ValueError(no_checkpoint(path))
        self.name, self.deterministic = path.stem, deterministic
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1  # a small network is slower with more
        settings.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has no common class for its errors
            raise ValueError(f"{path} cannot be used as an ONNX file: {' '.join(str(error).split())}") from None
        self._inputs = {entry.name: entry for entry in self._session.get_inputs()}
        self._refuse_names(path)
        self._mask_dtype = DTYPES[self._inputs[MASK].type] if MASK in self._inputs else None
        text = self._session.get_modelmeta().custom_metadata_map.get(CARD)
        self._card = None if text is None else parse_card(path, text)

    def _refuse_names(self, path: Path) -> None:
        named, outputs = set(self._inputs), {entry.name for entry in self._session.get_outputs()}
        if OBSERVATION not in named or not named <= {OBSERVATION, MASK} or LOGITS not in outputs:
            raise ValueError(
                f"{path} has the inputs {sorted(named)} and the outputs {sorted(outputs)}; name them {OBSERVATION!r}, "
                f"{MASK!r} (optional) and {LOGITS!r}"
            )
        for name, allowed in ((OBSERVATION, ["tensor(float)"]), (MASK, list(DTYPES))):
            if name in named and self._inputs[name].type not in allowed:
                raise ValueError(
                    f"{path}: the input {name!r} has the type {self._inputs[name].type}; use {' or '.join(allowed)}"
                )

    def check(self, game: Game, options: Options) -> None:
        """Raise a ValueError if the network was exported for another game, or its inputs have other sizes."""
        sizes = {OBSERVATION: game.layout(options).size, MASK: game.num_actions(options)}
        for name, entry in self._inputs.items():
            size = entry.shape[-1] if entry.shape else None
            if isinstance(size, int) and size != sizes[name]:
                raise ValueError(
                    f"the input {name!r} of the ONNX file {self.name!r} has {size} columns, but {game.title} with "
                    f"num_players={int(options['num_players'])} has {sizes[name]}"
                )
        if self._card is not None:
            here = {"game": game.name, "num_players": int(options["num_players"]), **game.options_dict(options)}
            theirs = {"game": self._card["game"], "num_players": self._card["num_players"], **self._card["options"]}
            differing = [name for name, own in here.items() if theirs.get(name) != own]
            if differing:
                difference = " and ".join(f"{name}={theirs.get(name)!r}, not {here[name]!r}" for name in differing)
                raise ValueError(f"the ONNX file {self.name!r} was exported for {difference}")
            digests = (self._card["observation_digest"], self._card["action_digest"])
            if digests != (game.layout(options).digest, game.action_digest(options)):
                raise ValueError(
                    f"the ONNX file {self.name!r} was exported by a version with another layout of observations or "
                    "actions; export it again"
                )

    def act(self, view: View) -> NDArray[np.int64]:
        """A legal action for each decision, (N,) int64.

        Raises:
            ValueError: `view` has another game or other options than the network, the network returns another shape or
                no number, or a decision has no legal action.
        """
        self.check(view.game, view.options)
        view.require_choice()
        actions = np.empty(len(view), np.int64)
        if not len(view):
            return actions
        logits = self.logits(view)
        if self.deterministic:
            likeliest(logits, view.masks, actions)
        else:
            sampled(logits, view.masks, view.uniforms, actions)
        return actions

    def logits(self, view: View) -> NDArray[np.float32]:
        """The network's logits (N, num_actions) float32 for the decisions of `view`."""
        inputs = {OBSERVATION: view.observations}
        if self._mask_dtype is not None:
            inputs[MASK] = view.masks.astype(self._mask_dtype)
        logits = np.ascontiguousarray(self._session.run([LOGITS], inputs)[0], np.float32)
        if logits.shape != view.masks.shape or np.isnan(logits).any():
            raise ValueError(
                f"the ONNX file {self.name!r} returned logits of shape {logits.shape} for masks of shape "
                f"{view.masks.shape}, or values that are not numbers; it must return one number for each action"
            )
        return logits
