// Puts a measured figure into the fields of a machine, and into what is known about them.
#pragma once

#include <functional>
#include <string>

#include "models/machines/machine_file.hpp"
#include "models/machines/native/measure.hpp"

namespace homenode {

class DescribedFields {
public:
  explicit DescribedFields(MachineFile& file) : file_{file} {}

  using Text = std::function<std::string(double)>;
  // All fields of that name, "nodes.latency" for those of every node, become the value with its bounds.
  void set(const std::string& name, const native::Spread&, const Text&, const std::string& note = "");
  // What is known of a field beside its value.
  void add_note(const std::string& name, const std::string& note);
  // A choice by name has none.
  void without_bounds(const std::string& name);
  // After values were put in order: parameters say what the machine has, and bounds that no longer hold it are dropped.
  void refresh();

  static std::string time_text(double nanoseconds);
  static std::string bandwidth_text(double bytes_per_second);
  static std::string bytes_text(double bytes);
  static std::string number_text(double value);
  static std::string count_text(double value);

private:
  MachineFile& file_;
};

// With so many digits behind the point.
std::string rounded(double value, int digits);
// Through a function that rises or falls all the way.
native::Spread mapped(const native::Spread&, const std::function<double(double)>&);
// A figure that also rests on another one is no better than that.
native::Spread resting_on(native::Spread, const native::Spread& other);

inline constexpr const char* measured_source = "measured on this host by homenode calibrate";

}  // namespace homenode
