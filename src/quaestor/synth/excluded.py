"""How-to questions that a study excludes: they ask to mend, understand, install, ship or speed up."""

from __future__ import annotations

EXCLUDED: dict[str, tuple[str, ...]] = {
    "program crash": (
        "fix {error} when {doing}",
        "solve {error} in {framework}",
        "get rid of {error} while {doing}",
        "resolve {error} after upgrading",
        "avoid the crash with {error} when {doing}",
    ),
    "training anomaly": (
        "stop the loss from becoming NaN when {doing}",
        "prevent overfitting when validation loss rises after {number} epochs",
        "deal with an accuracy that stays at {number} % in {framework}",
        "find out why my network predicts the same class for every input",
        "avoid exploding gradients when {doing}",
        "handle a loss that does not decrease after {number} epochs",
    ),
    "model deployment": (
        "deploy a {framework} model {target}",
        "serve a trained model {target}",
        "run a {framework} model {target} in production",
        "ship a {framework} model {target} without Python",
        "export a model and host it {target}",
    ),
    "comprehension": (
        "understand {concept} in {framework}",
        "interpret {concept} of a recurrent network",
        "make sense of {concept} in the documentation of {framework}",
        "think about {concept} when {doing}",
        "explain {concept} in plain words",
    ),
    "installation": (
        "install {framework} {version} {system}",
        "set up {framework} with CUDA {number} {system}",
        "upgrade {framework} to {version} {system}",
        "build {framework} from source {system}",
        "install {framework} {version} behind a proxy",
        "uninstall {framework} {version} completely {system}",
    ),
    "performance": (
        "speed up {doing}",
        "reduce the training time of a large model in {framework}",
        "make the input pipeline faster when {doing}",
        "increase GPU utilization above {number} % when {doing}",
        "lower the inference latency of a {framework} model",
        "find the bottleneck when {doing}",
    ),
}

EXCLUDED_WORDS: dict[str, tuple[str, ...]] = {
    "error": (
        "CUDA out of memory error",
        "ValueError: shapes are incompatible",
        "a segmentation fault",
        "RuntimeError: expected scalar type Float",
        "InvalidArgumentError",
        "AttributeError: module has no attribute",
        "a dimension mismatch error",
        "ImportError: DLL load failed",
    ),
    "doing": (
        "calling fit",
        "loading a checkpoint",
        "training on two GPUs",
        "reading images from disk",
        "evaluating on the test set",
        "using a custom data generator",
        "training a large embedding",
        "running a notebook twice",
    ),
    "target": (
        "on Android",
        "on a Raspberry Pi",
        "behind a REST service",
        "in the browser",
        "on a cloud function",
        "inside a C++ application",
        "in a Docker container",
    ),
    "concept": (
        "the output shape",
        "the state of an LSTM",
        "the axis argument",
        "automatic differentiation",
        "the meaning of logits",
        "broadcasting rules",
        "the summary table",
        "the difference between loss and metric",
    ),
    "version": ("1.15", "1.4", "0.9", "2.0", "1.8.1", "nightly"),
    "system": (
        "on Windows",
        "on Ubuntu 18.04",
        "on macOS",
        "in a conda environment",
        "on a cluster without root",
        "on an ARM board",
    ),
    "number": ("9", "10", "11", "20", "30", "50", "90"),
}
