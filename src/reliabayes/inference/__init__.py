"""From a log density to draws: parameters, EM, warm starts, and Stan."""
