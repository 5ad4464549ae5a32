"""Tests of the engines behind the adapter."""
