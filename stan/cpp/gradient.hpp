// Densities with a gradient of their own, handed to Stan's reverse mode.
#pragma once
#include <stan/math.hpp>

namespace reliabayes {

using Vector = Eigen::VectorXd;
using ConstVector = Eigen::Ref<const Eigen::VectorXd>;
using ConstMatrix = Eigen::Ref<const Eigen::MatrixXd>;

// An argument of a density that may or may not be a parameter, with the density's derivative.
template <typename Argument>
class Differentiated {
 public:
  Differentiated(const Argument& argument, const Vector& derivative)
      : argument_(argument), derivative_(derivative) {}

  void chain(double adjoint) {
    if constexpr (!stan::is_constant<Argument>::value)
      argument_.adj() += adjoint * derivative_;
  }

 private:
  stan::arena_t<Argument> argument_;
  stan::arena_t<Vector> derivative_;
};

// A density of two vectors, given its value and derivatives.
template <typename First, typename Second>
stan::math::var with_gradient(double value, const First& first, const Vector& by_first,
                              const Second& second, const Vector& by_second) {
  Differentiated<First> a(first, by_first);
  Differentiated<Second> b(second, by_second);
  return stan::math::make_callback_var(value, [a, b](const auto& density) mutable {
    a.chain(density.adj());
    b.chain(density.adj());
  });
}

}  // namespace reliabayes
