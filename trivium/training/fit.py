"""Trains a network with Keras and returns its weights as NumPy arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np

from trivium.common.arrays import Floats32
from trivium.errors import ConfigurationError, InputError, MissingExtraError
from trivium.fusion.network import CLIP, Network
from trivium.training.settings import Settings
from trivium.training.training_data import Example

Scale = tuple[Floats32, Floats32]
"""Mean and standard deviation (f,) of the features."""
Tick = Callable[[], None]
"""Called after every epoch."""


@dataclass(frozen=True, slots=True)
class Added:
    """What is added to the scores of a trained network: the first standardised features times ``weights``, a sum that is
    brought nearer to 0 by ``rate`` times the feature of number ``faded_by``, if one is named. The layers do not see that
    feature: what they learnt of it would be true of the sets that they are trained on.
    """

    weights: Sequence[float] = ()
    faded_by: int | None = None
    rate: float = 0.0

    def hidden_from(self, example: Example) -> Example:
        """Return an example without the feature that the layers do not see."""
        if self.faded_by is None:
            return example
        return replace(example, rows=np.delete(example.rows, self.faded_by, axis=1))

    def to(self, network: Network) -> Network:
        """Return a network that was trained on examples without that feature with what is added to it."""
        if self.faded_by is not None:
            (first, bias), *others = network.layers
            network = Network(
                np.insert(network.mean, self.faded_by, 0),
                np.insert(network.deviation, self.faded_by, 1),
                ((np.insert(first, self.faded_by, 0, axis=1), bias), *others),
            )
        return corrected(network, 1.0, self)


NOTHING = Added()


@dataclass(frozen=True, slots=True)
class Epoch:
    """The metrics of an epoch: the mean training ``loss`` (with dropout), and on the validation questions the loss and
    hit@1, in [0, 1]; both None without validation questions."""

    loss: float
    validation_loss: float | None = None
    validation_hit: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A trained network, its history, and the number of ``epochs`` after which its weights were taken."""

    network: Network
    history: tuple[Epoch, ...]
    epochs: int


def train(
    examples: Sequence[Example],
    validation: Sequence[Example],
    settings: Settings,
    seed: int,
    *,
    scale: Scale | None = None,
    epochs: int | None = None,
    start: Sequence[float] = (),
    tick: Tick = lambda: None,
) -> Trained:
    """Train one network on the questions that have gold among their candidates.

    The loss of a question is the mean, over its gold candidates, of the softmax cross-entropy of that candidate against
    all that are not gold. With ``validation`` questions the weights of the epoch with the lowest validation loss are
    kept, otherwise those after ``epochs`` (at most ``settings.epochs``). Features are standardised by ``scale``, by
    default computed from the examples. The first standardised features times the weights ``start`` are what the layers
    learn to change. ``tick`` is called after every epoch. The same arguments give the same network on one
    machine.

    Raises MissingExtraError without TensorFlow, InputError without a question that has both gold and other candidates,
    ConfigurationError when the loss is no longer finite.
    """
    keras, tf = load_keras()
    examples = [example for example in examples if example.gold.any() and not example.gold.all()]
    validation = [example for example in validation if example.gold.any() and not example.gold.all()]
    if not examples:
        raise InputError("nothing to learn from: no question has a gold candidate and another")
    generator = np.random.default_rng(seed)
    mean, deviation = scale_of(examples) if scale is None else scale
    model = _model(keras, len(mean), settings, generator, start)
    step = _step(keras, tf, model, settings, len(examples))
    weights = np.array([example.weight for example in examples], dtype=np.float32)
    weights /= weights.mean()
    history: list[Epoch] = []
    best: tuple[float, Network, int] | None = None
    batch: tuple[Floats32, ...] | None = None
    for epoch in range(settings.epochs if epochs is None else min(epochs, settings.epochs)):
        if batch is None or epoch % settings.redrawn == 0:
            batch = _draw(examples, mean, deviation, settings, generator)
        rows, gold, present = batch
        order = generator.permutation(len(examples))
        losses = []
        for place in range(0, len(examples), settings.batch):
            chosen = order[place : place + settings.batch]
            arrays = (rows, gold, present, weights)
            losses.append(len(chosen) * float(step(*(array[chosen] for array in arrays))))
        loss = sum(losses) / len(examples)
        if not np.isfinite(loss):
            raise ConfigurationError(f"training diverged in epoch {epoch + 1}: lower the learning rate")
        if validation:
            network = _network(model, mean, deviation, start)
            validation_loss, validation_hit = validate(network, validation)
            history.append(Epoch(loss, validation_loss, validation_hit))
            if best is None or validation_loss < best[0]:
                best = (validation_loss, network, epoch + 1)
        else:
            history.append(Epoch(loss))
        tick()
    if best is None:
        return Trained(_network(model, mean, deviation, start), tuple(history), len(history))
    return Trained(best[1], tuple(history), best[2])


