// Commands: the tree of `rondo`'s subcommands and what each of them runs.
//
// Every command registers its CLI11 subcommand together with the function to
// call when that subcommand was named. Run() parses, prints help or the
// refusal, or calls the one function.
//
// Thread-safety: one thread. Ownership: Commands owns the App and everything
// that Add() was given. Failure: Run() returns an ExitStatus, never throws.
//
// Example:
//   Commands commands;
//   AddInfoCommand(&commands);
//   return commands.Run({.arguments = {"info"}});
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "perf/cli/exit_status.h"
#include "transports/base/environment.h"

namespace rondo::perf {

// What was typed, and where.
struct Invocation {
  std::vector<std::string> arguments = {};  // without the program's name
  EnvironmentReader environment = {};
};

class Commands {
 public:
  using Body = std::function<int(const Invocation&)>;

  Commands();

  // Groups such as `perf` have no body; they need one of their subcommands.
  CLI::App* AddGroup(const std::string& name, const std::string& description);
  // `parent` is null for a command directly below `rondo`. `examples` are shown
  // at the end of its --help, above the exit statuses.
  CLI::App* Add(CLI::App* parent, const std::string& name,
                const std::string& description, const std::string& examples,
                Body body);

  int Run(const Invocation& invocation);

 private:
  struct Entry {
    CLI::App* app;
    Body body;
  };

  int Refuse(const CLI::ParseError& error);

  CLI::App root_;
  std::vector<Entry> entries_;
};

}  // namespace rondo::perf
