"""How posteriors are sampled: which sampler, from where, and until when."""
