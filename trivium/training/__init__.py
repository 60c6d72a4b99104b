"""Trains a fusion network on saved hit lists, evaluates it on held-out pages, applies the gate and saves the artefact.

Only this package uses TensorFlow and SciPy (``pip install 'trivium[train]'``). They are imported on first
use; the saved artefact needs none of them.
"""
