"""The printed issues and how people ask for them, as a table: a phase, then objects and their issues.

An object has its wordings, `*` telling how often one is used beside the others (once, where nothing is said).
Below it stand its issues, each with its posts and its name as printed (tables 5, 6 and 8 to 13; the wordings of
layer and model follow table 7) and its patterns, each led by its verb. Where a count is lost on the page, it is one
that the sums allow. Objects one below the other share the issues below them; indented lines continue the line above.
"""

ISSUES = """
Data processing
Data | the input data, CSV data, time series data, text data, an array
Tensor | a tensor, a 3D tensor, a ragged tensor, the input tensor
Image | an image, a grayscale image, a batch of images
Variable | a variable, a shared variable, a global variable
Matrix | a matrix, a large matrix, a triangular matrix
Dataset | a dataset, an unbalanced dataset, a large dataset
Batch | a batch, a mini batch, the next batch
Vector | a vector, a one-hot vector, a long vector
Placeholder | a placeholder, an optional placeholder
Label | the labels
- 33 create data: create {} from a list; create {} of a given size
- 11 create (random/sparse/mutable/constant/consecutive/adversarial) data: create {} with random values; create {}
    with constant values; create {} with consecutive values
- 102 (initialize/assign/feed/change/label/remap/rename) data: initialize {} with a NumPy array; assign new values to
    {}; feed {} into a network with two inputs; change one element of {}; label {} by its folder; rename {} in a graph
- 20 (encode/decode/tokenize/parse) data: encode {} as integers; decode {} from bytes; parse {} from a string
- 3 freeze (data/element): freeze some elements of {}
- 95 read data: read {} from several files; read {} lazily; read {} from disk in parallel
- 40 save data: save {} to a file; save {} in a compressed format
- 43 get data: get {} by name; get {} out of a nested structure; get {} inside a function
- 44 get (type/structure/shape/dimension/size/length/count/summary) of data: get the shape of {}; get the size of {}
    before it is known; get the type of {}; get the length of {}
- 15 get (index/label/coordinate/decoder) of data: get the index of the largest value of {}; get the label that
    belongs to {}
- 6 check (exist/in/empty/zero/invertible) for data: check whether {} is empty; check whether a value is in {}
- 56 (combine/concatenate/stack/merge/unpack/unstack/map/cluster) data: concatenate {} with another one; stack {}
    along a new axis; combine {} with extra features; merge {} with another one; map a function over {}; unstack {}
    along one axis
- 127 convert data type: convert {} to a NumPy array; convert {} to another type; convert {} to floating point
- 28 (transform/transpose/rotate/expand/reverse/flatten/distort/shift) data: transpose {} without a copy; rotate {} by
    a random angle; reverse {} along one axis; flatten {} but for the first axis; expand {} by one axis; shift {} by
    one step
- 24 (mutate/pad/mask) data: pad {} with zeros; mask part of {}
- 7 (upscale/rescale/enlarge/upsampling/add-Gaussian-noise) data: rescale {} to a new range; upscale {} by a factor of
    two; enlarge {} by repetition
- 74 (reshape/resize/repeat/vectorize) data: reshape {} when one axis is unknown; resize {} without distortion; repeat
    {} along a new axis; vectorize a loop over {}
- 12 (augment/interpolate/principal-component-analysis) data: augment {} on the fly; interpolate {} linearly
- 81 (slice/split/extract/crop/segment/interleave/subset) data: slice {} with a list of indices; split {} into
    training and test parts; extract a part of {}; crop {} around the centre
- 8 remove data: remove zeros from {}; remove duplicates from {}
- 16 (normalize/denormalize/standardize/clip) data: normalize {} by its maximum; standardize {} by column; clip {} to
    a range
- 12 (append/insert/extend) data: append a constant to {}; extend {} by one element
- 72 (add/sum/increment/subtract/decay/multiply/divide) data: add a constant to {}; sum {} over one axis; multiply {}
    with another one; subtract the mean from {}
- 11 (square/product/tensordot/mean-square/square-error) data: square {} element by element
- 11 (average/mean/variance/covariance) data: average {} over one axis
- 9 (intersect/trace/softmax/factorize) data: factorize {} into two parts; intersect {} with another one
- 16 compute (distance/entropy/similarity/difference/divergence): compute the pairwise distances of {}; compute the
    cosine similarity of {}; compute the entropy of {}
- 11 compute (histogram-equalization/hessian-matrix/statistics): compute statistics of {}; compute a histogram
    equalization of {}
- 69 (find/replace/sample/compare) data: find the largest values of {}; replace negative values of {}; sample from {}
    with weights; compare {} with another one
- 3 (enqueue/synchronize/share) data: share {} between two processes; enqueue {} in the background
- 66 (iterate/index/sort/shuffle/filter/permutate/serialize) data: iterate over {}; sort {} by its last column;
    shuffle {} between epochs; filter {} by a condition; index {} with another one

Model setting
Layer | a layer *88, a convolution layer *43, an LSTM layer *27, an embedding layer *22, a dropout layer *15, an RNN
    layer *13, an input layer *13, a dense layer *12, a pooling layer *11, a normalization layer *8, a fully connected
    layer *7, an output layer *7, a hidden layer *6, a softmax layer *4, a transformer layer *3, a linear layer *3, a
    deconvolution layer *3, a lambda layer *3, a flatten layer *2, a standardization layer *2, a decoder layer *2, a
    convLSTM layer, a feedforward layer, a probabilistic layer, a logistic layer, a nonlinear layer, a gradient
    reversal layer, a sharpening layer, a reshaping layer, an attention layer, a mask layer, a sorting layer
Model | a model *143, an autoencoder model *4, a CNN model *4, an MLP model *3, a DNN model *2, an encoder/decoder
    model, an encoder model, a regression model, an AlexNet model, a ResNet model
Trained model | a trained model *42, a trained BERT model *5, a trained VGG model *4, a trained Inception model *2
- 136 create: create {} with several outputs; create {} from a configuration file; create {} of variable size
- 98 (initialize/feed/change/name/rename): initialize {} with a custom function; feed {} with two inputs; change {}
    after it was built; name {} explicitly; rename {} after loading
- 2 decode: decode the output of {}
- 3 freeze weight: freeze the weights of {}
- 50 restore: restore {} from a file; restore {} in another script
- 26 save: save {} to a file; save {} with its configuration
- 4 get: get {} by its name
- 5 get (shape/dimension): get the shape of {}; get the dimension of {}
- 57 (combine/concatenate/stack/merge/convert): combine {} with another one; concatenate {} with another one; stack {}
    several times; merge {} with another one; convert {} to another format
- 9 (transpose/expand/flatten/reverse): flatten the output of {}; expand the input of {}; reverse the order in {}
- 4 (pad/mask): pad the input of {}; mask part of {}
- 3 (scale/rescale): scale the output of {}; rescale the input of {}
- 1 reshape: reshape the output of {}
- 2 split: split {} into two branches
- 6 remove: remove {} from a network
- 2 normalize: normalize the output of {}
- 6 (add/sum/multiply): add the outputs of {}; multiply the output of {} with a scalar
- 1 mean: average the outputs of {}
- 1 find: find {} by its type
- 6 share: share {} between two branches
- 21 (add/split/remove/change/prune/SVD layer): add one more stage to {}; prune {} by a share; remove the top of {}
- 7 add (variable/constant/threshold/bias/filter/sliding-window): add a bias to {}; add a constant to {}; add a
    threshold to {}
- 4 (regularize/unfreeze) weight: regularize the weights of {}; unfreeze the weights of {}
- 3 get (feature/tokenizer): get the features of {}
- 3 change (axis/activation/class-count): change the activation of {}; change the class count of {}
- 4 (select-best/copy): copy {} with its state
- 8 get layer from model: get one layer from {}
- 3 get (name/scope): get the name of {}; get the scope of {}
- 32 get (input/output): get the output of {}; get the input of {}
- 12 get (weight/bias/unit/encoder/stride/activation): get the weights of {}; get the bias of {}; get the activation
    of {}
Weight | the weights, the weights of one layer, the bias
- 15 (get/copy/save/restore) weight: get {} as an array; copy {} to another network; save {} to a file; restore {} by
    name
- 10 (share/embed/mask/merge) weight: share {} between networks; mask some of {}; merge {} of two networks
- 5 (addition/multiply/product/average/decay) weight: multiply {} with a scalar; average {} of several networks
- 17 (initialize/regularize/mutate) weight: initialize {} with a custom function; regularize {} by a norm
- 8 (transform/convert/reset/change) weight: reset {} between folds; change {} by hand; convert {} to another format
Model graph | the model graph, a frozen model graph
- 15 (create/save/restore) model graph: create {} in a function; save {} to a file; restore {} from a file
- 4 (convert/copy) model graph: convert {} to another format; copy {} with its variables
- 2 (add/find) model graph: add an operation to {}; find a node in {}
- 4 get (input/output) of model graph: get the inputs of {}; get the outputs of {}
Activation | the activation, a custom activation
- 8 create (Gaussian/linear/PReLU/ReLus) activation: create a Gaussian activation; create a linear activation; create
    a PReLU activation
- 2 (change/regularize) activation: change {} of a loaded model; regularize {} of one layer
- 3 get (type/shape/output) of activation: get the output of {}; get the shape of {}
Saved model file | a saved model file, the saved model file of an old version
- 7 (format/convert) saved model file: convert {} to a frozen graph; convert {} to another framework
- 4 get (tag-name/content/activation) of saved model file: get the content of {}; get the tag name of {}
Trained weight | the trained weights, the trained weights of a checkpoint
- 6 (create/get/mask/restore) trained weight: restore {} by name; get {} as arrays; mask some of {}
Filter | a filter, a fixed Gaussian filter
- 5 (create/enlarge/delete) filter: create {} for a convolution; enlarge {} without training; delete {} by its norm
Operation | an operation, a custom operation
- 5 (get/append/join/name) operation: get {} by its name; append {} to a graph; name {} inside a scope
Summary | the model summary, the summary of a nested model
- 4 (create/restore) summary: create {} as text; restore {} of an earlier run

Model training
Loss | a custom loss, the loss, a weighted loss, a loss with two terms
- 74 (compute/get/save/restore) loss: compute {} for each sample; get {} of every batch; save {} after each epoch;
    compute {} with an extra argument
- 3 (replace/remove) loss: replace {} during training; remove {} from one output
- 4 (mask/normalize/regularize) loss: mask {} for padded steps; normalize {} by its length; regularize {} with a norm
Model | a model, a small model, a recurrent model
- 29 train one model: train {} with several losses; train {} on batches from a generator; train {} with sample weights
- 18 train (RNN/UNet/CNN/LSTM/GAN/Tflean/Bert/DNN) model: train an RNN model; train a UNet model; train a CNN model;
    train an LSTM model; train a GAN model; train a Bert model; train a DNN model
- 5 train (multi-task/autoencoder/regression) model: train a multi-task model; train an autoencoder model; train a
    regression model
- 1 change input for training epoch: change the input of {} for each training epoch
- 6 save model during training: save {} during training
Gradient | the gradient, the gradient of one output, the gradients of a batch
- 23 (compute/change/update) gradient: compute {} with respect to the input; change {} before it is applied; update {}
    by hand
- 4 (differentiate/accumulate) gradient: accumulate {} over several batches; differentiate {} once more
- 13 (get/find/track/save) gradient: get {} of each layer; track {} over time; save {} to a file
- 5 (ascend/clip/invert/scale) gradient: clip {} by its norm; invert {} for one branch; scale {} by a factor
- 1 stop using gradient: stop using {} at a given layer
Trained model | a trained model, a trained BERT model
- 15 (restore/save) trained model: restore {} and go on training; save {} after each epoch
- 2 tune trained model: tune {} on new classes
Weight | the weights, some of the weights
- 6 (train/update) weight: train {} of one branch; update {} manually
- 5 (freeze/decay/clip) weight: freeze {} for some epochs; decay {} over time; clip {} after each step
- 5 (get/save) weight: get {} after each step; save {} every few epochs
Variable | a variable, only some variables
- 9 (create/get/count/save/restore) variable: create {} for training; get {} from a scope; count {} that are trained;
    save {} during training; restore {} by name
- 4 (assign/train/update) variable: assign {} in the training loop; train {} alone; update {} after each step
Checkpoint | a checkpoint, the best checkpoint
- 11 (save/restore) checkpoint: save {} at the end of each epoch; restore {} in another script
- 1 limit checkpoint: limit the number of each checkpoint that is kept
Learning rate | the learning rate, a different learning rate
- 4 (get/log/save) learning rate: get {} at each epoch; log {} at each step; save {} with the model
- 7 (change/decay) learning rate: change {} during training; decay {} by steps
Statement | a statement
- 9 (create/delete) branch: create a branch inside the training step; delete a branch of the training step
- 2 (create/skip) loop: create a loop inside the training step; skip a loop inside the training step
Batch | a batch, each batch
- 3 (get/sample) batch during training: get {} during training; sample {} during training
- 4 (feed/shuffle/change) batch during training: feed {} during training; shuffle {} during training; change the size
    of {} during training
Training progress | the training progress
- 3 (check/switch training/validation) mode: check for training or validation mode; switch from training to validation
    mode
- 1 get training step: get the training step inside a callback
- 1 change random number during training: change the random numbers during training
- 2 (save/stop) training: stop the training from a callback; save the training to go on later
Layer | one layer, the layers
- 3 train (embedding/convolution/dropout) layer: train an embedding layer alone; train a convolution layer first;
    train a dropout layer with a schedule
- 1 unfreeze layer: unfreeze {} after a few epochs
- 2 (reset/test) layer for training epoch: reset {} for each training epoch; test {} after a training epoch
Training data | the training data
- 4 (load/sample/count/reshape) training data: load {} at each epoch; sample {} by class; count {} that were seen;
    reshape {} between epochs
- 1 add Gaussian noise to training data: add Gaussian noise to {}
Training step | the training step, a custom training step
- 2 (initialize/get) training step: get {} as a number; initialize {} from a checkpoint
- 2 (reduce/early-stop) training step: reduce the cost of {}; early-stop after {}
Optimizer | the optimizer, a custom optimizer
- 4 (get/compute) optimizer: get the state of {}; compute one update of {}
Session | a session, one session
- 3 (get/restore/exit) session: get {} inside a callback; restore {} from a checkpoint; exit {} after training
Training history | the training history
- 2 (get/save) training history for training epoch: get {} of each training epoch; save {} of each training epoch
Derivative | the second derivative, a partial derivative
- 2 (get/compute) derivative: compute {} of the output; get {} by the input

Model prediction
Model | a model, a restored model
- 60 test one model: test {} on a single image; test {} in another script; test {} in batches; test {} inside a loop
- 17 test (GRU/DNN/RNN/LSTM/FeedForward/Resnet/CNN/BERT/Inception) model: test a GRU model; test a DNN model; test an
    RNN model; test an LSTM model; test a FeedForward model; test a Resnet model; test a CNN model; test a BERT model;
    test an Inception model
- 2 feed data during testing: feed data into {} during testing
Prediction result | the prediction result, the prediction result of a batch
- 27 get prediction (result/label/index): get {} as an array; get the prediction label of one image; get the
    prediction index of each class
- 4 (select/save) prediction result: select {} with the best score; save {} to a CSV file
- 6 (convert/mask/normalize/aggregate) prediction result: convert {} to the original scale; mask {} by confidence;
    aggregate {} over folds
Layer | one layer, the last layer
- 5 test (one/LSTM) layer: test {} on new input; test an LSTM layer step by step
- 3 test (input/embedding) layer: test an input layer with new shapes; test an embedding layer on unknown words
Weight | the weights
- 2 (load/freeze) weight during prediction: load {} during prediction; freeze {} during prediction
- 1 perform prediction using weight: perform a prediction using {} alone
Threshold | the threshold
- 1 lower threshold for prediction: lower {} for prediction

Model evaluation
Accuracy | the accuracy, the top-5 accuracy
- 5 compute accuracy: compute {} of a trained network
- 5 compute accuracy for (one/epoch/training): compute the accuracy for one class; compute the accuracy for each
    epoch; compute the accuracy for training and test
- 6 compute accuracy for (pixel-wise/in-class/multi-label): compute a pixel-wise accuracy; compute an in-class
    accuracy; compute a multi-label accuracy
Other metrics | a custom metric
- 6 compute custom metric: compute {} during validation; compute {} over all batches
- 6 compute (F1-score/R2-score/AUC/Recall/MAP): compute the F1-score of each class; compute the R2-score of a
    regression; compute the AUC of a classifier; compute the recall at each epoch
- 2 compute perplexity: compute the perplexity of a language model
- 1 compute hamming loss: compute the hamming loss of a classifier
- 1 compute PSNR: compute the PSNR of two images
Result | the results
- 6 compute confusion matrix: compute a confusion matrix at each epoch; compute a confusion matrix from a generator
- 1 compute class probabilities: compute class probabilities on the test set
- 2 compute error ratio: compute the error ratio on the test set
- 2 find error: find the errors on the test set
Time | the time
- 1 compute preprocessing time: compute the preprocessing time of a batch
- 3 compute (total/layer) training time: compute the total training time; compute the training time of each layer
- 1 compare (training/testing) time: compare training time and testing time
Evaluation method | an evaluation method
- 3 use cross-validation: use cross-validation with a generator
- 1 parallelize evaluation: parallelize an evaluation over processes
Training | the training
- 1 determine overfitting: determine overfitting from the history

Runtime environment
GPU | a GPU
- 2 check (available/used) GPU: check for an available GPU; check the used GPU
- 7 (select/use) one GPU: select one GPU of several; use one GPU for training
- 7 use multiple GPUs: use multiple GPUs for training; use multiple GPUs for prediction
- 1 prefetch data to GPU: prefetch data to the GPU
GPU memory | the GPU memory, the GPU memory of one process
- 2 check memory usage: check the usage of {}
- 2 use more memory: use more of {}
- 5 (limit/reduce/clear) memory: limit {} from the start; reduce {} during training; clear {} between runs
GPU/CPU | the GPU or the CPU
- 2 check if using GPU or CPU: check if a script is using {}
- 2 (select/switch) GPU or CPU: select {} for one model; switch to {} in a script
TPU | a TPU
- 1 check TPU: check for {} in a notebook
- 1 use TPU: use {} in a notebook
CPU | the CPU
- 2 use CPU: use {} only; use {} for one operation
RAM | RAM
- 1 free memory: free {} between experiments

Visualization
Data | the data
- 30 print (data/tensor/variable): print the data of a batch; print the values of a tensor; print a variable inside a
    loop
- 10 display image: display an image of a batch; display an image after augmentation
Model | the model, the architecture of the model
- 8 display model: display {} with its shapes; display {} as a graph
- 11 display (weight/filter/activation/learning-rate/gradient) of model: display the weights of {}; display the
    filters of {}; display the activations of {}; display the gradients of {}
- 11 plot training loss: plot the training loss of {}; plot the training loss while it runs
- 1 display regressed equation: display the regressed equation of {}
Evaluation | an evaluation
- 6 display confusion matrix: display a confusion matrix with its labels; display a confusion matrix at each epoch
- 5 print accuracy: print the accuracy at each epoch; print the accuracy on the test set
- 2 plot (accuracy/ROC) curve: plot an accuracy curve of each fold; plot a ROC curve of each class
Layer | a layer
- 1 print shape of input layer: print the shape of the input layer
- 7 print output of (certain/hidden/output) layer: print the output of a certain layer; print the output of a hidden
    layer; print the output of the output layer
Progress | the progress
- 7 print (training/prediction/evaluation) progress: print the training progress on one line; print the prediction
    progress; print the evaluation progress
- 1 print checkpoint: print the checkpoint that is loaded
Result | the result
- 6 print prediction (result/label): print the prediction result of one image; print the prediction label of each
    image
- 1 display tested image: display a tested image with its class
Tensorboard | Tensorboard
- 3 display tensorboard: display {} in a notebook; display {} from a server
- 1 reset tensorboard: reset {} between runs
"""
