#include "sim/base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>

#include "sim/base/errors.hpp"
#include "sim/base/power.hpp"
#include "sim/base/text.hpp"

namespace homenode {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 5> time_units{{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};  // in picoseconds
constexpr std::array<Unit, 9> byte_units{{{"B", 1},
                                          {"kB", 1e3},
                                          {"KiB", 1024.0},
                                          {"MB", 1e6},
                                          {"MiB", 1048576.0},
                                          {"GB", 1e9},
                                          {"GiB", 1073741824.0},
                                          {"TB", 1e12},
                                          {"TiB", 1099511627776.0}}};
constexpr std::array<Unit, 8> bandwidth_units{{{"B/s", 1},
                                               {"kB/s", 1e3},
                                               {"MB/s", 1e6},
                                               {"MiB/s", 1048576.0},
                                               {"GB/s", 1e9},
                                               {"GiB/s", 1073741824.0},
                                               {"TB/s", 1e12},
                                               {"TiB/s", 1099511627776.0}}};
constexpr std::array<Unit, 6> energy_units{{{"fJ", 1}, {"pJ", 1e3}, {"nJ", 1e6}, {"uJ", 1e9}, {"mJ", 1e12}, {"J", 1e15}}};  // in fJ
constexpr std::array<Unit, 4> power_units{{{"uW", 1}, {"mW", 1e3}, {"W", 1e6}, {"kW", 1e9}}};                               // in uW
constexpr std::array<Unit, 4> frequency_units{{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string allowed(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string{unit.name};
  return names;
}

[[noreturn]] void refuse(std::string_view kind, std::string_view text, const std::string& reason, std::span<const Unit> units) {
  throw UnitError("'" + brief(text) + "' is not a " + std::string{kind} + ": " + reason + "; allowed: a number and one of " +
                  allowed(units));
}

// The value in the base unit; `limit` keeps it inside the integer that holds it.
double parse(std::string_view kind, std::string_view text, std::span<const Unit> units, double limit) {
  const std::string_view body = trimmed(text);
  double number = 0;
  const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), number);
  if (status != std::errc{} || !std::isfinite(number)) refuse(kind, text, "it does not start with a number", units);
  if (std::signbit(number)) refuse(kind, text, "it is negative", units);
  const std::string_view name = trimmed({end, static_cast<std::size_t>(body.data() + body.size() - end)});
  if (name.empty()) refuse(kind, text, "its unit is missing", units);
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    if (number * unit.factor > limit) refuse(kind, text, "it is too large", units);
    return number * unit.factor;
  }
  refuse(kind, text, std::string{"'"}.append(brief(name)) + "' is no unit of it", units);
}

std::string number_text(double value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  return {buffer.data(), result.ptr};
}

// The shortest decimal number before `unit` that reads back as the same quantity; empty if none does.
template <class Quantity, class Parse>
std::string exact_text(Quantity quantity, double base_value, const Unit& unit, Parse parse_text) {
  for (int digits = 1; digits <= 17; ++digits) {
    std::array<char, 400> buffer{};
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), base_value / unit.factor, std::chars_format::general, digits);
    double rounded = 0;
    std::from_chars(buffer.data(), result.ptr, rounded);
    const std::string text = number_text(rounded) + " " + std::string{unit.name};
    try {
      if (parse_text(text) == quantity) return text;
    } catch (const UnitError&) { continue; }  // rounded up, it is beyond the largest
  }
  return {};
}

// The largest unit that leaves a number of at least 1 and reads back exactly; the base unit otherwise.
template <class Quantity, class Parse>
std::string readable(Quantity quantity, double base_value, std::span<const Unit> units, Parse parse_text) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (base_value < unit->factor && unit->factor > 1) continue;
    const std::string text = exact_text(quantity, base_value, *unit, parse_text);
    if (!text.empty()) return text;
  }
  return number_text(base_value) + " " + std::string{units.front().name};
}

}  // namespace

Time parse_time(std::string_view text) { return Time::picoseconds(std::llround(parse("time", text, time_units, 9.2e18))); }

Bytes parse_bytes(std::string_view text) {
  const double count = parse("size", text, byte_units, 9.2e18);
  if (count != std::floor(count)) refuse("size", text, "it is not a whole number of bytes", byte_units);
  return Bytes{static_cast<std::int64_t>(count)};
}

Bandwidth parse_bandwidth(std::string_view text) { return Bandwidth::bytes_per_second(parse("bandwidth", text, bandwidth_units, 1e300)); }

Frequency parse_frequency(std::string_view text) { return Frequency::hertz(parse("frequency", text, frequency_units, 1e300)); }

Energy parse_energy(std::string_view text) { return Energy::joules(parse("energy", text, energy_units, 1e300) / 1e15); }

Power parse_power(std::string_view text) { return Power::watts(parse("power", text, power_units, 1e300) / 1e6); }

std::string to_string(Energy energy) { return readable(energy, energy.joules() * 1e15, energy_units, parse_energy); }

std::string to_string(Power power) { return readable(power, power.watts() * 1e6, power_units, parse_power); }

std::string to_string(Time time) {
  if (time.count() == INT64_MIN) return std::to_string(time.count()) + " ps";  // it has no opposite
  if (time.count() < 0) return std::string{"-"}.append(to_string(Time{} - time));
  return readable(time, static_cast<double>(time.count()), time_units, parse_time);
}

std::string to_string(Bytes size) {
  if (size.count() == INT64_MIN) return std::to_string(size.count()) + " B";  // it has no opposite
  if (size.count() < 0) return std::string{"-"}.append(to_string(Bytes{} - size));
  for (auto unit = byte_units.rbegin(); unit != byte_units.rend(); ++unit) {  // whole multiples only: "5118 KiB", "8 GB", "100 B"
    const auto factor = static_cast<std::int64_t>(unit->factor);
    if (size.count() >= factor && size.count() % factor == 0) return std::to_string(size.count() / factor) + " " + std::string{unit->name};
  }
  return "0 B";
}

std::string to_string(Bandwidth bandwidth) {
  // Decimal units only: data sheets and papers write GB/s.
  static constexpr std::array<Unit, 5> decimal{{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}}};
  return readable(bandwidth, bandwidth.bytes_per_second(), decimal, parse_bandwidth);
}

std::string to_string(Frequency frequency) { return readable(frequency, frequency.hertz(), frequency_units, parse_frequency); }

}  // namespace homenode
