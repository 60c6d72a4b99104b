"""Evaluates answers: compares them with known answers, checks citations against the gold, and has answers judged
by a language model. The questions are asked by :mod:`trivium.evaluation.answers.run`.
"""
