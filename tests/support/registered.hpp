// What the suites of tests/contract run over: every policy that is registered, by its name and by its examples. No test lists names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "sim/base/registry.hpp"

namespace homenode::test {

// The name, where no parameter is required, and the examples; modifiers stand on the first policy of the registry.
template <class Interface>
std::vector<std::string> texts(const PolicyEntry<Interface>& entry, const Registry<Interface>& registry) {
  const std::string before = entry.modify ? registry.entries().front().name + "+" : "";
  std::vector<std::string> found;
  const auto& parameters = entry.parameters;
  if (std::none_of(parameters.begin(), parameters.end(), [](const ParameterSpec& parameter) { return parameter.required; }))
    found.push_back(before + entry.name);
  for (const std::string& example : entry.examples) found.push_back(before + example);
  return found;
}

template <class Interface>
std::vector<std::string> every_text(const Registry<Interface>& registry) {
  std::vector<std::string> all;
  for (const auto& entry : registry.entries()) {
    const std::vector<std::string> of_entry = texts(entry, registry);
    all.insert(all.end(), of_entry.begin(), of_entry.end());
  }
  return all;
}

// "tbb:columns=4" is the test tbb_columns_4.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// Whether the policy that `text` names says that it does not keep the clause.
template <class Interface>
bool deviates(const Registry<Interface>& registry, const std::string& text, const std::string& clause) {
  const std::string name = parse_policy_specs(text).back().name;
  for (const auto& entry : registry.entries()) {
    if (entry.name != name) continue;
    return std::any_of(entry.deviations.begin(), entry.deviations.end(), [&](const Deviation& each) { return each.clause == clause; });
  }
  return false;
}

// What a suite relies on in the entries: names are there once, each can be made, and deviations are of the suite's clauses.
template <class Interface>
void expect_sound_entries(const Registry<Interface>& registry, const std::set<std::string>& clauses) {
  std::set<std::string> names;
  for (const auto& entry : registry.entries()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_FALSE(texts(entry, registry).empty()) << entry.name << " has a required parameter and no example";
    for (const std::string& example : entry.examples) EXPECT_EQ(parse_policy_spec(example).name, entry.name);
    for (const std::string& text : texts(entry, registry)) EXPECT_NO_THROW(registry.make(text)) << text;
    for (const Deviation& deviation : entry.deviations) {
      EXPECT_TRUE(clauses.contains(deviation.clause)) << entry.name << ": " << deviation.clause;
      EXPECT_FALSE(deviation.reason.empty()) << entry.name << ": " << deviation.clause;
    }
  }
}

}  // namespace homenode::test
