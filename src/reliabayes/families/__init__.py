"""Families of models: the mathematics that a model holds, as functions and small final classes."""
