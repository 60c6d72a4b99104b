"""A fusion learnt from saved hit lists: fitted, judged on pages it has not seen, gated, written down.

The only package that knows TensorFlow, LightGBM and matplotlib (``pip install 'trivium[train]'``), and it loads them when
it needs them: what it leaves behind runs without.
"""
