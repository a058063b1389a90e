// The parameters in which the captures of one program differ: whole numbers among its arguments (`n=48`, `--n=48`) and the number of
// threads. Parameters that always vary together (ni = nj = nk) count as one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "traces/parametric/law.hpp"

namespace homenode::parametric {

// What one trace says of how it was made.
struct Made {
  std::string file;  // for messages
  std::string program, arguments;
  std::uint32_t threads = 1;
};

class Parameters {
public:
  // Throws UsageError if the captures are of different programs, differ in what is no whole number, or do not differ.
  explicit Parameters(const std::vector<Made>& captures);

  const std::vector<std::string>& names() const { return names_; }  // the independent ones
  const std::vector<Point>& captures() const { return points_; }
  // The point of another trace of the program. Throws UsageError if it differs from the captures in anything else.
  Point of(const Made&) const;
  // The point of the asked values. A parameter that is not asked stays as in the last capture. Throws UsageError for one that did not vary.
  Point of(const std::map<std::string, std::int64_t>& asked) const;
  // The program's arguments at a point, as it would have been called.
  std::string arguments(const Point&) const;
  std::uint32_t threads(const Point&) const;
  std::string text(const Point&) const;               // "ni=48 nj=48"
  std::string text(const std::vector<Point>&) const;  // "n=40, n=48, n=56"

private:
  struct Varied {
    std::string name;
    std::size_t follows = 0;                  // which independent parameter gives it
    std::int64_t first = 0, first_value = 0;  // value = first_value + (point[follows] - first) * rise / run
    std::int64_t rise = 1, run = 1;
  };
  struct Series {
    std::string name;
    std::vector<std::int64_t> values;  // one a capture
  };
  // What varies among the captures; notes the words of their arguments.
  std::vector<Series> series_of(const std::vector<Made>& captures);
  // Which of the independent parameters gives the values of `series`: none gives independent.size().
  static Varied follower_of(const Series& series, const std::vector<Series>& independent);
  std::int64_t value(const Varied&, const Point&) const;
  Point point_of(const std::map<std::string, std::int64_t>& values, const std::string& what) const;

  std::string program_, first_file_;
  struct Word {
    std::string text;  // "n=" of a varied number, else as it is
    bool varied = false;
  };
  std::vector<Word> words_;   // of the arguments
  std::string threads_name_;  // empty: all captures had as many
  std::uint32_t threads_ = 1;
  std::vector<Varied> varied_;
  std::vector<std::string> names_;
  std::vector<Point> points_;
};

}  // namespace homenode::parametric
