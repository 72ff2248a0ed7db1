// The command line of the compiled Stan programs: takes the name of one and CmdStan's arguments, and
// writes CmdStan's files. Nothing here depends on a particular program.
//
// Covered are the methods sample, log_prob and diagnose, and info. Anything else is refused by name.

#include "stan_autodiff.hpp"  // before what reads Stan's headers

#include "program.hpp"
#include "runner/argument.hpp"
#include "runner/command_line.hpp"
#include "runner/describe.hpp"
#include "runner/evaluate.hpp"
#include "runner/metadata.hpp"
#include "runner/output.hpp"
#include "runner/parser.hpp"
#include "runner/remembered.hpp"
#include "runner/sample.hpp"
#include "runner/session.hpp"

#include <stan/math/prim/core/init_threadpool_tbb.hpp>
#include <stan/math/rev/core/profiling.hpp>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace reliabayes {

const std::map<std::string, Outcome (*)(Session&)> methods{
    {"sample", sample},
    {"log_prob", log_prob},
    {"diagnose", diagnose},
};

// The error on one line, because cmdstanpy shows only one, and in words if the C++ library gives none.
std::string in_words(std::string error) {
  if (error.find("bad_alloc") != std::string::npos)
    return "not enough memory for the requested sizes: " + error;
  std::replace(error.begin(), error.end(), '\n', ' ');
  return error;
}

// Refuses to write to a file that is also read: opening it for output would empty it.
void refuse_overwriting(const Argument& section, const Argument& output) {
  for (const Argument& each : section.children) {
    std::error_code missing;
    if (each.type == Kind::input && each.given &&
        std::filesystem::equivalent(*each.given, output.value(), missing))
      throw UsageError(output.name + "=" + output.value() + ": expected a different file from " +
                       each.name + "=" + *each.given);
    if (each.type == Kind::section) refuse_overwriting(each, output);
    if (each.type == Kind::choice) refuse_overwriting(each.chosen(), output);
  }
}

void refuse_one_file_for_two(const Argument& output) {
  std::map<std::filesystem::path, const Argument*> taken;
  for (const Argument& each : output.children) {
    if (each.type != Kind::output || each.value().empty()) continue;
    const std::filesystem::path name(each.value());
    const auto [other, is_new] = taken.emplace(name.lexically_normal(), &each);
    if (!is_new)
      throw UsageError(each.name + "=" + each.value() + ": expected a different file from " +
                       other->second->name + "=" + other->second->value());
  }
}

std::unique_ptr<stan::model::model_base> load(const Program& program, const Argument& arguments,
                                              const std::string& asked, const Argument& file) {
  const auto seed = static_cast<unsigned>(arguments["random"]["seed"].count());
  std::unique_ptr<stan::io::var_context> data = std::make_unique<stan::io::empty_var_context>();
  if (file.given) data = std::make_unique<JsonData>(asked, *file.given);
  return naming(asked + "=" + file.value(), [&] {
    return std::unique_ptr<stan::model::model_base>(program.make(*data, seed, &std::cout));
  });
}

int run(const Program& program, const Argument& arguments) {
  const Argument& method = arguments["method"];
  const Argument& init = arguments["init"];
  const Argument& output = arguments["output"];
  const Argument& diagnostic_file = output["diagnostic_file"];
  const Argument& profile_file = output["profile_file"];
  const Argument& numbers_file = output["numbers_file"];
  for (const Argument& each : output.children)
    if (each.type == Kind::output && !each.value().empty()) refuse_overwriting(arguments, each);
  refuse_one_file_for_two(output);
  if (diagnostic_file.given && method.value() != "sample")
    throw UsageError("diagnostic_file: method=" + method.value() + " writes none");
  if (numbers_file.given && method.value() == "diagnose")
    throw UsageError("numbers_file: method=diagnose writes none");

  OutputFile file("output file", output["file"].value());
  std::optional<OutputFile> numbers, diagnostics, profile;
  if (numbers_file.given) numbers.emplace("numbers_file", *numbers_file.given);
  if (diagnostic_file.given) diagnostics.emplace("diagnostic_file", *diagnostic_file.given);
  if (profile_file.given) profile.emplace("profile_file", *profile_file.given);

  const auto model = std::make_unique<RememberedModel>(
      load(program, arguments, "data file", arguments["data"]["file"]));
  const auto with_other_data = [&](const Argument& other) {
    return load(program, arguments, other.name, other);
  };
  const int digits = output["sig_figs"].integer();
  CsvWriter draws(file, digits, numbers ? &*numbers : nullptr);
  write_header(file.stream(), arguments, *model);
  auto inner_state = std::make_unique<stan::callbacks::writer>();
  if (diagnostics) {
    inner_state = std::make_unique<CsvWriter>(*diagnostics, digits);
    write_header(diagnostics->stream(), arguments, *model);
  }

  stan::math::init_threadpool_tbb();
  Console logger;
  Session session{arguments, *model, with_other_data, logger, draws, *inner_state};
  const Outcome outcome = methods.at(method.value())(session);
  if (outcome == Outcome::failed)
    throw std::runtime_error("method=" + method.value() +
                             (init.given ? ", init=" + *init.given : "") + ": " +
                             in_words(logger.last_error()));

  if (profile) {
    write_profile(profile->stream(), *program.profiles);
    profile->publish();
  }
  if (diagnostics) diagnostics->publish();
  if (numbers) numbers->publish();
  if (output["save_cmdstan_config"].flag())
    write_config(beside(output["file"].value(), "_config.json"), arguments, *model);
  file.publish();
  return outcome == Outcome::done ? EXIT_SUCCESS : EXIT_FAILURE;
}

const Program& chosen(const std::string& name) {
  const auto found = programs().find(name);
  if (found != programs().end()) return found->second;
  std::string names;
  for (const auto& each : programs()) names += (names.empty() ? "" : ", ") + each.first;
  throw UsageError("program=" + name + ": expected one of " + names);
}

int main(const Program& program, const std::vector<std::string>& words) {
  Argument arguments = command_line();
  if (words == std::vector<std::string>{"info"}) {
    write_info(std::cout);
    return EXIT_SUCCESS;
  }
  for (const std::string& word : words)
    if (word == "help" || word == "--help") {
      write_help(std::cout, arguments, "");
      return EXIT_SUCCESS;
    }
  Parser reader(arguments);
  for (const std::string& word : words) reader.read(word);
  if (!arguments["method"].given)
    throw UsageError("method: expected " + arguments["method"].expectation());
  return run(program, arguments);
}

// Be ended with the process that the environment variable RELIABAYES_PARENT names, however it ends.
void end_with_parent() {
#ifdef __linux__
  const char* parent = std::getenv("RELIABAYES_PARENT");
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(getppid()) != parent) std::_Exit(EXIT_FAILURE);  // it had ended before
#endif
}

// Keep memory that a gradient has freed for the next one. Handing it back to the system each time took
// a fifth of the time of a chain.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that is allowed
#endif
}

}  // namespace reliabayes

// cmdstanpy recognises errors as lines that start with "Error:".
int main(int argc, const char* argv[]) {
  reliabayes::end_with_parent();
  reliabayes::keep_freed_memory();
  try {
    const std::vector<std::string> words{argv + 1, argv + argc};
    const reliabayes::Program& program = reliabayes::chosen(words.empty() ? "" : words.front());
    return reliabayes::main(program, {words.begin() + 1, words.end()});
  } catch (const std::exception& error) {
    std::cout << std::flush;
    std::cerr << "Error: " << reliabayes::in_words(error.what()) << std::endl;
    return EXIT_FAILURE;
  }
}
