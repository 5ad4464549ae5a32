"""The embedded engine: real llama.cpp servers on a small real model, for tests and the demo.

It needs the extra ``lab``; importing this package does not. ``model`` fetches the weights,
``weights`` derives coarser ones, ``server`` runs them, ``faults`` stands in front and lies.
"""
