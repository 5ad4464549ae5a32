"""The front of a stage: requests made anew, spread over replicas by the rollout's weights table."""
