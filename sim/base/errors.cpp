#include "sim/base/errors.hpp"

#include <algorithm>

#include "sim/base/text.hpp"

namespace homenode {
namespace {

constexpr std::size_t most_listed = 30;     // more names are counted, and the nearest ones are named
constexpr std::size_t most_suggested = 3;   // of them
constexpr std::size_t longest_echoed = 80;  // characters of what was found

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

// Near enough to be meant: two thirds of the characters of `found` stay.
bool may_be_meant(std::string_view found, std::string_view allowed) {
  const std::size_t stay = (found.size() + allowed.size() - distance_between_names(found, allowed)) / 2;
  return stay > 0 && 3 * stay >= 2 * found.size();
}

// The nearest first, each in quotes: "'a', 'b' or 'c'".
std::string suggested(const std::string& found, std::vector<std::string> names, std::size_t most) {
  std::erase_if(names, [&](const std::string& name) { return !may_be_meant(found, name); });
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return distance_between_names(found, a) < distance_between_names(found, b);
  });
  names.resize(std::min(names.size(), most));
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "'" : i + 1 < names.size() ? ", '" : " or '") + names[i] + "'";
  return text;
}

std::string echoed(const std::string& found) {
  const bool is_long = found.size() > longest_echoed;
  std::string text{'\''};
  text.append(found, 0, is_long ? longest_echoed / 2 : found.size()).append(is_long ? "…'" : "'");
  return is_long ? text + " (" + std::to_string(found.size()) + " characters)" : text;
}

}  // namespace

// Row by row over the characters of `found` (Wagner and Fischer, Journal of the ACM 21, 1974).
std::size_t distance_between_names(std::string_view found, std::string_view allowed) {
  std::vector<std::size_t> cost(allowed.size() + 1);  // of making the first a characters of `allowed` of those seen so far
  for (std::size_t a = 0; a < cost.size(); ++a) cost[a] = a;
  for (const char letter : found) {
    std::size_t diagonal = cost[0]++;
    for (std::size_t a = 1; a < cost.size(); ++a) {
      const std::size_t kept = lower(letter) == lower(allowed[a - 1]) ? diagonal : SIZE_MAX;
      diagonal = cost[a];
      cost[a] = std::min({kept, cost[a] + 1, cost[a - 1] + 1});
    }
  }
  return cost.back();
}

// A list that fits on a screen is given whole; of a longer one the names that may be meant.
std::string unknown_name(const std::string& what, const std::string& whole, std::vector<std::string> allowed) {
  const std::string found = brief(whole, std::string::npos);
  std::string message = "unknown " + what + " " + echoed(found);
  const bool is_long = allowed.size() > most_listed;
  const std::string meant = found.size() > longest_echoed ? "" : suggested(found, allowed, is_long ? most_suggested : 1);
  const std::string question = meant.empty() ? "" : "; did you mean " + meant + "?";
  if (is_long)
    return message + question + (meant.empty() ? "; allowed: one of " : " Allowed: one of ") + std::to_string(allowed.size()) + " names";
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return distance_between_names(found, a) < distance_between_names(found, b);
  };
  const auto nearest = std::min_element(allowed.begin(), allowed.end(), nearer);
  if (nearest != allowed.end()) std::rotate(allowed.begin(), nearest, nearest + 1);
  message += "; allowed: ";
  for (std::size_t i = 0; i < allowed.size(); ++i) message += (i == 0 ? "" : ", ") + allowed[i];
  return message + question;
}

}  // namespace homenode
