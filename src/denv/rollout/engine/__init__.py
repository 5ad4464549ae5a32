"""Makes the gate's work durable with Temporal: the only part that imports ``temporalio``.

It needs the extra ``durable``; importing this package does not. ``server`` runs Temporal's own
server beside the data, ``connection`` reaches that or another, ``worker`` does the work.
"""
