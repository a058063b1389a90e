#include "sim/base/errors.hpp"

#include <algorithm>

#include "sim/base/text.hpp"

namespace homenode {
namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

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

std::string unknown_name(const std::string& what, const std::string& whole, std::vector<std::string> allowed) {
  const std::string found = brief(whole);
  const auto nearer = [&](const std::string& a, const std::string& b) {
    return distance_between_names(found, a) < distance_between_names(found, b);
  };
  const auto nearest = std::min_element(allowed.begin(), allowed.end(), nearer);
  if (nearest != allowed.end()) std::rotate(allowed.begin(), nearest, nearest + 1);
  std::string message = "unknown " + what + " '" + found + "'; allowed: ";
  for (std::size_t i = 0; i < allowed.size(); ++i) message += (i == 0 ? "" : ", ") + allowed[i];
  return message;
}

}  // namespace homenode
