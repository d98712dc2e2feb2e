#include <CLI/CLI.hpp>
#include <cli/options/extract_options.hpp>
#include <cli/quantity.hpp>

#include <string>

#include <fmt/format.h>

namespace qps::cli {

void add_extract_options(CLI::App& app, ExtractOptions& options) {
    app.add_option("--finding", options.findings,
                   "Keep the connections of this finding, by its id or its place in the list (see qpscope findings)")
        ->delimiter(',')
        ->type_name("ID|N")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option_function<std::string>(
           "--around",
           [&options](const std::string& text) {
               const auto time = read_time(text);
               if (!time) throw CLI::ValidationError(time.error());
               options.around = *time;
           },
           "Keep only packets this close to those that prove the finding, and the set-up of its connection: 50ms, ...")
        ->type_name("TIME");
    app.add_flag("--everything", options.everything,
                 "With --around: keep packets of all connections, and those of none");
}

}  // namespace qps::cli
