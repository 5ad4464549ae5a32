"""What a rollout does to the world: health, golden prompts, weights, and deploy commands."""
