"""Invented code for the code blocks of synthetic posts; $a, $b and $n are filled in, ---- parts snippets."""

from __future__ import annotations

_GENERAL = """
def load_$a(path):
    with open(path) as file:
        return [line.split(",") for line in file]

$a = load_$a("$b.csv")
print(len($a) > $n)
----
for (var i = 0; i < $a.length; i++) {
    if ($a[i].$b === $n) {
        console.log($a[i]);
    }
}
----
SELECT t.$b, COUNT(*) AS total
FROM $a t
WHERE t.$b <> $n AND t.active = 1
GROUP BY t.$b
ORDER BY total DESC;
----
public List<String> find$A(Map<String, Integer> $b) {
    List<String> $a = new ArrayList<>();
    for (String key : $b.keySet()) {
        if ($b.get(key) >= $n && key != null) {
            $a.add(key);
        }
    }
    return $a;
}
----
std::vector<int> $a($n);
for (auto& value : $a) {
    value = $b(value) & 0xff;
}
----
$ cat $a.txt | grep -v '$b' | sort | uniq -c > $b.txt
$ wc -l $b.txt
$n $b.txt
----
<div class="$a">
    <ul id="$b">
        <li>$n</li>
    </ul>
</div>
----
var $a = source
    .Where(x => x.$B > $n && x.Name != "")
    .Select(x => x.$B)
    .ToList();
----
Traceback (most recent call last):
  File "$a.py", line $n, in <module>
    main()
  File "$a.py", line 12, in main
    $b[key] += 1
KeyError: '$a'
----
const $a = await fetch(`/api/$b?limit=$n`);
const body = await $a.json();
setState({ $b: body });
----
{
    "$a": [$n, 2, 3],
    "$b": {"enabled": true, "name": "$a & $b"}
}
----
df = df.groupby("$a")["$b"].agg(["mean", "max"])
df[df["mean"] > $n].head()
----
.$a > .$b {
    margin: 0 auto;
    width: calc(100% - $npx);
}
----
while IFS= read -r line; do
    [ -n "$line" ] && echo "$n $line" >> $a.log
done < $b.log
"""

_TENSORFLOW = """
import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.layers.Dense($n, activation="relu"),
    tf.keras.layers.Dense(10),
])
model.compile(optimizer="adam", loss="mse")
model.fit($a, $b, epochs=5)
----
$a = tf.placeholder(tf.float32, [None, $n])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run($b, feed_dict={$a: batch}))
----
dataset = tf.data.Dataset.from_tensor_slices(($a, $b))
dataset = dataset.shuffle(1000).batch($n)
for x, y in dataset.take(1):
    print(x.shape, y.shape)
----
with tf.GradientTape() as tape:
    $b = model($a, training=True)
    loss = loss_fn(y, $b)
grads = tape.gradient(loss, model.trainable_variables)
optimizer.apply_gradients(zip(grads, model.trainable_variables))
----
for layer in model.layers[:$n]:
    layer.trainable = False
model.summary()
----
Epoch 1/5
$n/$n [======>.......] - loss: 2.3026 - accuracy: 0.1000
InvalidArgumentError: Incompatible shapes: [$n,10] vs. [$n,1]
"""

_PYTORCH = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear($n, 10)

    def forward(self, $a):
        return self.fc($a.view($a.size(0), -1))
----
for $a, $b in loader:
    optimizer.zero_grad()
    loss = criterion(model($a), $b)
    loss.backward()
    optimizer.step()
----
for parameter in model.features[:$n].parameters():
    parameter.requires_grad = False
----
$a = torch.randn($n, 3, 224, 224)
print($a.permute(0, 2, 3, 1).shape)
----
RuntimeError: size mismatch, m1: [$n x 512], m2: [1024 x 10]
----
torch.save(model.state_dict(), "$a.pt")
model.load_state_dict(torch.load("$a.pt"))
model.eval()
"""

_THEANO = """
import theano
import theano.tensor as T

$a = T.matrix("$a")
$b = theano.shared(value, name="$b")
f = theano.function([$a], T.dot($a, $b), updates=[($b, $b * 0.$n)])
----
result, updates = theano.scan(lambda x, s: s + x, sequences=$a,
                              outputs_info=T.zeros($n))
----
grads = T.grad(cost, [$a, $b])
updates = [(p, p - 0.01 * g) for p, g in zip([$a, $b], grads)]
"""

_ANY_FRAMEWORK = """
$a = np.zeros(($n, 28, 28))
$b = np.argmax($a, axis=-1)
print($b.shape)
----
model = build_model(units=$n)
model.fit($a, $b)
"""


def _snippets(text: str) -> tuple[str, ...]:
    return tuple(snippet.strip("\n") + "\n" for snippet in text.split("\n----\n"))


GENERAL_CODE = _snippets(_GENERAL)
_LEARNING_CODE = {
    "tensorflow": _snippets(_TENSORFLOW),
    "pytorch": _snippets(_PYTORCH),
    "theano": _snippets(_THEANO),
}


def learning_code(framework: str) -> tuple[str, ...]:
    """Snippets that users of the framework would post."""
    return _LEARNING_CODE.get(framework, ()) + _snippets(_ANY_FRAMEWORK)
