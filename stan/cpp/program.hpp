// The compiled Stan programs of an executable, and what they are compiled from.
#pragma once
#include "last_made.hpp"

#include <stan/math/rev/core.hpp>
#include <stan/math/rev/core/profiling.hpp>
#include <stan/model/model_base.hpp>

#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace reliabayes {

// A program of this executable: makes the model for given data, and keeps the profiles of its parts.
struct Program {
  stan::model::model_base* (*make)(stan::io::var_context& data, unsigned seed,
                                   std::ostream* messages);
  const stan::math::profile_map* profiles;
};

// All programs by name. Each translation unit adds its own before main() runs.
inline std::map<std::string, Program>& programs() {
  static std::map<std::string, Program> all;
  return all;
}

struct Registration {
  template <typename Model>
  static stan::model::model_base* make(stan::io::var_context& data, unsigned seed,
                                       std::ostream* messages) {
    stan::model::model_base* const model = new Model(data, seed, messages);
    ++models_made;
    return model;
  }
  template <typename Model>
  static bool add(const std::string& name, const stan::math::profile_map& profiles) {
    return programs().insert({name, {make<Model>, &profiles}}).second;
  }
};

// Base class of the models, in place of Stan's model_base_crtp. That one compiles the density of each
// model sixteen times: of numbers and of autodiff variables, in Eigen's vectors and in the standard
// library's, with and without constants, with and without the Jacobian of the constraints. Sampling
// needs two of them, and other forms are computed from these. So all densities are up to a constant.
template <typename Model>
class ModelBase : public stan::model::model_base {
  using var = stan::math::var;
  using Numbers = Eigen::VectorXd;
  using Variables = Eigen::Matrix<var, Eigen::Dynamic, 1>;
  using Out = std::ostream;
  template <typename T>
  using Std = std::vector<T>;

 public:
  using stan::model::model_base::model_base;

  var log_prob(Variables& x, Out* out) const override { return density<false>(x, out); }
  var log_prob_propto(Variables& x, Out* out) const override { return density<false>(x, out); }
  var log_prob_jacobian(Variables& x, Out* out) const override { return density<true>(x, out); }
  var log_prob_propto_jacobian(Variables& x, Out* out) const override {
    return density<true>(x, out);
  }

  double log_prob(Numbers& x, Out* out) const override { return value<false>(x, out); }
  double log_prob_propto(Numbers& x, Out* out) const override { return value<false>(x, out); }
  double log_prob_jacobian(Numbers& x, Out* out) const override { return value<true>(x, out); }
  double log_prob_propto_jacobian(Numbers& x, Out* out) const override {
    return value<true>(x, out);
  }

  var log_prob(Std<var>& x, Std<int>&, Out* out) const override { return density<false>(x, out); }
  var log_prob_propto(Std<var>& x, Std<int>&, Out* out) const override {
    return density<false>(x, out);
  }
  var log_prob_jacobian(Std<var>& x, Std<int>&, Out* out) const override {
    return density<true>(x, out);
  }
  var log_prob_propto_jacobian(Std<var>& x, Std<int>&, Out* out) const override {
    return density<true>(x, out);
  }

  double log_prob(Std<double>& x, Std<int>&, Out* out) const override {
    return value<false>(x, out);
  }
  double log_prob_propto(Std<double>& x, Std<int>&, Out* out) const override {
    return value<false>(x, out);
  }
  double log_prob_jacobian(Std<double>& x, Std<int>&, Out* out) const override {
    return value<true>(x, out);
  }
  double log_prob_propto_jacobian(Std<double>& x, Std<int>&, Out* out) const override {
    return value<true>(x, out);
  }

  void write_array(stan::rng_t& rng, Numbers& x, Numbers& values, bool transformed, bool generated,
                   Out* out) const override {
    model().write_array(rng, x, values, transformed, generated, out);
  }
  void write_array(stan::rng_t& rng, Std<double>& x, Std<int>&, Std<double>& values,
                   bool transformed, bool generated, Out* out) const override {
    Numbers from = Eigen::Map<Numbers>(x.data(), x.size()), to;
    write_array(rng, from, to, transformed, generated, out);
    values.assign(to.begin(), to.end());
  }

  void unconstrain_array(const Numbers& values, Numbers& x, Out* out) const override {
    model().unconstrain_array(values, x, out);
  }
  void unconstrain_array(const Std<double>& values, Std<double>& x, Out* out) const override {
    Numbers to;
    unconstrain_array(Eigen::Map<const Numbers>(values.data(), values.size()), to, out);
    x.assign(to.begin(), to.end());
  }

  void transform_inits(const stan::io::var_context& context, Numbers& x, Out* out) const override {
    model().transform_inits(context, x, out);
  }

 private:
  const Model& model() const { return static_cast<const Model&>(*this); }

  template <bool jacobian>
  var density(Variables& x, Out* out) const {
    return model().template log_prob<true, jacobian, var>(x, out);
  }

  template <bool jacobian>
  var density(Std<var>& x, Out* out) const {
    Variables same = Eigen::Map<Variables>(x.data(), x.size());
    return density<jacobian>(same, out);
  }

  template <bool jacobian, typename Vector>
  double value(const Vector& x, Out* out) const {
    const stan::math::nested_rev_autodiff nested;
    Variables same = Eigen::Map<const Numbers>(x.data(), x.size()).template cast<var>();
    return density<jacobian>(same, out).val();
  }
};

}  // namespace reliabayes
