"""What families of models share."""
