"""Trains the thesis's network with Keras and returns its weights as NumPy arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fuser_settings import ThesisSettings
from numpy.typing import NDArray

from trivium.common.arrays import Floats32
from trivium.errors import ConfigurationError, InputError
from trivium.fusion.network import Network
from trivium.training.fit import Epoch, Scale, Tick, Trained, load_keras

SPREAD = 8.0
"""The exported deviations are multiplied by this. Keras trains on unclipped features, but a :class:`Network` clips
them at 8 of its deviations. Eight times the deviation puts the limit at 64: more than sqrt(n - 1), the largest value that
standardisation over n candidates can give, up to n = 4,097, as many as all chunks of some long pages are. A power of two
costs no precision."""
_MONITOR = "validation_loss"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Candidates of questions: features (r, f), a mask of gold (r,), weights (r,), and the index of the question each
    candidate belongs to (r,), ascending."""

    rows: Floats32
    gold: NDArray[np.bool_]
    weight: Floats32
    question: NDArray[np.int64]

    def take(self, places: NDArray[np.int64]) -> Sample:
        """The candidates at some positions, which must ascend."""
        return Sample(self.rows[places], self.gold[places], self.weight[places], self.question[places])


def train(
    sample: Sample, validation: Sample | None, settings: ThesisSettings, seed: int, scale: Scale, tick: Tick
) -> Trained:
    """Train one network with binary cross-entropy. The weights with the lowest loss on the ``validation`` candidates are
    kept (without any, on the training candidates). ``scale`` is the mean and deviation (f,) of the features; ``tick`` is
    called ``settings.epochs`` times in all, also when training stops early. The same arguments give the same network on
    one machine.

    Raises MissingExtraError without TensorFlow, InputError unless there are both gold and other candidates,
    ConfigurationError when the loss is no longer finite.
    """
    keras, tf = load_keras()
    if sample.gold.all() or not sample.gold.any():
        raise InputError("nothing to learn from: no gold candidate, or no other candidate")
    generator = np.random.default_rng(seed)
    model = build(keras, sample.rows.shape[1], settings, generator)
    model.compile(keras.optimizers.Adam(settings.rate))
    model.optimizer.build(model.trainable_variables)
    learn = _epoch(tf, model, sample, scale, settings.batch)
    stop = keras.callbacks.EarlyStopping(
        monitor=_MONITOR, mode="min", patience=settings.patience, restore_best_weights=True
    )
    slow = keras.callbacks.ReduceLROnPlateau(
        monitor=_MONITOR,
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
        metrics = _validate(tf, model, sample if validation is None else validation, scale)
        if not np.isfinite([loss, metrics[0]]).all():
            raise ConfigurationError(
                f"training diverged in epoch {len(history) + 1}: lower the learning rate"
            )
        history.append(Epoch(loss) if validation is None else Epoch(loss, *metrics))
        with warnings.catch_warnings():
            # Keras reads the learning rate with a NumPy 1 idiom that NumPy 2 deprecates.
            warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
            callbacks.on_epoch_end(len(history), {_MONITOR: metrics[0]})
        tick()
    callbacks.on_train_end()
    for _ in range(settings.epochs - len(history)):
        tick()
    return Trained(without_batch_norm(model, *scale), tuple(history), int(stop.best_epoch))


def build(keras: Any, width: int, settings: ThesisSettings, generator: np.random.Generator) -> Any:
    """The Keras model from features (n, ``width``) to logits (n, 1); the loss applies the sigmoid."""
    # Explicit seeds: independent of, and without effect on, the global random state.
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


def without_batch_norm(model: Any, mean: Floats32, deviation: Floats32) -> Network:
    """The model as a network without batch normalisation, which is linear and therefore folded into the dense layer that
    follows it. ``mean`` and ``deviation`` (f,) are those the model's features were standardised by."""
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
    """An epoch compiled to one graph, much faster than steps called from Python. Takes the order of the candidates (r,),
    updates the model and returns the mean loss."""
    rows = tf.constant((sample.rows - scale[0]) / scale[1])
    gold = tf.constant(sample.gold.astype(np.float32))
    weight = tf.constant(sample.weight / sample.weight.mean())

    def epoch(order: Any) -> Any:
        total = tf.constant(0.0)
        for start in tf.range(0, tf.shape(order)[0], batch):
            chosen = order[start : start + batch]
            with tf.GradientTape() as tape:
                logits = model(tf.gather(rows, chosen), training=True)[:, 0]
                losses = tf.nn.sigmoid_cross_entropy_with_logits(tf.gather(gold, chosen), logits)
                loss = tf.reduce_mean(losses * tf.gather(weight, chosen)) + tf.add_n(model.losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            model.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            total += loss * tf.cast(tf.shape(chosen)[0], tf.float32)
        return total / tf.cast(tf.shape(order)[0], tf.float32)

    compiled: Callable[[Any], Any] = tf.function(epoch).get_concrete_function(tf.TensorSpec([None], tf.int64))
    return compiled


def _validate(tf: Any, model: Any, sample: Sample, scale: Scale) -> tuple[float, float]:
    """The loss, penalties included, and hit@1, in [0, 1]: the share of the questions with gold in the sample whose best
    candidate is gold; NaN without gold in it."""
    logits = model((sample.rows - scale[0]) / scale[1], training=False)[:, 0]
    losses = tf.nn.sigmoid_cross_entropy_with_logits(sample.gold.astype(np.float32), logits).numpy()
    penalties = sum(float(penalty) for penalty in model.losses)
    loss = float(np.average(losses, weights=sample.weight)) + penalties
    scores = logits.numpy()
    starts = np.flatnonzero(np.diff(sample.question, prepend=-1))
    top = np.maximum.reduceat(scores, starts)
    top_gold = np.maximum.reduceat(np.where(sample.gold, scores, -np.inf), starts)
    having = np.isfinite(top_gold)
    return loss, float((top_gold == top)[having].mean()) if having.any() else float("nan")
