"""What measures, and the proof that it measures right."""
