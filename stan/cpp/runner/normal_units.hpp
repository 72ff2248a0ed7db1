// A model in units of a normal distribution: points are scores z of x = mean + root z.
#pragma once

#include "wrapped_model.hpp"

#include <stan/math/rev.hpp>

#include <utility>
#include <vector>

namespace reliabayes {

// Mean of a normal distribution, and a root of its covariance: a lower triangle, or standard deviations.
class NormalUnits {
 public:
  NormalUnits(Vector mean, Vector sd) : mean_(std::move(mean)), sd_(std::move(sd)) {}
  NormalUnits(Vector mean, const Matrix& covariance)
      : mean_(std::move(mean)), root_(covariance.llt().matrixL()) {}

  template <typename Scores>
  Scores values(const Scores& z) const {
    using namespace stan::math;
    if (root_.size() > 0) return add(mean_, multiply(root_, z));
    return add(mean_, elt_multiply(sd_, z));
  }

  Vector scores(const Vector& x) const {
    const Vector move = x - mean_;
    if (root_.size() > 0) return root_.triangularView<Eigen::Lower>().solve(move);
    return move.cwiseQuotient(sd_);
  }

 private:
  Vector mean_, sd_;
  Matrix root_;
};

class ModelInUnits final : public WrappedModel<ModelInUnits> {
 public:
  ModelInUnits(const stan::model::model_base& model, const NormalUnits& units)
      : WrappedModel(model), units_(units) {}

  template <bool propto, bool jacobian, typename T>
  T log_prob(Variables& z, std::ostream* out) const {
    Variables x = units_.values(z);
    return jacobian ? inner_.log_prob_propto_jacobian(x, out) : inner_.log_prob_propto(x, out);
  }

  void write_array(stan::rng_t& rng, Vector& z, Vector& values, bool transformed, bool generated,
                   std::ostream* out) const override {
    Vector x = units_.values(z);
    inner_.write_array(rng, x, values, transformed, generated, out);
  }
  void unconstrain_array(const Vector& values, Vector& z, std::ostream* out) const override {
    Vector x;
    inner_.unconstrain_array(values, x, out);
    z = units_.scores(x);
  }
  void transform_inits(const stan::io::var_context& context, Vector& z,
                       std::ostream* out) const override {
    Vector x;
    inner_.transform_inits(context, x, out);
    z = units_.scores(x);
  }
  void transform_inits(const stan::io::var_context& context, std::vector<int>&,
                       std::vector<double>& values, std::ostream* out) const override {
    Vector z;
    transform_inits(context, z, out);
    values.assign(z.begin(), z.end());
  }

 private:
  const NormalUnits& units_;
};

}  // namespace reliabayes
