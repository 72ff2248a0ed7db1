#pragma once

#include "argument.hpp"
#include "declare.hpp"

#include <random>
#include <string>
#include <vector>

namespace reliabayes {

inline std::vector<Argument> line_search() {
  return {real("init_alpha", "0.001", positive, "step of the first line search"),
          real("tol_obj", "1e-12", not_negative, "tolerance on the change of the objective"),
          real("tol_rel_obj", "10000", not_negative, "the same, relative, in machine epsilons"),
          real("tol_grad", "1e-08", not_negative, "tolerance on the norm of the gradient"),
          real("tol_rel_grad", "10000000", not_negative, "the same, relative, in epsilons"),
          real("tol_param", "1e-08", not_negative, "tolerance on the change of the parameters")};
}

inline std::vector<Argument> line_search_and(std::vector<Argument> more) {
  std::vector<Argument> all = line_search();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline Argument history_size() {
  return integer("history_size", "5", from_one, "updates that the approximate Hessian keeps");
}

inline Argument sample_arguments() {
  return section(
      "sample", "draws from the posterior by Hamiltonian Monte Carlo",
      {integer("num_samples", "1000", from_zero, "iterations after warmup"),
       integer("num_warmup", "1000", from_zero, "iterations of warmup"),
       flag("save_warmup", "0", "write the draws of warmup too"),
       integer("thin", "1", from_one, "write every so many-th draw"),
       section("adapt", "adaptation of step size and metric in warmup",
               {flag("engaged", "1", "adapt at all"),
                real("gamma", "0.05", positive, "regularization scale"),
                real("delta", "0.8", inside_unit, "target acceptance"),
                real("kappa", "0.75", positive, "relaxation exponent"),
                real("t0", "10", positive, "iteration offset"),
                integer("init_buffer", "75", from_zero, "iterations of the first, fast interval"),
                integer("term_buffer", "50", from_zero, "iterations of the last, fast interval"),
                integer("window", "25", from_zero, "iterations of the first slow interval"),
                flag("save_metric", "0", "write what was adapted to <output file>_metric.json")}),
       choice(
           "algorithm", "hmc", "how to draw",
           {section(
                "hmc", "Hamiltonian Monte Carlo",
                {choice("engine", "nuts", "how long a trajectory is",
                        {section(
                            "nuts", "until it turns back",
                            {integer("max_depth", "10", from_one, "doublings of a trajectory")})}),
                 choice("metric", "diag_e", "geometry",
                        {section("unit_e", "the identity"), section("diag_e", "a diagonal matrix"),
                         section("dense_e", "a full matrix")}),
                 input("metric_file", "", "JSON with the inverse metric inv_metric to start from"),
                 real("stepsize", "1", positive, "step size to start from"),
                 real("stepsize_jitter", "0", unit, "relative random jitter of the step size")}),
            section("fixed_param", "parameters stay where they are")}),
       integer("num_chains", "1", only_one, "chains of one process; start a process for each")});
}

inline Argument optimize_arguments() {
  return section(
      "optimize", "the mode of the posterior or likelihood",
      {choice("algorithm", "lbfgs", "how to climb",
              {section("bfgs", "BFGS", line_search()),
               section("lbfgs", "BFGS of limited memory", line_search_and({history_size()})),
               section("newton", "Newton's method")}),
       flag("jacobian", "0", "maximize the density of the unconstrained parameters"),
       integer("iter", "2000", from_one, "iterations at most"),
       flag("save_iterations", "0", "write every iteration")});
}

inline Argument laplace_arguments() {
  return section("laplace", "draws from the normal approximation at a mode",
                 {input("mode", "", "CSV of method=optimize, or JSON with the parameters"),
                  flag("jacobian", "1", "approximate the density of the unconstrained parameters"),
                  integer("draws", "1000", from_one, "draws"),
                  flag("calculate_lp", "1", "evaluate the log density of every draw")});
}

inline Argument pathfinder_arguments() {
  return section(
      "pathfinder", "draws from normal approximations along paths to a mode",
      line_search_and(
          {history_size(),
           integer("num_psis_draws", "1000", from_one, "draws resampled from all paths"),
           integer("num_paths", "4", {1, 1000, true}, "paths"),
           integer("save_single_paths", "0", only_zero, "single paths are not written"),
           flag("psis_resample", "1", "resample the draws of all paths by importance"),
           flag("calculate_lp", "1", "evaluate the log density of every draw"),
           integer("max_lbfgs_iters", "1000", from_one, "steps of a path at most"),
           integer("num_draws", "1000", from_one, "draws of one path"),
           integer("num_elbo_draws", "25", from_one, "draws that judge an approximation")}));
}

inline Argument variational_arguments() {
  return section("variational", "draws from a normal approximation fitted to the posterior",
                 {choice("algorithm", "meanfield", "shape of the approximation",
                         {section("meanfield", "independent"), section("fullrank", "correlated")}),
                  integer("iter", "10000", from_one, "iterations at most"),
                  integer("grad_samples", "1", from_one, "draws for a gradient"),
                  integer("elbo_samples", "100", from_one, "draws for an evidence bound"),
                  real("eta", "1", positive, "scale of the step size"),
                  section("adapt", "adaptation of the step size",
                          {flag("engaged", "1", "adapt at all"),
                           integer("iter", "50", from_one, "iterations of adaptation")}),
                  real("tol_rel_obj", "0.01", positive, "relative tolerance of convergence"),
                  integer("eval_elbo", "100", from_one, "iterations between two evidence bounds"),
                  integer("output_samples", "1000", from_one, "draws")});
}

inline Argument generate_quantities_arguments() {
  return section(
      "generate_quantities", "the generated quantities of draws made before",
      {input("fitted_params", "", "CSV with the draws"),
       integer("num_chains", "1", only_one, "chains of one process; start a process for each")});
}

inline Argument log_prob_arguments() {
  return section("log_prob", "the log density and its gradient",
                 {input("unconstrained_params", "", "JSON with one or more vectors params_r"),
                  input("constrained_params", "", "JSON or CSV with the parameters of the program"),
                  flag("jacobian", "1", "density of the unconstrained parameters")});
}

inline Argument diagnose_arguments() {
  return section(
      "diagnose", "the gradient of the log density next to finite differences",
      {choice("test", "gradient", "what to check",
              {section("gradient", "the gradient",
                       {real("epsilon", "1e-06", positive, "step of the finite differences"),
                        real("error", "1e-06", positive, "largest difference")})})});
}

inline std::string random_seed() { return std::to_string(std::random_device{}()); }

// Every argument of the program.
inline Argument command_line() {
  return section(
      "", "",
      {choice("method", "", "what to do",
              {sample_arguments(), optimize_arguments(), laplace_arguments(),
               pathfinder_arguments(), variational_arguments(), generate_quantities_arguments(),
               log_prob_arguments(), diagnose_arguments()}),
       integer("id", "1", from_zero, "number of the chain; chains of one seed differ by it"),
       section("data", "what is known", {input("file", "", "JSON with the data of the program")}),
       input("init", "2", "start within this distance of 0, or at the values in this JSON"),
       section("random", "random numbers",
               {integer("seed", random_seed(), {0, 4294967295.0, true}, "seed")}),
       section(
           "output", "what is written",
           {output("file", "output.csv", "CSV of the result"),
            output("diagnostic_file", "", "CSV of the sampler's inner state"),
            integer("refresh", "100", from_zero, "iterations between two lines of progress"),
            integer("sig_figs", "8", {1, 18, true}, "significant digits"),
            output("profile_file", "", "CSV of the times of profiled code"),
            flag("save_cmdstan_config", "0", "write the arguments to <output file>_config.json")}),
       integer("num_threads", "1", only_one, "set the variable STAN_NUM_THREADS instead")});
}

}  // namespace reliabayes
