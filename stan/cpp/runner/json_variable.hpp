#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace reliabayes {

// A number or rectangular array of numbers, filled in the order of the file: the last index runs
// fastest there, the first one in Stan. If it is neither, fault() says why.
class JsonVariable {
 public:
  void open() {
    count_element();
    if (depth_ == dims_.size()) add_dimension();
    ++depth_;
    if (depth_ <= lengths_.size()) lengths_[depth_ - 1] = 0;
  }

  void close() {
    --depth_;
    if (depth_ >= dims_.size()) return;
    if (dims_[depth_] == unknown) dims_[depth_] = lengths_[depth_];
    if (dims_[depth_] != lengths_[depth_]) reject(ragged);
  }

  void add(double value, bool is_int) {
    count_element();
    if (depth_ != dims_.size()) return reject(ragged);
    values_.push_back(value);
    is_int_ = is_int_ && is_int;
  }

  void reject(const std::string& why) {
    if (fault_.empty()) fault_ = why;
  }

  // Called once, after the last value.
  void finish() {
    if (!fault_.empty() || dims_.size() < 2) return;
    std::vector<std::size_t> strides(dims_.size(), 1);
    for (std::size_t d = 1; d < dims_.size(); ++d) strides[d] = strides[d - 1] * dims_[d - 1];
    std::vector<double> ordered(values_.size());
    std::vector<std::size_t> index(dims_.size(), 0);
    std::size_t place = 0;
    for (const double value : values_) {
      ordered[place] = value;
      for (std::size_t d = dims_.size(); d-- > 0;) {
        place += strides[d];
        if (++index[d] < dims_[d]) break;
        place -= strides[d] * dims_[d];
        index[d] = 0;
      }
    }
    values_ = std::move(ordered);
  }

  bool is_int() const { return is_int_; }
  const std::vector<double>& values() const { return values_; }
  const std::vector<std::size_t>& dims() const { return dims_; }
  const std::string& fault() const { return fault_; }

 private:
  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_dims = 32;
  static constexpr const char* ragged = "expected a rectangular array";

  bool is_int_ = true;
  std::size_t depth_ = 0;  // brackets that are open
  std::vector<double> values_;
  std::vector<std::size_t> dims_;
  std::vector<std::size_t> lengths_;  // elements so far in the array open at each depth
  std::string fault_;

  void add_dimension() {
    if (!values_.empty()) return reject(ragged);
    if (dims_.size() == max_dims) return reject("arrays are nested too deep");
    dims_.push_back(unknown);
    lengths_.push_back(0);
  }

  void count_element() {
    if (depth_ > 0 && depth_ <= lengths_.size()) ++lengths_[depth_ - 1];
  }
};

}  // namespace reliabayes
