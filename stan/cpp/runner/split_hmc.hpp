// Hamiltonian Monte Carlo in a posterior that is nearly standard normal.
//
// The energy is split into that of the standard normal distribution, in which positions and momenta turn
// into one another, and the rest, which changes momenta alone (Shahbaba, Lan, Johnson & Neal 2014, Split
// Hamiltonian Monte Carlo, https://doi.org/10.1007/s11222-012-9373-1). Only the rest makes errors, so that
// steps can be long however many parameters there are. Lengths are angles: after a quarter of a turn a
// normal position is what the momentum was, independent of where it came from.
//
// Between its ends a trajectory follows the gradient of a density that may be rougher and quicker. It still goes
// back the way it came, and what is drawn has the density at the ends.
#pragma once

#include <stan/mcmc/hmc/base_hmc.hpp>
#include <stan/mcmc/hmc/hamiltonians/unit_e_metric.hpp>
#include <stan/mcmc/hmc/integrators/base_integrator.hpp>
#include <stan/mcmc/stepsize_adapter.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace reliabayes {

// Energies of a model that takes gradients itself, so that they need no automatic differentiation.
template <typename Model, typename RNG>
class TakenEnergy final : public stan::mcmc::unit_e_metric<Model, RNG> {
  using Base = stan::mcmc::unit_e_metric<Model, RNG>;

 public:
  using Point = typename Base::PointType;
  using Base::Base;

  void init(Point& at, stan::callbacks::logger& logger) { update_potential_gradient(at, logger); }

  void update_potential_gradient(Point& at, stan::callbacks::logger& logger) {
    std::stringstream messages;
    try {
      const auto here = this->model_.at(at.q, &messages);
      at.V = -here.density;
      at.g = -here.gradient;
    } catch (const std::domain_error& error) {
      this->write_error_msg_(error, logger);
      at.V = std::numeric_limits<double>::infinity();
    }
    if (!messages.str().empty()) logger.info(messages);
  }
};

template <typename Hamiltonian>
class Turn final : public stan::mcmc::base_integrator<Hamiltonian> {
 public:
  void evolve(typename Hamiltonian::PointType& at, Hamiltonian& hamiltonian, const double angle,
              stan::callbacks::logger& logger) override {
    at.p -= 0.5 * angle * (at.g - at.q);
    const Eigen::VectorXd from = at.q;
    at.q = std::cos(angle) * from + std::sin(angle) * at.p;
    at.p = std::cos(angle) * at.p - std::sin(angle) * from;
    hamiltonian.update_potential_gradient(at, logger);
    at.p -= 0.5 * angle * (at.g - at.q);
  }
};

// Trajectories in steps of at most a given length, which adaptation makes shorter where too few are accepted.
// Where many short steps would be due, trajectories are shorter. Their lengths vary at random: where the
// posterior is narrower than the normal distribution, one of a fixed length may end opposite of where it began,
// and never move nearer or farther.
template <typename Model, typename RNG>
class SplitHmc final : public stan::mcmc::base_hmc<Model, TakenEnergy, Turn, RNG>,
                       public stan::mcmc::stepsize_adapter {
  using Base = stan::mcmc::base_hmc<Model, TakenEnergy, Turn, RNG>;
  using WriteMetric = std::function<void(stan::callbacks::writer&)>;

 public:
  SplitHmc(const Model& model, const Model& between, RNG& rng, double length, double longest, WriteMetric metric)
      : Base(model, rng), between_(between), length_(length), longest_(longest),
        write_metric_(std::move(metric)) {
    this->nom_epsilon_ = longest;
    this->stepsize_adaptation_.set_mu(std::log(longest));
  }

  void init_stepsize(stan::callbacks::logger&) {}  // the longest is the first

  stan::mcmc::sample transition(stan::mcmc::sample& from,
                                stan::callbacks::logger& logger) override {
    const double widest = 1 + this->get_stepsize_jitter();
    steps_ = static_cast<int>(std::ceil(std::min(most_steps, length_ * widest / this->nom_epsilon_)));
    const double random = 1 + this->get_stepsize_jitter() * (2 * this->rand_uniform_() - 1);
    this->epsilon_ = std::min(this->nom_epsilon_ / widest, length_ / steps_) * random;
    this->seed(from.cont_params());
    this->hamiltonian_.sample_p(this->z_, this->rand_int_);
    this->hamiltonian_.init(this->z_, logger);
    const stan::mcmc::ps_point start(this->z_);
    const double energy = this->hamiltonian_.H(this->z_);
    double error = 0;
    for (int step = 1; step <= steps_ && error < largest_error; ++step) {
      auto& here = step < steps_ ? between_ : this->hamiltonian_;
      this->integrator_.evolve(this->z_, here, this->epsilon_, logger);
      error = this->hamiltonian_.H(this->z_) - energy;
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    }
    diverged_ = error > largest_error;
    const double acceptance = std::min(1.0, std::exp(-error));
    if (this->rand_uniform_() >= acceptance) this->z_.ps_point::operator=(start);
    energy_ = this->hamiltonian_.H(this->z_);
    if (this->adapt_flag_) {
      this->stepsize_adaptation_.learn_stepsize(this->nom_epsilon_, acceptance);
      shorten();
    }
    return {this->z_.q, -this->hamiltonian_.V(this->z_), acceptance};
  }

  void disengage_adaptation() override {
    stan::mcmc::base_adapter::disengage_adaptation();
    this->stepsize_adaptation_.complete_adaptation(this->nom_epsilon_);
    shorten();
  }

  void get_sampler_param_names(std::vector<std::string>& names) override {
    for (const char* name : {"stepsize__", "int_time__", "n_leapfrog__", "divergent__", "energy__"})
      names.push_back(name);
  }
  void get_sampler_params(std::vector<double>& values) override {
    for (const double value : {this->epsilon_, steps_ * this->epsilon_, double(steps_),
                               double(diverged_), energy_})
      values.push_back(value);
  }
  void write_sampler_state(stan::callbacks::writer& writer) override {
    this->write_sampler_stepsize(writer);
    write_metric_(writer);
  }

 private:
  static constexpr double most_steps = 16;
  static constexpr double largest_error = 1000;  // Stan's, of a trajectory that diverges

  void shorten() { this->nom_epsilon_ = std::min(this->nom_epsilon_, longest_); }

  TakenEnergy<Model, RNG> between_;
  const double length_, longest_;
  const WriteMetric write_metric_;
  int steps_ = 0;
  bool diverged_ = false;
  double energy_ = 0;
};

}  // namespace reliabayes
