"""Parity by the clock: what one firing asks, what has drifted, and what each look adds up to."""
