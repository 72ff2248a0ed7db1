#pragma once

#include "argument.hpp"
#include "declare.hpp"

#include <random>
#include <string>
#include <vector>

namespace reliabayes {

inline Argument sample_arguments() {
  return section(
      "sample", "draws from the posterior by Hamiltonian Monte Carlo",
      {integer("num_samples", "1000", from_zero, "iterations after warmup"),
       integer("num_warmup", "1000", from_zero, "iterations of warmup"),
       flag("save_warmup", "0", "also write the draws of warmup"),
       integer("thin", "1", from_one, "write every so many-th draw"),
       section("adapt", "adaptation of step size and metric in warmup",
               {flag("engaged", "1", "whether to adapt"),
                real("gamma", "0.05", positive, "regularization scale"),
                real("delta", "0.8", inside_unit, "target acceptance"),
                real("kappa", "0.75", positive, "relaxation exponent"),
                real("t0", "10", positive, "iteration offset"),
                integer("init_buffer", "75", from_zero, "iterations of the first, fast interval"),
                integer("term_buffer", "50", from_zero, "iterations of the last, fast interval"),
                integer("window", "25", from_zero, "iterations of the first slow interval"),
                flag("save_metric", "0", "write the adapted metric to <output file>_metric.json")}),
       choice(
           "algorithm", "hmc", "sampling algorithm",
           {section(
                "hmc", "Hamiltonian Monte Carlo",
                {choice("engine", "nuts", "length of a trajectory",
                        {section("nuts", "until the trajectory turns back",
                                 {integer("max_depth", "10", from_one, "doublings of a trajectory")}),
                         section("static", "given, in a posterior close to a normal distribution",
                                 {real("int_time", "2", positive, "mean angle, in radians"),
                                  input("rough_data_file", "",
                                        "JSON with data of a quicker density near that of the "
                                        "program, whose gradient trajectories follow between "
                                        "their ends")})}),
                 choice("metric", "diag_e", "Euclidean metric",
                        {section("unit_e", "the identity"), section("diag_e", "a diagonal matrix"),
                         section("dense_e", "a full matrix")}),
                 input("metric_file", "",
                       "JSON with the inverse metric inv_metric to start from; for engine=static "
                       "the covariance of the normal distribution, with its mean"),
                 real("stepsize", "1", positive, "step size to start from"),
                 real("stepsize_jitter", "0", unit, "relative random jitter of the step size")}),
            section("fixed_param", "parameters stay at their initial values")}),
       integer("num_chains", "1", only_one, "chains per process; start a process per chain")});
}

inline Argument log_prob_arguments() {
  return section("log_prob", "the log density and its gradient",
                 {input("unconstrained_params", "", "JSON with one or more vectors params_r"),
                  input("constrained_params", "", "JSON with the parameters of the program"),
                  flag("jacobian", "1", "density of the unconstrained parameters")});
}

inline Argument diagnose_arguments() {
  return section(
      "diagnose", "the gradient of the log density next to finite differences",
      {choice("test", "gradient", "test to run",
              {section("gradient", "the gradient",
                       {real("epsilon", "1e-06", positive, "step of the finite differences"),
                        real("error", "1e-06", positive, "largest difference")})})});
}

inline std::string random_seed() { return std::to_string(std::random_device{}()); }

// Every argument of the program.
inline Argument command_line() {
  return section(
      "", "",
      {choice("method", "", "the task",
              {sample_arguments(), log_prob_arguments(), diagnose_arguments()}),
       integer("id", "1", from_zero, "number of the chain; chains of one seed differ by it"),
       section("data", "the data", {input("file", "", "JSON with the data of the program")}),
       input("init", "2", "start within this distance of 0, or at the values in this JSON file"),
       section("random", "random numbers",
               {integer("seed", random_seed(), {0, 4294967295.0, true}, "seed")}),
       section(
           "output", "the files to write",
           {output("file", "output.csv", "CSV of the result"),
            output("numbers_file", "", "numbers of the result, 8 bytes each, which are then not in the CSV"),
            output("diagnostic_file", "", "CSV of the sampler's inner state"),
            integer("refresh", "100", from_zero, "iterations between two lines of progress"),
            integer("sig_figs", "8", {1, 18, true}, "significant digits"),
            output("profile_file", "", "CSV of the run times of profiled code"),
            flag("save_cmdstan_config", "0", "write the arguments to <output file>_config.json")}),
       integer("num_threads", "1", only_one, "set the variable STAN_NUM_THREADS instead")});
}

}  // namespace reliabayes
