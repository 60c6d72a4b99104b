"""Fit a network to questions with Keras, and give it as plain numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from trivium.common.arrays import Floats32
from trivium.errors import ConfigurationError, InputError, MissingExtraError
from trivium.fusion.network import CLIP, Network
from trivium.training.data import Example
from trivium.training.settings import Settings

Scale = tuple[Floats32, Floats32]
"""Mean and deviation (f,) of each feature."""
Layer = tuple[Floats32, Floats32]
"""Weights (1, i, o) and bias (1, o)."""
Tick = Callable[[], None]
"""Called after every epoch."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """How it went: the mean training ``loss`` (with dropout), and on the watched questions the loss and the share with
    a gold candidate on top; both None where none are watched."""

    loss: float
    watched_loss: float | None = None
    watched_hit: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A fitted network, epoch by epoch, and how many epochs the ``network`` has seen."""

    network: Network
    history: tuple[Epoch, ...]
    epochs: int


def train(
    examples: Sequence[Example],
    watched: Sequence[Example],
    settings: Settings,
    seed: int,
    *,
    scale: Scale | None = None,
    epochs: int | None = None,
    tick: Tick = lambda: None,
) -> Trained:
    """One network, from the questions that have gold among their candidates.

    The loss of a question is that of a softmax between each gold candidate and all that are not gold, the mean over its
    gold; where a teacher has scored the candidates, the part ``settings.teacher`` of it is the cross entropy between the
    softmax of those scores and that of the network's. With ``watched`` questions the weights of the epoch with the least
    loss on them are kept, otherwise those after ``epochs`` of the settings' epochs. Features are standardised by
    ``scale``, or by that of the examples. The same arguments give the same network on one machine.

    Raises MissingExtraError without TensorFlow, InputError where there is nothing to learn from.
    """
    keras, tf = load_keras()
    examples = [example for example in examples if example.gold.any() and not example.gold.all()]
    watched = [example for example in watched if example.gold.any() and not example.gold.all()]
    if not examples:
        raise InputError("nothing to learn from: no question has a gold candidate and another")
    generator = np.random.default_rng(seed)
    mean, deviation = scale_of(examples) if scale is None else scale
    model = _model(keras, len(mean), settings, generator)
    step = _step(keras, tf, model, settings, len(examples))
    weights = np.array([example.weight for example in examples], dtype=np.float32)
    weights /= weights.mean()
    history: list[Epoch] = []
    best: tuple[float, Network, int] | None = None
    batch: tuple[Floats32, ...] | None = None
    for epoch in range(settings.epochs if epochs is None else min(epochs, settings.epochs)):
        if batch is None or epoch % settings.redrawn == 0:
            batch = _draw(examples, mean, deviation, settings, generator)
        rows, gold, there, teacher, share = batch
        order = generator.permutation(len(examples))
        losses = []
        for start in range(0, len(examples), settings.batch):
            some = order[start : start + settings.batch]
            own = (rows[some], gold[some], there[some], teacher[some], share[some], weights[some])
            losses.append(len(some) * float(step(*own)))
        loss = sum(losses) / len(examples)
        if not np.isfinite(loss):
            raise ConfigurationError(f"training diverged in epoch {epoch + 1}: lower the rate of learning")
        if watched:
            network = _network(model, mean, deviation, settings.prior)
            seen = watch(network, watched)
            history.append(Epoch(loss, *seen))
            if best is None or seen[0] < best[0]:
                best = (seen[0], network, epoch + 1)
        else:
            history.append(Epoch(loss))
        tick()
    if best is None:
        return Trained(_network(model, mean, deviation, settings.prior), tuple(history), len(history))
    return Trained(best[1], tuple(history), best[2])


def scale_of(examples: Sequence[Example]) -> Scale:
    """Of all candidates; a column that hardly varies keeps its deviation."""
    rows = np.concatenate([example.rows for example in examples])
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    deviation = rows.std(axis=0, dtype=np.float64).astype(np.float32)
    return mean, np.where(deviation > 1e-4, deviation, np.float32(1))


def watch(network: Network, examples: Sequence[Example]) -> tuple[float, float]:
    """The loss of questions (all candidates) and the share with a gold candidate on top, each counting by its weight."""
    scores = network.logits(np.concatenate([example.rows for example in examples]))
    losses, hits, start = [], [], 0
    for example in examples:
        own = scores[start : start + len(example.gold)]
        start += len(example.gold)
        others = np.logaddexp.reduce(own[~example.gold])
        losses.append(np.logaddexp(0, others - own[example.gold]).mean())
        hits.append(example.gold[np.argmax(own)])
    weights = [example.weight for example in examples]
    return float(np.average(losses, weights=weights)), float(np.average(hits, weights=weights))


