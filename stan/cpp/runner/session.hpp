#pragma once

#include "argument.hpp"
#include "json_data.hpp"
#include "output.hpp"
#include "remembered.hpp"

#include <stan/callbacks/interrupt.hpp>
#include <stan/callbacks/logger.hpp>
#include <stan/callbacks/writer.hpp>
#include <stan/io/empty_var_context.hpp>
#include <stan/model/model_base.hpp>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

namespace reliabayes {

// Writes Stan's messages to the console, and keeps the last error to report why there is no result.
class Console final : public stan::callbacks::logger {
 public:
  void debug(const std::string& message) override { info(message); }
  void debug(const std::stringstream& message) override { info(message.str()); }
  void info(const std::string& message) override { std::cout << message << std::endl; }
  void info(const std::stringstream& message) override { info(message.str()); }
  void warn(const std::string& message) override { info(message); }
  void warn(const std::stringstream& message) override { info(message.str()); }
  void error(const std::string& message) override {
    std::cerr << message << std::endl;
    last_error_ = message;
  }
  void error(const std::stringstream& message) override { error(message.str()); }
  void fatal(const std::string& message) override { error(message); }
  void fatal(const std::stringstream& message) override { error(message.str()); }

  const std::string& last_error() const { return last_error_; }

 private:
  std::string last_error_ = "no result";
};

// How a method ended. A doubtful result is complete and is kept, but the exit code signals it.
enum class Outcome { done, doubtful, failed };

// The context of a method.
struct Session {
  const Argument& arguments;
  RememberedModel& remembered;
  std::function<std::unique_ptr<stan::model::model_base>(const Argument& file)> load;  // with other data
  Console& logger;
  CsvWriter& draws;
  stan::callbacks::writer& diagnostics;
  stan::model::model_base& model = remembered;  // as Stan's functions take it
  stan::callbacks::interrupt interrupt{};
  stan::callbacks::writer unwritten{};

  const Argument& method() const { return arguments["method"].chosen(); }
  unsigned id() const { return static_cast<unsigned>(arguments["id"].count()); }
  unsigned seed() const { return static_cast<unsigned>(arguments["random"]["seed"].count()); }
  int refresh() const { return arguments["output"]["refresh"].integer(); }

  // No argument is ignored: one that the method does not use is an error.
  void refuse(const Argument& unused, const std::string& why) const {
    if (unused.given) throw UsageError(unused.name + "=" + *unused.given + ": " + why);
  }

  void require_parameters() const {
    if (model.num_params_r() == 0)
      throw UsageError("method=" + method().name + ": the program has no parameters");
  }

  Outcome ended(int code) const { return code == 0 ? Outcome::done : Outcome::failed; }
};

// Initial values of a chain; parameters without a value start at random within the radius.
struct Start {
  double radius = 2;
  std::unique_ptr<stan::io::var_context> values = std::make_unique<stan::io::empty_var_context>();
};

// With one file per chain, the argument is their common name: start.json for start_1.json, ...
inline std::string file_of_chain(const std::string& name, unsigned chain) {
  const std::filesystem::path path(name);
  const std::string own = beside(name, "_" + std::to_string(chain) + path.extension().string());
  return !std::filesystem::exists(path) && std::filesystem::exists(own) ? own : name;
}

inline Start read_start(const Session& s) {
  const std::string& init = s.arguments["init"].value();
  Start result;
  if (const auto number = to_number(init)) {
    if (*number < 0)
      throw UsageError("init=" + init + ": expected a number >= 0 or the name of a JSON file");
    result.radius = *number;
  } else {
    result.values = std::make_unique<JsonData>("init", file_of_chain(init, s.id()));
  }
  return result;
}

}  // namespace reliabayes
