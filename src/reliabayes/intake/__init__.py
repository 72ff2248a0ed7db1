"""The door by which data come in: reading, checking and coding of tables."""