def load_keras() -> tuple[ModuleType, ModuleType]:
    """Keras and TensorFlow. Raises MissingExtraError without them, ConfigurationError for Keras on something else."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault(
        "TF_ENABLE_ONEDNN_OPTS", "0"
    )  # no faster here, and its sums change from machine to machine
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    try:
        import keras
        import tensorflow as tf
    except ImportError as error:
        raise MissingExtraError("training a fusion", "train") from error
    if keras.backend.backend() != "tensorflow":
        raise ConfigurationError(
            f"training needs Keras on TensorFlow, it is set up for {keras.backend.backend()}: set"
            " KERAS_BACKEND=tensorflow"
        )
    return keras, tf


def _model(keras: Any, width: int, settings: Settings, generator: np.random.Generator) -> Any:
    # Seeds of its own: nothing of the process is changed, and nothing in it changes the network.
    seeds = iter(generator.integers(2**31, size=2 * len(settings.hidden) + 1).tolist())
    rows = values = keras.Input((None, width))
    for units in settings.hidden:
        start = keras.initializers.GlorotUniform(seed=next(seeds))
        values = keras.layers.Dense(units, activation="relu", kernel_initializer=start)(values)
        values = keras.layers.Dropout(settings.dropout, seed=next(seeds))(values)
    start = keras.initializers.GlorotUniform(seed=next(seeds))
    values = keras.layers.Dense(1, kernel_initializer=start)(values)
    return keras.Model(rows, values + settings.prior * rows[..., :1])


def _step(keras: Any, tf: Any, model: Any, settings: Settings, questions: int) -> Callable[..., Any]:
    """One step of learning from a batch, which returns its loss."""
    steps = settings.epochs * -(-questions // settings.batch)
    optimizer = keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(settings.rate, steps), weight_decay=settings.decay
    )
    optimizer.build(model.trainable_variables)

    def step(rows: Any, gold: Any, there: Any, teacher: Any, share: Any, weight: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(rows, training=True)[..., 0]
            logits = tf.where(there == 0, -1e9, logits)
            likely = tf.nn.softmax(tf.where(there == 0, -1e9, teacher), 1)
            apart = -tf.reduce_sum(likely * tf.nn.log_softmax(logits, 1) * there, 1)
            others = tf.where(gold > 0, -1e9, logits)
            against = tf.reduce_logsumexp(others, 1, keepdims=True)
            each = tf.reduce_sum(tf.nn.softplus(against - logits) * gold, 1) / tf.reduce_sum(gold, 1)
            loss = tf.reduce_mean(((1 - share) * each + share * apart) * weight)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    compiled: Callable[..., Any] = tf.function(step, reduce_retracing=True)
    return compiled


def _draw(
    examples: Sequence[Example],
    mean: Floats32,
    deviation: Floats32,
    settings: Settings,
    generator: np.random.Generator,
) -> tuple[Floats32, Floats32, Floats32, Floats32, Floats32]:
    """Standardised rows (q, c, f) of some candidates, which of them are gold, which are there at all, the teacher's
    scores (q, c), and the teacher's part of each question's loss (q,)."""
    candidates = settings.candidates
    rows = np.zeros((len(examples), candidates, len(mean)), dtype=np.float32)
    gold = np.zeros(rows.shape[:2], dtype=np.float32)
    there, teacher = np.zeros_like(gold), np.zeros_like(gold)
    share = np.zeros(len(examples), dtype=np.float32)
    for place, example in enumerate(examples):
        positive = generator.permutation(np.flatnonzero(example.gold))[: candidates // 4]
        negative = generator.permutation(np.flatnonzero(~example.gold))[: candidates - len(positive)]
        chosen = np.concatenate([positive, negative])
        rows[place, : len(chosen)] = np.clip((example.rows[chosen] - mean) / deviation, -CLIP, CLIP)
        gold[place, : len(positive)] = 1
        there[place, : len(chosen)] = 1
        if example.teacher is not None:
            teacher[place, : len(chosen)] = example.teacher[chosen]
            share[place] = settings.teacher
    return rows, gold, there, teacher, share


def _network(model: Any, mean: Floats32, deviation: Floats32, prior: float) -> Network:
    numbers = [np.array(variable.numpy())[np.newaxis] for variable in model.trainable_variables]
    layers = list(zip(numbers[::2], numbers[1::2], strict=True))
    return Network(mean, deviation, tuple(_with_prior(layers, prior) if prior else layers))


def _with_prior(layers: Sequence[Layer], prior: float) -> list[Layer]:
    """Layers that also say ``prior`` times the first column: two units hand on what of it is above and below 0, since
    x = max(0, x) - max(0, -x)."""
    (first, bias), *others = layers
    if not others:
        first = first.copy()
        first[:, 0] += prior
        return [(first, bias)]
    parts = np.zeros((1, first.shape[1], 2), dtype=np.float32)
    parts[0, 0] = 1, -1
    found = [(np.concatenate([first, parts], axis=2), np.pad(bias, ((0, 0), (0, 2))))]
    for weights, bias in others[:-1]:
        wider = np.pad(weights, ((0, 0), (0, 2), (0, 2)))
        wider[0, -2:, -2:] = np.eye(2)
        found.append((wider, np.pad(bias, ((0, 0), (0, 2)))))
    last, bias = others[-1]
    signs = np.array([[[prior], [-prior]]], dtype=np.float32)
    return [*found, (np.concatenate([last, signs], axis=1), bias)]
