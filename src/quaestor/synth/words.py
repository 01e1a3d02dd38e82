"""The words that synthetic titles and bodies are made of, and the tags that questions carry."""

from __future__ import annotations

_GENERAL_TAGS = """
javascript python java c# php android html jquery c++ css ios mysql sql r node.js arrays c asp.net reactjs
json ruby-on-rails .net sql-server swift python-3.x objective-c django angular angularjs excel regex pandas
iphone ajax linux ruby xml vba spring asp.net-mvc typescript database wordpress string laravel wpf windows
mongodb postgresql git bash xcode multithreading oracle list vb.net macos eclipse amazon-web-services flutter
html5 image scala visual-studio algorithm azure dictionary powershell docker firebase react-native winforms
performance api facebook spring-boot function loops numpy perl matplotlib shell maven hibernate express
selenium dataframe rest entity-framework qt swing csv class http unit-testing file vue.js date sqlite matlab
haskell web-services parsing google-chrome testing sorting go unix security validation apache amazon-s3 jsp
user-interface dart opencv redux google-maps cordova kotlin templates for-loop rust inheritance servlets
plot tkinter recursion kubernetes lambda batch-file hadoop caching concurrency websocket elasticsearch
apache-spark oop cmake design-patterns debugging generics pointers memory-management exception encoding
datetime authentication session cookies nginx jenkins gradle npm webpack flask ggplot2 parallel-processing
f# assembly video graph-algorithm language-agnostic
"""
GENERAL_TAGS = tuple(_GENERAL_TAGS.split())
_YOUNG_TAGS = """
swift reactjs angular typescript flutter docker firebase react-native vue.js dart redux kotlin rust
kubernetes webpack spring-boot apache-spark jenkins
"""
YOUNG_TAGS = tuple(_YOUNG_TAGS.split())
"""Tags that hardly anybody used before 2015."""

_LEARNING_TAGS = """
python keras deep-learning machine-learning python-3.x neural-network numpy conv-neural-network lstm nlp
computer-vision gpu image-processing object-detection recurrent-neural-network google-colaboratory pandas
classification artificial-intelligence opencv reinforcement-learning jupyter-notebook word-embedding
transfer-learning autoencoder image-segmentation loss-function data-augmentation backpropagation
"""
LEARNING_TAGS = tuple(_LEARNING_TAGS.split())

GENERAL_WORDS: dict[str, tuple[str, ...]] = {
    "act": (
        "sort", "parse", "merge", "validate", "split", "copy", "serialize", "filter", "compare", "cache",
        "reverse",
        "rename", "download", "iterate over", "group", "convert", "import", "encode", "escape", "remove",
    ),
    "thing": (
        "a list of tuples", "a nested dictionary", "a JSON response", "the rows of a table",
        "a large CSV file",
        "a date string", "two sorted arrays", "an XML document", "the lines of a log file", "a binary tree",
        "a multidimensional array", "a list of objects", "the query string", "an uploaded image",
        "a form field",
        "a column of timestamps", "a comma separated string", "the result of a stored procedure",
        "a byte array",
        "a set of strings with ümlauts", "the items of a drop-down list", "a zip archive",
    ),
    "part": (
        "the controller", "a background thread", "the event handler", "the build script", "the main window",
        "a unit test", "the constructor", "the database connection", "the login page", "an async function",
        "the template", "a nested loop", "the command line", "a stored procedure", "the middleware",
        "the view",
    ),
    "trouble": (
        "NullReferenceException", "a syntax error", "index out of range", "a 404 response",
        "an infinite loop",
        "Access denied", "a blank page", "undefined", "a type mismatch", "a deadlock", "a stack overflow",
        "an encoding problem", "a timeout", "KeyError: 'id'", "cannot find symbol", "a linker error",
    ),
    "tool": (
        "the debugger", "a regular expression", "a generic class", "the standard library", "a hash table",
        "an iterator", "a lambda", "the package manager", "dependency injection", "a prepared statement",
        "a queue", "a temporary table", "reflection", "a decorator", "the profiler", "a mutex",
    ),
    "limit": (
        "without a loop", "without using a third-party library", "when the file is large",
        "in a single query",
        "on Windows", "on Linux", "for more than one user", "inside a loop", "with special characters",
        "in constant memory", "while the page is loading", "after an update", "across several projects",
        "with a custom comparer", "from another thread", "in a large project", "over a slow connection",
    ),
    "count": ("two", "three", "about ten", "several thousand", "40", "a million"),
    "name": ("items", "rows", "result", "users", "orders", "values", "records", "nodes", "lines", "tokens"),
}  # fmt: skip

LEARNING_WORDS: dict[str, tuple[str, ...]] = {
    "act": ("train", "evaluate", "fine-tune", "load", "export", "rebuild", "test", "compile"),
    "thing": (
        "a convolutional network", "an LSTM", "a small autoencoder", "a classifier with twelve classes",
        "a pretrained ResNet", "a sequence model", "a segmentation network", "a GAN", "an embedding model",
        "a network with two inputs", "a transformer", "a regression model",
    ),
    "part": (
        "the training loop", "the input pipeline", "the loss function", "the last dense layer", "a callback",
        "the forward pass", "the data generator", "the embedding layer", "the validation set",
        "the optimizer",
        "the test set", "a custom layer", "batch normalization", "the learning rate schedule",
    ),
    "trouble": (
        "ValueError: shapes do not match", "CUDA out of memory", "NaN", "an accuracy of exactly 0.5",
        "a dimension mismatch", "TypeError: unhashable type", "a constant output", "InvalidArgumentError",
        "a dtype error", "an empty gradient", "zero loss", "a tensor of the wrong rank",
    ),
    "tool": (
        "a one-hot encoding", "dropout", "early stopping", "a smaller batch size", "gradient clipping",
        "a generator", "mixed precision", "a different optimizer", "weight decay", "data augmentation",
    ),
    "limit": (
        "after the second epoch", "when calling fit", "on the GPU only", "with a batch size of one",
        "in a notebook", "after loading a checkpoint", "with variable sequence length", "on two GPUs",
        "with grayscale images", "for unbalanced classes", "during validation", "when the model is saved",
        "with a custom loss", "in evaluation mode",
    ),
    "count": ("two", "three", "32", "64", "about fifty", "several hundred"),
    "name": ("features", "labels", "logits", "inputs", "outputs", "images", "batches", "targets", "weights"),
}  # fmt: skip

DISPLAY_NAMES = {
    "tensorflow": "TensorFlow",
    "pytorch": "PyTorch",
    "theano": "Theano",
    "keras": "Keras",
    "mxnet": "MXNet",
    "caffe": "Caffe",
    "jax": "JAX",
}


def display_name(framework: str) -> str:
    """The framework as people write it in a sentence."""
    return DISPLAY_NAMES.get(framework, framework)
