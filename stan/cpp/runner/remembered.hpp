// A model that remembers its density and gradient at the points where they were last taken.
//
// Stan takes the gradient anew where a trajectory starts, which is a point of the trajectory before: where these have
// three steps, that is a quarter of all gradients.
#pragma once

#include "../gradient.hpp"
#include "../last_values.hpp"
#include "wrapped_model.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace reliabayes {

class RememberedModel final : public WrappedModel<RememberedModel> {
 public:
  explicit RememberedModel(std::unique_ptr<stan::model::model_base> model)
      : WrappedModel(*model), model_(std::move(model)) {}

  template <bool propto, bool jacobian, typename T>
  T log_prob(Variables& x, std::ostream* out) const {
    if constexpr (!jacobian) return model_->log_prob_propto(x, out);
    const Taken& here = at(stan::math::value_of(x), out);
    return with_gradient(here.density, Differentiated(x, here.gradient));
  }

  void write_array(stan::rng_t& rng, Vector& x, Vector& values, bool transformed, bool generated,
                   std::ostream* out) const override {
    model_->write_array(rng, x, values, transformed, generated, out);
  }
  void unconstrain_array(const Vector& values, Vector& x, std::ostream* out) const override {
    model_->unconstrain_array(values, x, out);
  }
  void transform_inits(const stan::io::var_context& context, Vector& x,
                       std::ostream* out) const override {
    model_->transform_inits(context, x, out);
  }
  void transform_inits(const stan::io::var_context& context, std::vector<int>& integers,
                       std::vector<double>& x, std::ostream* out) const override {
    model_->transform_inits(context, integers, x, out);
  }

  // The density, with the Jacobian of the constraints, and its gradient.
  struct Taken {
    double density = 0;
    Vector gradient;
  };
  const Taken& at(const Vector& x, std::ostream* out) const {
    if (const Taken* known = known_.find(x)) return *known;
    Taken here;
    stan::math::gradient([&](auto& y) { return model_->log_prob_propto_jacobian(y, out); }, x,
                         here.density, here.gradient);
    return known_.add(x, std::move(here));
  }

 private:
  const std::unique_ptr<stan::model::model_base> model_;
  mutable LastValues<Taken> known_;
};

}  // namespace reliabayes
