#include "models/code/answers.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sim/base/errors.hpp"

extern char** environ;

namespace homenode {
namespace {

// Of what the program answers: raised whenever its keys, or what they mean, change. 2: `wide_256` and `wide_512`. 3: `loads`
// and `waited`. 4: `busiest`, `fetching`. 5: `loads` by instruction.
constexpr int form_of_answers = 5;

// Which program answered is part of the key: another version of LLVM says something else. So is the answer's form: an installed program
// may have the size and the time of the one before it.
std::string key_of(const std::string& request, const std::filesystem::path& program) {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(program, error).time_since_epoch().count();
  const std::string text = request + std::to_string(std::filesystem::file_size(program, error)) + ' ' + std::to_string(changed) + " form " +
                           std::to_string(form_of_answers);
  const XXH128_hash_t digest = XXH3_128bits(text.data(), text.size());
  std::array<char, 33> key{};
  std::snprintf(key.data(), key.size(), "%016llx%016llx", static_cast<unsigned long long>(digest.high64),
                static_cast<unsigned long long>(digest.low64));
  return key.data();
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files of one question, removed in the end.
class Scratch {
public:
  explicit Scratch(const std::filesystem::path& folder) {
    std::string name = (folder / "asked-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw UsageError("cannot write '" + folder.string() + "': " + std::strerror(errno));
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const char* name) const { return folder_ / name; }

private:
  std::filesystem::path folder_;
};

void run_program(const std::filesystem::path& program, const Scratch& scratch) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int made = O_WRONLY | O_CREAT | O_EXCL;
  posix_spawn_file_actions_addopen(&files, 0, (scratch / "request").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (scratch / "answer").c_str(), made, 0666);
  posix_spawn_file_actions_addopen(&files, 2, (scratch / "errors").c_str(), made, 0666);
  std::string name = program.string();
  std::array<char*, 2> words{name.data(), nullptr};
  pid_t process = 0;
  const int failed = posix_spawn(&process, program.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw UsageError("the core model '" + program.string() + "' cannot be run: " + std::strerror(failed));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {}
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::string said = read_whole(scratch / "errors");
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) throw UsageError("core model: " + said);
  throw InputError("the core model did not end well on this trace's code (" + said.substr(0, 500) + "); --core classes does without it");
}

}  // namespace

std::string answer_to(const std::string& request, const CoreModelFiles& files) {
  std::error_code ignored;
  std::filesystem::create_directories(files.answers, ignored);
  const std::filesystem::path kept = files.answers / (key_of(request, files.program) + ".json");
  if (std::filesystem::is_regular_file(kept, ignored)) return read_whole(kept);
  // Beside the answers if that folder can be written.
  const bool keeps = access(files.answers.c_str(), W_OK) == 0;
  const Scratch scratch{keeps ? files.answers : std::filesystem::temp_directory_path()};
  std::ofstream{scratch / "request", std::ios::binary} << request;
  run_program(files.program, scratch);
  std::string answer = read_whole(scratch / "answer");
  if (keeps) std::filesystem::rename(scratch / "answer", kept, ignored);
  return answer;
}

}  // namespace homenode
