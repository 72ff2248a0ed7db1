// A model that changes how another one is evaluated, and keeps its names.
#pragma once

#include "../linear_algebra.hpp"
#include "../program.hpp"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace reliabayes {

template <typename Model>
class WrappedModel : public ModelBase<Model> {
 protected:
  using Variables = Eigen::Matrix<stan::math::var, Eigen::Dynamic, 1>;
  using Names = std::vector<std::string>;

  explicit WrappedModel(const stan::model::model_base& inner)
      : ModelBase<Model>(inner.num_params_r()), inner_(inner) {}

  const stan::model::model_base& inner_;

 public:
  std::string model_name() const override { return inner_.model_name(); }
  Names model_compile_info() const override { return inner_.model_compile_info(); }
  void get_param_names(Names& names, bool transformed, bool generated) const override {
    inner_.get_param_names(names, transformed, generated);
  }
  void get_dims(std::vector<std::vector<std::size_t>>& dims, bool transformed,
                bool generated) const override {
    inner_.get_dims(dims, transformed, generated);
  }
  void constrained_param_names(Names& names, bool transformed, bool generated) const override {
    inner_.constrained_param_names(names, transformed, generated);
  }
  void unconstrained_param_names(Names& names, bool transformed, bool generated) const override {
    inner_.unconstrained_param_names(names, transformed, generated);
  }
};

}  // namespace reliabayes
