// homenode-mca: a request on standard input, the cycles of its blocks on standard output. A process of its own, since LLVM ends it on some
// inputs. With --host it prints what LLVM calls this host's core, an empty line if LLVM does not know it. Exit code 2: the input is at
// fault.
#include <exception>
#include <iostream>
#include <string>

#include "models/core/core_request.hpp"
#include "models/core/core_target.hpp"
#include "models/core/core_times.hpp"
#include "sim/base/errors.hpp"

int main(int count, char** words) {
  try {
    if (count == 2 && std::string{words[1]} == "--host") {
      std::cout << homenode::host_cpu() << '\n';
      return 0;
    }
    if (count == 2 && std::string{words[1]} == "--cpus") {
      for (const std::string& name : homenode::cpu_names()) std::cout << name << '\n';
      return 0;
    }
    if (count > 1)
      throw homenode::UsageError("found '" + std::string{words[1]} +
                                 "'; allowed: --host, --cpus, or nothing and a request on standard input");
    const homenode::CoreRequest request = homenode::read_core_request(std::cin);
    const std::string answer = homenode::core_times_json(request, homenode::core_times(request));
    std::cout << answer << std::endl;
    return std::cout ? 0 : 1;
  } catch (const homenode::InputError& error) {
    std::cerr << "homenode-mca: " << error.what() << '\n';
    return 2;
  } catch (const homenode::UsageError& error) {
    std::cerr << "homenode-mca: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "homenode-mca: " << error.what() << '\n';
    return 1;
  }
}
