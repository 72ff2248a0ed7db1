// The effects of centred_effects.hpp in numbers that Stan need not know of.
#pragma once
#include "linear_algebra.hpp"

namespace reliabayes {

// Entries of a lower triangle, row by row from the first that is not 0 to the diagonal.
struct Envelope {
  const Integers& order;  // effect of each row
  const Integers& first;  // column where each row begins

  int size() const { return first.size(); }
  int effect(int i) const { return order[i] - 1; }
  int begin(int i) const { return first[i] - 1; }
};

class CentredEffects {
 public:
  CentredEffects(const Envelope& at, const Vector& information, const Vector& score,
                 const Vector& precision, const Vector& moment);

  // Derivatives of a function of the effects and of the log volume, by what these were computed from.
  struct Gradient {
    Vector by_score, by_precision, by_moment;
  };
  Gradient gradient(const Envelope& at, const Vector& by_effect, double by_log_volume) const;

  Vector effect;
  double log_volume;

 private:
  Vector factor_;    // rows of the Cholesky factor, with the inverse of its diagonal
  Vector whitened_;  // factor^-1 moment, in the order of the rows
};

}  // namespace reliabayes
