#pragma once

#include "argument.hpp"
#include "json_variable.hpp"
#include "read_file.hpp"

#include <stan/io/validate_dims.hpp>
#include <stan/io/var_context.hpp>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace reliabayes {

// Collects the variables of a JSON object. Stan's own reader looks up a name for every number and
// recurses into brackets; this one does neither, so it is fast, and safe on any file.
class JsonCollector : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonCollector> {
 public:
  std::unordered_map<std::string, JsonVariable> variables;
  std::string name;   // of the current variable
  std::string fault;  // of the file as a whole

  bool StartObject() {
    ++objects_;
    if (objects_ > 1) current_->reject("tuples are not supported");
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    --objects_;
    return true;
  }
  bool StartArray() {
    if (inside()) current_->open();
    return inside();
  }
  bool EndArray(rapidjson::SizeType) {
    current_->close();
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (objects_ > 1) return true;
    name.assign(text, size);
    const auto [entry, is_new] = variables.try_emplace(name);
    current_ = &entry->second;
    if (!is_new) fault = "it occurs twice";
    return is_new;
  }

  bool Int(int x) { return number(x, true); }
  bool Uint(unsigned x) { return number(x, x <= INT32_MAX); }
  bool Int64(std::int64_t x) { return number(static_cast<double>(x), false); }
  bool Uint64(std::uint64_t x) { return number(static_cast<double>(x), false); }
  bool Double(double x) { return number(x, false); }
  bool Null() { return no_number("null is not a number"); }
  bool Bool(bool) { return no_number("true and false are not numbers"); }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string word(text, size);
    if (word == "NaN") return number(NAN, false);
    if (word == "Inf" || word == "Infinity") return number(INFINITY, false);
    if (word == "-Inf" || word == "-Infinity") return number(-INFINITY, false);
    return no_number("strings are not numbers");
  }

 private:
  int objects_ = 0;
  JsonVariable* current_ = nullptr;

  bool number(double x, bool is_int) {
    if (inside()) current_->add(x, is_int);
    return inside();
  }

  bool no_number(const char* why) {
    if (inside()) current_->reject(why);
    return inside();
  }

  bool inside() {
    if (objects_ == 0) fault = "expected an object {...} of variables";
    return objects_ > 0;
  }
};

// The variables of a JSON file, in the form that Stan programs read.
class JsonData final : public stan::io::var_context {
 public:
  JsonData(const std::string& asked, const std::string& file) {
    const std::string text = read_file(asked, file);
    JsonCollector collected;
    rapidjson::Reader reader;
    rapidjson::MemoryStream stream(text.data(), text.size());
    constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseNanAndInfFlag |
                               rapidjson::kParseValidateEncodingFlag |
                               rapidjson::kParseFullPrecisionFlag;
    const bool complete = reader.Parse<flags>(stream, collected) && stream.Tell() == text.size();
    if (!complete)
      throw UsageError(asked + "=" + file + ": " + explain(reader, stream.Tell(), text, collected));
    variables_ = std::move(collected.variables);
    for (auto& [name, variable] : variables_) variable.finish();
  }

  bool contains_r(const std::string& name) const override { return find(name) != nullptr; }
  bool contains_i(const std::string& name) const override {
    const JsonVariable* found = find(name);
    return found && found->is_int();
  }

  std::vector<double> vals_r(const std::string& name) const override {
    const JsonVariable* found = find(name);
    return found ? found->values() : std::vector<double>();
  }
  std::vector<int> vals_i(const std::string& name) const override {
    if (!contains_i(name)) return {};
    const std::vector<double>& values = find(name)->values();
    return std::vector<int>(values.begin(), values.end());
  }
  std::vector<std::complex<double>> vals_c(const std::string& name) const override {
    const std::vector<double> parts = vals_r(name);  // all real parts, then all imaginary ones
    std::vector<std::complex<double>> values(parts.size() / 2);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = {parts[i], parts[values.size() + i]};
    return values;
  }

  std::vector<std::size_t> dims_r(const std::string& name) const override {
    const JsonVariable* found = find(name);
    return found ? found->dims() : std::vector<std::size_t>();
  }
  std::vector<std::size_t> dims_i(const std::string& name) const override {
    return contains_i(name) ? dims_r(name) : std::vector<std::size_t>();
  }

  void names_r(std::vector<std::string>& names) const override { list(names, false); }
  void names_i(std::vector<std::string>& names) const override { list(names, true); }

  void validate_dims(const std::string& stage, const std::string& name, const std::string& type,
                     const std::vector<std::size_t>& declared) const override {
    // "[]" represents any variable without elements, and such a variable may be omitted.
    if (is_empty(declared) && (!contains_r(name) || is_empty(dims_r(name)))) return;
    stan::io::validate_dims(*this, stage, name, type, declared);
  }

 private:
  std::unordered_map<std::string, JsonVariable> variables_;

  // A file may contain variables that the program does not read; only those it reads must be numeric.
  const JsonVariable* find(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return nullptr;
    if (!found->second.fault().empty())
      throw std::runtime_error("variable " + name + ": " + found->second.fault());
    return &found->second;
  }

  static bool is_empty(const std::vector<std::size_t>& dims) {
    return std::find(dims.begin(), dims.end(), 0) != dims.end();
  }

  void list(std::vector<std::string>& names, bool integers) const {
    names.clear();
    for (const auto& [name, variable] : variables_)
      if (variable.is_int() == integers) names.push_back(name);
  }

  static std::string explain(const rapidjson::Reader& reader, std::size_t parsed,
                             const std::string& text, const JsonCollector& collected) {
    const std::size_t at = reader.HasParseError() ? reader.GetErrorOffset() : parsed;
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
    const auto line = 1 + std::count(text.begin(), end, '\n');
    std::string what = "not a JSON file of variables, line " + std::to_string(line) + ", byte " +
                       std::to_string(at);
    if (!collected.name.empty()) what += ", variable " + collected.name;
    if (!collected.fault.empty()) return what + ": " + collected.fault;
    if (!reader.HasParseError()) return what + ": there is more after the object";
    return what + ": " + rapidjson::GetParseError_En(reader.GetParseErrorCode());
  }
};

}  // namespace reliabayes
