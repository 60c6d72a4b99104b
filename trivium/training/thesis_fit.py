"""Fit the thesis's network to candidates with Keras, and give it as plain numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.network import Network
from trivium.training.fit import Epoch, Scale, Tick, Trained, load_keras
from trivium.training.settings import ThesisSettings

SPREAD = 2.0
"""Keras sees features as they are, a :class:`Network` cuts them at 8 of its deviations. In units of two deviations that
is beyond what standardisation over n candidates can give, sqrt(n - 1), up to 257 of them. A power of two costs no
digit."""
_WATCHED = "watched"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Candidates of questions: features (r, f), which are gold (r,), how much each counts (r,), and the number of the
    question each belongs to (r,), rising."""

    rows: Floats32
    gold: NDArray[np.bool_]
    weight: Floats32
    question: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> Sample:
        """Some of them, places rising."""
        return Sample(self.rows[places], self.gold[places], self.weight[places], self.question[places])


def train(
    sample: Sample, watched: Sample | None, settings: ThesisSettings, seed: int, scale: Scale, tick: Tick
) -> Trained:
    """One network by binary cross-entropy; the weights with the least loss on the ``watched`` candidates are kept (on
    those learnt from, where none are watched). ``scale`` is the mean and deviation (f,) of the features. The same
    arguments give the same network on one machine.

    Raises MissingExtraError without TensorFlow, InputError without gold or without anything else, ConfigurationError when
    the loss overflows.
    """
    keras, tf = load_keras()
    if sample.gold.all() or not sample.gold.any():
        raise InputError("nothing to learn from: no gold candidate, or nothing else")
    generator = np.random.default_rng(seed)
    model = build(keras, sample.rows.shape[1], settings, generator)
    model.compile(keras.optimizers.Adam(settings.rate))
    model.optimizer.build(model.trainable_variables)
    learn = _epoch(tf, model, sample, scale, settings.batch)
    stop = keras.callbacks.EarlyStopping(
        monitor=_WATCHED, mode="min", patience=settings.patience, restore_best_weights=True
    )
    slow = keras.callbacks.ReduceLROnPlateau(
        monitor=_WATCHED,
        mode="min",
        factor=settings.factor,
        patience=settings.plateau,
        min_lr=settings.least_rate,
    )
    callbacks = keras.callbacks.CallbackList([stop, slow], model=model)
    callbacks.on_train_begin()
    history: list[Epoch] = []
    while len(history) < settings.epochs and not model.stop_training:
        loss = float(learn(tf.constant(generator.permutation(len(sample.gold)))))
        seen = _look(tf, model, sample if watched is None else watched, scale)
        if not np.isfinite([loss, seen[0]]).all():
            raise ConfigurationError(
                f"training diverged in epoch {len(history) + 1}: lower the rate of learning"
            )
        history.append(Epoch(loss) if watched is None else Epoch(loss, *seen))
        with warnings.catch_warnings():
            # Keras asks NumPy 2 for the rate of learning in a way of NumPy 1.
            warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
            callbacks.on_epoch_end(len(history), {_WATCHED: seen[0]})
        tick()
    callbacks.on_train_end()
    for _ in range(settings.epochs - len(history)):
        tick()
    return Trained(folded(model, *scale), tuple(history), int(stop.best_epoch))


def build(keras: Any, width: int, settings: ThesisSettings, generator: np.random.Generator) -> Any:
    """The model up to the score before its sigmoid, which is left to the loss."""
    # Seeds of its own: nothing of the process is changed, and nothing in it changes the network.
    seeds = iter(generator.integers(2**31, size=2 * len(settings.hidden) + 1).tolist())
    rows = values = keras.Input((width,))
    for units, dropout in zip(settings.hidden, settings.dropout, strict=True):
        values = keras.layers.Dense(
            units,
            activation="relu",
            kernel_initializer=keras.initializers.GlorotUniform(seed=next(seeds)),
            kernel_regularizer=keras.regularizers.L2(settings.l2),
        )(values)
        values = keras.layers.BatchNormalization()(values)
        values = keras.layers.Dropout(dropout, seed=next(seeds))(values)
    start = keras.initializers.GlorotUniform(seed=next(seeds))
    return keras.Model(rows, keras.layers.Dense(1, kernel_initializer=start)(values))


def folded(model: Any, mean: Floats32, deviation: Floats32) -> Network:
    """The model as a network without batch normalisation: after a ReLU it is linear, so it becomes part of the dense
    layer that follows. ``mean`` and ``deviation`` (f,) are those the model's features were standardised by."""
    layers = []
    factor, shift = np.full(len(mean), SPREAD), np.zeros(len(mean))
    for layer in model.layers:
        numbers = [np.asarray(array, dtype=np.float64) for array in layer.get_weights()]
        if len(numbers) == 2:
            weights, bias = factor[:, np.newaxis] * numbers[0], numbers[1] + shift @ numbers[0]
            layers.append(
                (weights.astype(np.float32)[np.newaxis], bias.astype(np.float32)[np.newaxis]),
            )
        elif len(numbers) == 4:
            gamma, beta, center, variance = numbers
            factor = gamma / np.sqrt(variance + layer.epsilon)
            shift = beta - center * factor
    return Network(mean, deviation * np.float32(SPREAD), tuple(layers))


def _epoch(tf: Any, model: Any, sample: Sample, scale: Scale, batch: int) -> Callable[[Any], Any]:
    """One epoch in a given order, in one graph: a step takes a fraction of what it would from Python."""
    rows = tf.constant((sample.rows - scale[0]) / scale[1])
    gold = tf.constant(sample.gold.astype(np.float32))
    weight = tf.constant(sample.weight / sample.weight.mean())

    def epoch(order: Any) -> Any:
        total = tf.constant(0.0)
        for start in tf.range(0, tf.shape(order)[0], batch):
            some = order[start : start + batch]
            with tf.GradientTape() as tape:
                logits = model(tf.gather(rows, some), training=True)[:, 0]
                each = tf.nn.sigmoid_cross_entropy_with_logits(tf.gather(gold, some), logits)
                loss = tf.reduce_mean(each * tf.gather(weight, some)) + tf.add_n(model.losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            total += loss * tf.cast(tf.shape(some)[0], tf.float32)
        return total / tf.cast(tf.shape(order)[0], tf.float32)

    compiled: Callable[[Any], Any] = tf.function(epoch).get_concrete_function(tf.TensorSpec([None], tf.int64))
    return compiled


def _look(tf: Any, model: Any, sample: Sample, scale: Scale) -> tuple[float, float]:
    """The loss, penalties included, and the share of questions with gold on top of their candidates in the sample."""
    logits = model((sample.rows - scale[0]) / scale[1], training=False)[:, 0]
    each = tf.nn.sigmoid_cross_entropy_with_logits(sample.gold.astype(np.float32), logits).numpy()
    loss = float(np.average(each, weights=sample.weight)) + sum(float(one) for one in model.losses)
    scores = logits.numpy()
    starts = np.flatnonzero(np.diff(sample.question, prepend=-1))
    top = np.maximum.reduceat(scores, starts)
    found = np.maximum.reduceat(np.where(sample.gold, scores, -np.inf), starts)
    return loss, float((found == top)[np.isfinite(found)].mean())
