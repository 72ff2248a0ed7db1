// A model in units of a normal distribution: points are scores z of x = mean + root z.
#pragma once

#include "remembered.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace reliabayes {

// Mean of a normal distribution, and a root of its covariance: a lower triangle, or standard deviations.
class NormalUnits {
 public:
  NormalUnits(Vector mean, Vector sd) : mean_(std::move(mean)), sd_(std::move(sd)) {}
  NormalUnits(Vector mean, const Matrix& covariance)
      : mean_(std::move(mean)), root_(covariance.llt().matrixL()) {}

  Vector values(const Vector& z) const {
    if (root_.size() > 0) return mean_ + root_.triangularView<Eigen::Lower>() * z;
    return mean_ + sd_.cwiseProduct(z);
  }

  // The gradient by scores, from that by values.
  Vector by_scores(const Vector& gradient) const {
    if (root_.size() > 0) return root_.transpose().triangularView<Eigen::Upper>() * gradient;
    return sd_.cwiseProduct(gradient);
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
  ModelInUnits(const RememberedModel& model, const NormalUnits& units)
      : WrappedModel(model), model_(model), units_(units) {}

  using Taken = RememberedModel::Taken;
  Taken at(const Vector& z, std::ostream* out) const {
    const Taken& here = model_.at(units_.values(z), out);
    return {here.density, units_.by_scores(here.gradient)};
  }

  template <bool propto, bool jacobian, typename T>
  T log_prob(Variables& z, std::ostream* out) const {
    if constexpr (!jacobian) throw std::logic_error("no sampler leaves out the Jacobian");
    const Taken here = at(stan::math::value_of(z), out);
    return with_gradient(here.density, Differentiated(z, here.gradient));
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
  const RememberedModel& model_;
  const NormalUnits& units_;
};

}  // namespace reliabayes
