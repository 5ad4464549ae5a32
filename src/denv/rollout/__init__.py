"""The deployment gate: a release's way to a stage, batch by batch, and back where it fails."""
