// Metadata of a run: version, arguments, profile.
#pragma once

#include "argument.hpp"
#include "describe.hpp"
#include "output.hpp"

#include <stan/math/rev/core/profiling.hpp>
#include <stan/model/model_base.hpp>
#include <stan/version.hpp>

#include <ctime>
#include <ostream>
#include <string>

namespace reliabayes {

inline void write_version(std::ostream& out, const std::string& prefix) {
  out << prefix << "stan_version_major = " << stan::MAJOR_VERSION << '\n'
      << prefix << "stan_version_minor = " << stan::MINOR_VERSION << '\n'
      << prefix << "stan_version_patch = " << stan::PATCH_VERSION << '\n';
}

// STAN_THREADS means that one process can run several chains, which this one cannot.
inline void write_info(std::ostream& out) {
  write_version(out, "");
  for (const char* option : {"THREADS", "MPI", "OPENCL", "NO_RANGE_CHECKS", "CPP_OPTIMS"})
    out << "STAN_" << option << "=false\n";
}

inline std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&time));
  return text;
}

inline void write_header(std::ostream& out, const Argument& arguments,
                         const stan::model::model_base& model) {
  write_version(out, "# ");
  out << "# model = " << model.model_name() << "\n# start_datetime = " << now() << '\n';
  write_comments(out, arguments, "# ");
  for (const std::string& line : model.model_compile_info()) out << "# " << line << '\n';
}

inline void write_config(const std::string& name, const Argument& arguments,
                         const stan::model::model_base& model) {
  OutputFile file("save_cmdstan_config", name);
  JsonWriter json = json_on(file);
  json.begin_record();
  json.write("stan_major_version", stan::MAJOR_VERSION);
  json.write("stan_minor_version", stan::MINOR_VERSION);
  json.write("stan_patch_version", stan::PATCH_VERSION);
  json.write("model_name", model.model_name());
  json.write("start_datetime", now());
  write_json(json, arguments);
  json.end_record();
  file.publish();
}

inline void write_profile(std::ostream& out, const stan::math::profile_map& profiles) {
  out << "name,thread_id,total_time,forward_time,reverse_time,chain_stack,no_chain_stack,"
         "autodiff_calls,no_autodiff_calls\n";
  for (const auto& [key, profile] : profiles)
    out << key.first << ',' << key.second << ',' << profile.get_fwd_time() + profile.get_rev_time()
        << ',' << profile.get_fwd_time() << ',' << profile.get_rev_time() << ','
        << profile.get_chain_stack_used() << ',' << profile.get_nochain_stack_used() << ','
        << profile.get_num_AD_fwd_passes() << ',' << profile.get_num_no_AD_fwd_passes() << '\n';
}

}  // namespace reliabayes
