#pragma once

#include "argument.hpp"

#include <stan/callbacks/json_writer.hpp>
#include <stan/callbacks/writer.hpp>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace reliabayes {

// A file that gets its name only when complete. Until then, and after the program is killed, it is
// called <name>.partial; if the program fails it is removed. Devices and pipes cannot be renamed and
// are written to directly.
class OutputFile {
 public:
  OutputFile(const std::string& asked, const std::string& name)
      : asked_(asked + "=" + name), target_(resolved(name)), written_(target_) {
    std::error_code missing;
    const auto type = std::filesystem::status(target_, missing).type();
    if (missing || type == std::filesystem::file_type::regular) written_ += ".partial";
    stream_.open(written_, std::ios::binary | std::ios::trunc);
    check();
    // The output of an earlier run must not be mistaken for the result of this one.
    if (written_ != target_) std::filesystem::remove(target_);
  }

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  ~OutputFile() {
    stream_.close();
    std::error_code ignored;
    if (!published_ && written_ != target_) std::filesystem::remove(written_, ignored);
  }

  std::ostream& stream() { return stream_; }

  void check() {
    if (!stream_) throw UsageError(asked_ + ": cannot write: " + std::strerror(errno));
  }

  void publish() {
    stream_.close();
    check();
    if (written_ != target_) std::filesystem::rename(written_, target_);
    published_ = true;
  }

 private:
  std::string asked_;
  std::filesystem::path target_;
  std::filesystem::path written_;
  std::ofstream stream_;
  bool published_ = false;

  // The file that a symbolic link points to: renaming would replace the link itself.
  static std::filesystem::path resolved(const std::string& name) {
    std::error_code missing;
    const auto path = std::filesystem::canonical(name, missing);
    return missing ? std::filesystem::path(name) : path;
  }
};

// "out.csv" and "_metric.json" make "out_metric.json".
inline std::string beside(const std::string& name, const std::string& ending) {
  return std::filesystem::path(name).replace_extension().string() + ending;
}

// Rows of comma-separated values, and comments, from Stan's algorithms. Values may go to another file as they are in
// memory.
class CsvWriter final : public stan::callbacks::writer {
 public:
  CsvWriter(OutputFile& file, int digits, OutputFile* numbers = nullptr)
      : file_(file), numbers_(numbers), digits_(digits) {}

  void operator()(const std::vector<std::string>& names) override {
    for (const std::string& name : names) row_ += name + ',';
    end_row();
    has_names_ = true;
  }

  void operator()(const std::vector<double>& values) override {
    if (numbers_ != nullptr) {
      const auto size = static_cast<std::streamsize>(values.size() * sizeof(double));
      numbers_->stream().write(reinterpret_cast<const char*>(values.data()), size);
      numbers_->check();
      return;
    }
    for (const double value : values) add(value);
    end_row();
  }

  void operator()() override { (*this)(std::string()); }

  void operator()(const std::string& comment) override { write("# " + comment + "\n"); }

  bool has_names() const { return has_names_; }

 private:
  OutputFile& file_;
  OutputFile* numbers_;
  int digits_;
  std::string row_;
  bool has_names_ = false;

  void add(double value) {
    char text[32];  // 18 digits, sign, point and exponent
#ifdef __cpp_lib_to_chars  // the same digits in a quarter of the time
    const char* end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits_).ptr;
    row_.append(text, static_cast<std::size_t>(end - text));
    row_ += ',';
#else
    const int size = std::snprintf(text, sizeof text, "%.*g,", digits_, value);
    row_.append(text, static_cast<std::size_t>(size));
#endif
  }

  void end_row() {
    if (row_.empty()) return;
    row_.back() = '\n';
    write(row_);
    row_.clear();
  }

  void write(const std::string& text) {
    file_.stream() << text;
    file_.check();
  }
};

// Stan's JSON writer on a stream that it does not own.
struct Borrowed {
  void operator()(std::ostream*) const {}
};
using JsonWriter = stan::callbacks::json_writer<std::ostream, Borrowed>;

inline JsonWriter json_on(OutputFile& file) {
  file.stream().precision(17);
  return JsonWriter(std::unique_ptr<std::ostream, Borrowed>(&file.stream()));
}

}  // namespace reliabayes
