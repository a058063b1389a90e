// The assembler as a process of its own, for `homenode capture`.
//
//   assemble STREAM COUNTS CONTROL OUTPUT PROGRAM LABEL ARGUMENTS…
//
// STREAM and COUNTS are descriptors to read: the runtime's stream, the twin's counts. CONTROL is a socket to the capture: when it has
// counted, it says there how the program ended (`A` if somebody asked it to, `O` if not, then the reason); the end of that file
// without a word means that the capture was killed. What was assembled, or the error, goes there as one JSON line.
#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/assembler.hpp"

namespace {

using homenode::AssembleOptions;

int descriptor(std::string_view word) {
  int value = -1;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

std::string everything_from(int control) {
  std::string text;
  char some[512];
  for (;;) {
    const ssize_t got = ::read(control, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(some, static_cast<std::size_t>(got));
  }
}

AssembleOptions::Ending ending(int control) {
  const std::string said = everything_from(control);
  if (said.empty()) return {true, "homenode capture was killed"};
  return {said[0] == 'A', said.substr(1)};
}

nlohmann::json no_memory() {
  return {{"error", "Error"},
          {"message",
           "this machine's memory does not hold what the program does in one iteration, task or labelled stretch; "
           "capture a smaller problem"}};
}

nlohmann::json assembled(int stream, const AssembleOptions& options) {
  try {
    const homenode::AssembleResult result = homenode::assemble(stream, options);
    return {{"hash", result.content_hash},
            {"has_begun", result.has_begun},
            {"complete", result.complete},
            {"accesses", result.accesses},
            {"exit_status", result.exit_status}};
  } catch (const homenode::InputError& error) {
    return {{"error", "InputError"}, {"message", error.what()}};
  } catch (const std::bad_alloc&) { return no_memory(); } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) return no_memory();  // for the stack of a thread
    return {{"error", "Error"}, {"message", error.what()}};
  } catch (const std::exception& error) { return {{"error", "Error"}, {"message", error.what()}}; }
}

}  // namespace

int main(int count, char** words) {
  if (count < 7) return 2;
  std::signal(SIGPIPE, SIG_IGN);
  // Buffers of a few MB come and go by the thousand: memory that is given back to the kernel each time is zeroed each time.
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that is taken
  ::mallopt(M_TOP_PAD, 64 << 20);
  const int stream = descriptor(words[1]), control = descriptor(words[3]);
  AssembleOptions options;
  options.work = std::string{"/dev/fd/"} + words[2];
  options.output = words[4];
  options.program = words[5];
  options.label = words[6];
  options.arguments.assign(words + 7, words + count);
  options.ending = [&] { return ending(control); };
  const std::string answer = assembled(stream, options).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  // Nobody reads it where the capture is gone.
  return ::send(control, answer.data(), answer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(answer.size()) ? 0 : 1;
}
