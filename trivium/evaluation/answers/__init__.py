"""How good answers are: measures against the known answers, citations against the gold, claims judged by a language
model. What asks the questions is :mod:`trivium.evaluation.answers.run`."""
