#include "traces/parametric/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "sim/base/errors.hpp"

namespace homenode::parametric {
namespace {

struct Argument {
  std::string text, name;             // name: "n" of "--n=48"; empty if the word is no such thing
  std::string before;                 // "--n="
  std::optional<std::int64_t> value;  // if it is a whole number
};

std::vector<Argument> words_of(const std::string& arguments) {
  std::vector<Argument> words;
  std::istringstream in{arguments};
  for (std::string text; in >> text;) {
    Argument word{text, {}, {}, {}};
    const std::size_t equals = text.find('='), begin = text.find_first_not_of('-');
    if (equals != std::string::npos && begin < equals) {
      word.name = text.substr(begin, equals - begin);
      word.before = text.substr(0, equals + 1);
      const char *first = text.data() + equals + 1, *last = text.data() + text.size();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(first, last, value);
      if (error == std::errc{} && end == last && first != last) word.value = value;
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::string shown(const std::string& arguments) { return arguments.empty() ? "no arguments" : "'" + arguments + "'"; }

}  // namespace

Parameters::Parameters(const std::vector<Made>& captures) : program_{captures.front().program}, first_file_{captures.front().file} {
  threads_ = captures.front().threads;
  const std::vector<Series> varied = series_of(captures);
  if (varied.empty()) {
    throw UsageError("all captures have the same parameters (" + shown(captures.front().arguments) +
                     "); allowed: at least three, each with other values of those that vary");
  }
  std::vector<Series> independent;
  for (const Series& series : varied) {
    Varied entry = follower_of(series, independent);
    if (entry.follows == independent.size()) {
      independent.push_back(series);
      names_.push_back(series.name);
    }
    varied_.push_back(std::move(entry));
  }
  for (std::size_t c = 0; c < captures.size(); ++c) {
    Point point;
    for (const Series& series : independent) point.push_back(series.values[c]);
    for (std::size_t before = 0; before < points_.size(); ++before) {
      if (points_[before] != point) continue;
      throw UsageError("'" + captures[before].file + "' and '" + captures[c].file + "' have the same parameters (" + text(point) +
                       "); allowed: captures with other values of those that vary");
    }
    points_.push_back(std::move(point));
  }
}

std::vector<Parameters::Series> Parameters::series_of(const std::vector<Made>& captures) {
  const Made& first = captures.front();
  std::vector<std::vector<Argument>> words;
  bool threads_vary = false;
  for (const Made& capture : captures) {
    if (capture.program != program_) {
      throw UsageError("captures of different programs: '" + first.file + "' of " + first.program + ", '" + capture.file + "' of " +
                       capture.program);
    }
    threads_vary = threads_vary || capture.threads != threads_;
    words.push_back(words_of(capture.arguments));
    if (words.back().size() != words.front().size()) {
      throw UsageError("captures with different arguments: '" + first.file + "' has " + shown(first.arguments) + ", '" + capture.file +
                       "' has " + shown(capture.arguments) + "; allowed: the same ones, name=value, with different whole numbers");
    }
  }
  std::vector<Series> varied;
  std::set<std::string> names;
  for (std::size_t w = 0; w < words.front().size(); ++w) {
    const Argument& model = words.front()[w];
    names.insert(model.name);
    const bool same = std::all_of(words.begin(), words.end(), [&](const auto& other) { return other[w].text == model.text; });
    words_.push_back({same ? model.text : model.before, !same});
    if (same) continue;
    Series series{model.name, {}};
    for (std::size_t c = 0; c < words.size(); ++c) {
      const Argument& word = words[c][w];
      if (!word.value || word.before != model.before) {
        while (words[c][w].text == model.text) ++c;
        throw UsageError("'" + first.file + "' has the argument '" + model.text + "', '" + captures[c].file + "' has '" + words[c][w].text +
                         "'; captures may differ in whole numbers only, given as name=value");
      }
      series.values.push_back(*word.value);
    }
    varied.push_back(std::move(series));
  }
  if (threads_vary) {
    threads_name_ = names.contains("threads") ? "team" : "threads";
    varied.push_back({threads_name_, {}});
    for (const Made& capture : captures) varied.back().values.push_back(capture.threads);
  }
  return varied;
}

Parameters::Varied Parameters::follower_of(const Series& series, const std::vector<Series>& independent) {
  const std::vector<std::int64_t>& values = series.values;
  for (std::size_t i = 0; i < independent.size(); ++i) {
    const std::vector<std::int64_t>& leader = independent[i].values;
    if (std::set<std::int64_t>(leader.begin(), leader.end()).size() < 3) continue;
    const std::size_t other = static_cast<std::size_t>(
        std::find_if(leader.begin(), leader.end(), [&](std::int64_t v) { return v != leader[0]; }) - leader.begin());
    const std::int64_t run = leader[other] - leader[0], rise = values[other] - values[0];
    bool follows = rise != 0;
    for (std::size_t c = 0; follows && c < leader.size(); ++c)
      follows = Wide{values[c] - values[0]} * run == Wide{leader[c] - leader[0]} * rise;
    if (follows) return {.name = series.name, .follows = i, .first = leader[0], .first_value = values[0], .rise = rise, .run = run};
  }
  return {.name = series.name, .follows = independent.size()};
}

std::int64_t Parameters::value(const Varied& varied, const Point& point) const {
  const Wide moved = Wide{point[varied.follows] - varied.first} * varied.rise;
  if (moved % varied.run != 0) {
    throw UsageError("'" + varied.name + "' would be no whole number at " + names_[varied.follows] + "=" +
                     std::to_string(point[varied.follows]) + ": in all captures they vary together");
  }
  return varied.first_value + static_cast<std::int64_t>(moved / varied.run);
}

Point Parameters::point_of(const std::map<std::string, std::int64_t>& values, const std::string& what) const {
  Point point = points_.back();
  std::vector<bool> given(names_.size(), false);
  // The independent ones as they are given; else as one that follows them gives them.
  for (const bool leaders : {true, false}) {
    for (const Varied& varied : varied_) {
      const auto found = values.find(varied.name);
      if (found == values.end() || given[varied.follows] || (varied.name == names_[varied.follows]) != leaders) continue;
      const Wide moved = Wide{found->second - varied.first_value} * varied.run;
      if (!leaders && moved % varied.rise != 0) {
        throw UsageError("'" + names_[varied.follows] + "' would be no whole number at " + varied.name + "=" +
                         std::to_string(found->second) + ": in all captures they vary together");
      }
      point[varied.follows] = leaders ? found->second : varied.first + static_cast<std::int64_t>(moved / varied.rise);
      given[varied.follows] = true;
    }
  }
  for (const Varied& varied : varied_) {
    const auto found = values.find(varied.name);
    if (found == values.end() || value(varied, point) == found->second) continue;
    throw UsageError(what + " has " + varied.name + "=" + std::to_string(found->second) + " at " + names_[varied.follows] + "=" +
                     std::to_string(point[varied.follows]) + "; '" + varied.name + "' and '" + names_[varied.follows] +
                     "' vary together in all captures, which allows " + varied.name + "=" + std::to_string(value(varied, point)));
  }
  return point;
}

Point Parameters::of(const Made& made) const {
  if (made.program != program_) {
    throw UsageError("'" + made.file + "' is a trace of " + made.program + ", '" + first_file_ + "' of " + program_);
  }
  const std::vector<Argument> words = words_of(made.arguments);
  std::map<std::string, std::int64_t> values;
  bool same = words.size() == words_.size();
  for (std::size_t w = 0; same && w < words.size(); ++w) {
    const bool varied = words_[w].varied && words[w].before == words_[w].text && words[w].value;
    if (varied) values[words[w].name] = *words[w].value;
    same = varied || (!words_[w].varied && words[w].text == words_[w].text);
  }
  if (!same) {
    throw UsageError("'" + made.file + "' has the arguments " + shown(made.arguments) + "; allowed: those of the captures (" +
                     shown(arguments(points_.front())) + ") with other whole numbers for what varies among them");
  }
  if (!threads_name_.empty()) {
    values[threads_name_] = made.threads;
  } else if (made.threads != threads_) {
    throw UsageError("'" + made.file + "' was captured with " + std::to_string(made.threads) + " threads, the others with " +
                     std::to_string(threads_));
  }
  return point_of(values, "'" + made.file + "'");
}

Point Parameters::of(const std::map<std::string, std::int64_t>& asked) const {
  std::vector<std::string> allowed;
  for (const Varied& varied : varied_) allowed.push_back(varied.name);
  for (const auto& entry : asked) {
    if (std::find(allowed.begin(), allowed.end(), entry.first) == allowed.end())
      throw UsageError(unknown_name("parameter that varies among the captures", entry.first, allowed));
  }
  return point_of(asked, "--set");
}

std::string Parameters::arguments(const Point& point) const {
  std::string result;
  std::size_t next = 0;
  for (const Word& word : words_) {
    if (!result.empty()) result += ' ';
    result += word.text;
    if (word.varied) result += std::to_string(value(varied_[next++], point));
  }
  return result;
}

std::uint32_t Parameters::threads(const Point& point) const {
  if (threads_name_.empty()) return threads_;
  const std::int64_t threads = value(varied_.back(), point);
  if (threads < 1) throw UsageError("a team of " + std::to_string(threads) + " threads; allowed: at least 1");
  return static_cast<std::uint32_t>(threads);
}

std::string Parameters::text(const Point& point) const {
  std::string result;
  for (const Varied& varied : varied_) result += (result.empty() ? "" : " ") + varied.name + "=" + std::to_string(value(varied, point));
  return result;
}

std::string Parameters::text(const std::vector<Point>& points) const {
  std::string result;
  for (const Point& point : points) result += (result.empty() ? "" : ", ") + text(point);
  return result;
}

}  // namespace homenode::parametric
