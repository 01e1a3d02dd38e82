"""The phrases themselves, as a table: a phase, then its objects.

Each line gives the object, how often it is asked about (TensorFlow, PyTorch, Theano; the proportions are
those of the published taxonomy), the wordings of the object, and the patterns, each led by its verb;
indented lines continue the line above.
"""

PHRASES = """
Data processing
Data | 328 91 7 | the input data, CSV data, time series data, text data | load {} from several files; split
    {} into training and test parts; normalize {}; feed {} into a network with two inputs; shuffle {}
    between epochs; read {} lazily; augment {}
Tensor | 279 102 6 | a tensor, a 3D tensor, a sparse tensor, a ragged tensor | reshape {}; slice {} with a
    list of indices; concatenate {} with its transpose; convert {} to a NumPy array; get the shape of {};
    pad {} with zeros; repeat {} along a new axis; sort {} by its last column; multiply {} with a vector;
    replace negative values of {}
Image | 77 28 0 | an image, a grayscale image, a batch of images | resize {}; rotate {} by a random angle;
    crop {} around the centre; decode {} from bytes; convert {} to a tensor
Variable | 60 10 3 | a variable, a list of variables, a shared variable | initialize {} with a NumPy array;
    update {} conditionally; assign one element of {}; print {}; restore {}
Matrix | 25 14 4 | a matrix, a batch of matrices, a triangular matrix | invert {}; multiply {} with its
    transpose; compute the pairwise distances of {}; extract the diagonal of {}
Dataset | 26 4 0 | a dataset, an unbalanced dataset, two datasets | create {} from a generator; filter {} by
    label; zip {} with its labels; count the elements of {}
Batch | 18 9 1 | a batch, a mini batch, batches of variable length | create {}; get the next element of {};
    collate {}; shuffle {}
Vector | 10 6 1 | a vector, a one-hot vector, an embedding vector | convert {} to an index; append a
    constant to {}; compute the cosine similarity of {}
Placeholder | 15 0 0 | a placeholder, an optional placeholder | create {} of unknown size; feed {} with a
    list; replace {} with a dataset iterator
Label | 1 0 0 | the labels, string labels | encode {} as integers; smooth {}

Model setting
Layer | 256 42 7 | a custom layer, the first layers, an LSTM layer, a convolutional layer, an embedding
    layer | freeze {} of a pretrained model; add {} to an existing model; share {} between two branches;
    implement {} with several outputs; replace {} of a pretrained model; stack {}; remove {}; define {} with
    a learnable scalar
Model | 134 25 2 | a model, a siamese model, a model with two inputs, an encoder-decoder model | build {};
    combine {} with another network; subclass {}; clone {}; define {} from a configuration file
Weight | 41 11 3 | the weights, the weights of one layer, the bias | initialize {} with a custom function;
    set {} by hand; share {} between networks; get {} as an array; constrain {} to be positive
Trained model | 40 13 0 | a trained model, a pretrained model | load {} without its top; save {} after each
    epoch; modify {} for a new number of classes; reuse {} as a feature extractor
Model graph | 24 1 0 | the graph, the frozen graph | import {} twice; get the names of all nodes in {};
    merge {} with another one; reset {}
Activation | 10 1 2 | a custom activation, the activation function | define {}; apply {} to half of the
    units; change {} of a loaded model
Saved model file | 11 0 0 | a saved model file, a file in the HDF5 format | convert {} to a frozen graph;
    read {} without the original code; rename the inputs of {}
Trained weight | 4 2 0 | the trained weights, the weights of a checkpoint | copy {} to a different
    architecture; transfer {} between two models
Filter | 5 0 0 | a filter, a fixed Gaussian filter | define {} for a convolution; apply {} to each channel
Operation | 5 0 0 | an operation, a custom operation | register {} with its gradient; get {} by its name
Summary | 4 0 0 | the model summary, the summary of a nested model | print {}; save {} to a text file

Model training
Loss | 67 14 0 | a custom loss, the loss, a weighted loss, a loss with two terms | define {}; compute {} for
    each sample; mask {} for padded steps; pass an extra argument to {}; combine {} with a penalty
Model | 47 11 1 | a model, two models, a recurrent model | train {} with several losses; train {} on batches
    from a generator; resume training of {}; fit {} with sample weights; alternate the training of {}
Gradient | 36 8 2 | the gradient, the gradient of one output, the gradients of a batch | compute {} with
    respect to the input; clip {}; accumulate {} over several batches; stop {} at a given layer; reverse {}
Trained model | 15 1 1 | a trained model, a pretrained model | fine-tune {} on new classes; continue
    training of {}
Weight | 11 5 0 | the weights, some of the weights | update {} manually; save {} every few epochs;
    regularize {}
Variable | 9 4 0 | a variable, only some variables | train {}; exclude {} from the optimizer; update {}
    after each step
Checkpoint | 12 0 0 | a checkpoint, the best checkpoint | save {} at the end of each epoch; restore {} in
    another script; keep {} by validation score
Learning rate | 6 5 0 | the learning rate, a different learning rate | change {} during training; set {} for
    each layer; print {} at each epoch; decay {} by steps
Statement | 9 1 1 | a condition, a loop | use {} inside the training step; express {} without leaving the
    graph
Batch | 7 0 0 | each batch, the batch size | change {} between epochs; run a callback after {}
Training progress | 6 1 0 | the training progress | print {} on one line; log {} to a file
Layer | 5 1 0 | one layer, the layers | train {} at a time; unfreeze {} after a few epochs
Training data | 5 0 0 | the training data | change {} at each epoch; replay {} in a fixed order
Training step | 4 0 0 | the training step, a custom training step | override {}; count {} globally
Optimizer | 3 1 0 | an optimizer, two optimizers | implement {}; use {} for different layers; reset the
    state of {}
Session | 3 0 0 | a session, one session | share {} between functions; close {} after training
Training history | 2 0 0 | the training history | save {}; append to {} when training resumes
Derivative | 1 1 0 | the second derivative, a partial derivative | compute {} of the output

Model prediction
Model | 72 6 1 | a model, a trained model, a restored model | run {} on a single image; use {} for
    prediction in another script; predict with {} in batches; call {} from a loop; average the outputs of {}
    over folds
Prediction result | 27 9 1 | the prediction, the class probabilities, the predictions | get {} as labels;
    convert {} back to the original scale; save {} to a CSV file; map {} to class names
Layer | 8 0 0 | an intermediate layer, the last layer | get the output of {}; extract features from {}
Weight | 3 0 0 | the attention weights, the weights | get {} together with the prediction
Threshold | 1 0 0 | the decision threshold | set {} for each class

Model evaluation
Accuracy | 12 4 0 | the accuracy, the accuracy of each class, the top-5 accuracy | compute {}; report {} at
    the end of each epoch; mask {} for padded tokens
Other metrics | 13 3 0 | the F1 score, a custom metric, the mean intersection over union | compute {} during
    validation; implement {}; accumulate {} over batches
Result | 9 1 1 | the evaluation results, the confusion matrix | get {} for each class; save {} as JSON
Time | 3 2 0 | the time, the inference time | measure {} of one forward pass; log {} of each epoch
Evaluation method | 2 2 0 | cross validation, a validation split | use {} with a generator; implement {} for
    grouped samples
Training | 1 0 0 | the training | evaluate {} after a number of steps

Runtime environment
GPU | 12 5 0 | a specific GPU, two GPUs | select {} for one model; split a batch over {}; list {} from a
    script
GPU memory | 8 0 1 | GPU memory, the GPU memory of one process | limit {}; free {} between experiments;
    allocate {} on demand
GPU/CPU | 3 1 0 | the CPU and the GPU | place parts of one model on {}; move a model between {}
TPU | 1 1 0 | a TPU | use {} in a notebook
CPU | 1 1 0 | the CPU, a number of CPU cores | restrict a script to {}
RAM | 1 0 0 | RAM | cache a dataset in {}

Visualization
Data | 38 0 2 | the input data, an augmented batch, embeddings, the data | plot {}; show {} in a notebook;
    draw {} with its labels
Model | 26 5 0 | the model, the architecture, a model with two branches | plot {}; draw {} as a graph;
    display {} with its shapes
Evaluation | 9 4 0 | the accuracy curve, the ROC curve | plot {} of each fold; draw {} for training and
    validation
Layer | 8 0 0 | the filters of a layer, the feature maps | visualize {}; plot {} as images
Progress | 8 0 0 | the training progress | plot {} while it runs; show {} with a progress bar
Result | 6 1 0 | the predicted boxes, the segmentation mask | draw {} on an image; display {} with a legend
Tensorboard | 4 0 0 | several runs, a scalar of each batch | show {} in TensorBoard; write {} to TensorBoard
"""