def scale_of(examples: Sequence[Example]) -> Scale:
    """Mean and standard deviation (f,) over all candidates. The deviation of a nearly constant column is taken as 1."""
    rows = np.concatenate([example.rows for example in examples])
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    deviation = rows.std(axis=0, dtype=np.float64).astype(np.float32)
    return mean, np.where(deviation > 1e-4, deviation, np.float32(1))


def validate(network: Network, examples: Sequence[Example]) -> tuple[float, float]:
    """The mean loss over all candidates, and hit@1 in [0, 1]; questions count by their weight."""
    scores = network.logits(np.concatenate([example.rows for example in examples]))
    losses, hits, start = [], [], 0
    for example in examples:
        question_scores = scores[start : start + len(example.gold)]
        start += len(example.gold)
        negatives = np.logaddexp.reduce(question_scores[~example.gold])
        losses.append(np.logaddexp(0, negatives - question_scores[example.gold]).mean())
        hits.append(example.gold[np.argmax(question_scores)])
    weights = [example.weight for example in examples]
    return float(np.average(losses, weights=weights)), float(np.average(hits, weights=weights))


def load_keras() -> tuple[ModuleType, ModuleType]:
    """Keras and TensorFlow. Raises MissingExtraError without them, ConfigurationError when Keras uses
    another backend."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault(
        "TF_ENABLE_ONEDNN_OPTS", "0"
    )  # not faster here, and its sums differ between machines
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    try:
        import keras
        import tensorflow as tf
    except ImportError as error:
        raise MissingExtraError("training a fusion", "train") from error
    if keras.backend.backend() != "tensorflow":
        raise ConfigurationError(
            f"training needs Keras with the TensorFlow backend, got {keras.backend.backend()}: set"
            " KERAS_BACKEND=tensorflow"
        )
    return keras, tf


def _model(
    keras: Any, width: int, settings: Settings, generator: np.random.Generator, start: Sequence[float]
) -> Any:
    # Explicit seeds: independent of, and without effect on, the global random state.
    seeds = iter(generator.integers(2**31, size=2 * len(settings.hidden) + 1).tolist())
    rows = values = keras.Input((None, width))
    for units in settings.hidden:
        first = keras.initializers.GlorotUniform(seed=next(seeds))
        values = keras.layers.Dense(units, activation="relu", kernel_initializer=first)(values)
        values = keras.layers.Dropout(settings.dropout, seed=next(seeds))(values)
    last = keras.initializers.GlorotUniform(seed=next(seeds))
    values = keras.layers.Dense(1, kernel_initializer=last)(values)
    if any(start):
        weights = keras.ops.convert_to_tensor(np.asarray(start)[:, np.newaxis], rows.dtype)
        values += keras.ops.matmul(rows[..., : len(start)], weights)
    return keras.Model(rows, values)


def _step(keras: Any, tf: Any, model: Any, settings: Settings, questions: int) -> Callable[..., Any]:
    """A compiled training step: takes the arrays of a batch, updates the model and returns the loss."""
    steps = settings.epochs * -(-questions // settings.batch)
    optimizer = keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(settings.rate, steps), weight_decay=settings.decay
    )
    optimizer.build(model.trainable_variables)

    def step(rows: Any, gold: Any, present: Any, weight: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(rows, training=True)[..., 0]
            logits = tf.where(present == 0, -1e9, logits)
            others = tf.where(gold > 0, -1e9, logits)
            negatives = tf.reduce_logsumexp(others, 1, keepdims=True)
            ranking = tf.reduce_sum(tf.nn.softplus(negatives - logits) * gold, 1) / tf.reduce_sum(gold, 1)
            loss = tf.reduce_mean(ranking * weight)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    # Leave the numbers of questions and candidates open, so that the smaller last batch does not trigger retracing.
    table, question = tf.TensorSpec((None, None), tf.float32), tf.TensorSpec((None,), tf.float32)
    rows = tf.TensorSpec((None, None, model.input_shape[-1]), tf.float32)
    signature = (rows, table, table, question)
    compiled: Callable[..., Any] = tf.function(step, input_signature=signature, autograph=False)
    return compiled


def _draw(
    examples: Sequence[Example],
    mean: Floats32,
    deviation: Floats32,
    settings: Settings,
    generator: np.random.Generator,
) -> tuple[Floats32, Floats32, Floats32]:
    """A random draw of candidates: standardised rows (q, c, f); masks of gold, and of places that hold a candidate,
    both (q, c)."""
    candidates = settings.candidates
    rows = np.zeros((len(examples), candidates, len(mean)), dtype=np.float32)
    gold = np.zeros(rows.shape[:2], dtype=np.float32)
    present = np.zeros_like(gold)
    for place, example in enumerate(examples):
        positive = generator.permutation(np.flatnonzero(example.gold))[: candidates // 4]
        negative = generator.permutation(np.flatnonzero(~example.gold))[: candidates - len(positive)]
        chosen = np.concatenate([positive, negative])
        rows[place, : len(chosen)] = np.clip((example.rows[chosen] - mean) / deviation, -CLIP, CLIP)
        gold[place, : len(positive)] = 1
        present[place, : len(chosen)] = 1
    return rows, gold, present


def _network(model: Any, mean: Floats32, deviation: Floats32, start: Sequence[float]) -> Network:
    numbers = [np.array(variable.numpy())[np.newaxis] for variable in model.trainable_variables]
    network = Network(mean, deviation, tuple(zip(numbers[::2], numbers[1::2], strict=True)))
    return corrected(network, 1.0, Added(start))


def corrected(network: Network, factor: float, added: Added) -> Network:
    """Return the network whose score is ``factor`` times that of another plus what is ``added``. Two units more in each
    layer carry the positive and the negative part of that through the ReLUs, since x = max(0, x) - max(0, -x). A sum
    that fades needs a hidden layer.
    """
    if factor == 1 and not any(added.weights):
        return network
    (first, bias), *others = network.layers
    members, inputs, _ = first.shape
    signs = np.array([1, -1], dtype=np.float32)
    sums = np.zeros((members, inputs, 2), dtype=np.float32)
    sums[:, : len(added.weights)] = np.outer(added.weights, signs)
    if added.faded_by is not None:
        sums[:, added.faded_by] = -added.rate
    scale = np.float32(factor)
    if not others:
        return replace(network, layers=((first * scale + sums[..., :1], bias * scale),))
    layers = [(np.concatenate([first, sums], axis=2), np.pad(bias, ((0, 0), (0, 2))))]
    for inner, bias in others[:-1]:
        wider = np.pad(inner, ((0, 0), (0, 2), (0, 2)))
        wider[:, -2:, -2:] = np.eye(2)
        layers.append((wider, np.pad(bias, ((0, 0), (0, 2)))))
    last, bias = others[-1]
    both = np.broadcast_to(signs[:, np.newaxis], (members, 2, 1))
    layers.append((np.concatenate([last * scale, both], axis=1), bias * scale))
    return replace(network, layers=tuple(layers))
