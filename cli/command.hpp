// The sub-commands that read captures, and doctor: one function each, from options to an exit code.
#pragma once

#include <cli/exit_code.hpp>
#include <cli/options.hpp>

namespace qps::cli {

[[nodiscard]] ExitCode run_analyze(const Options& options);
[[nodiscard]] ExitCode run_check(const Options& options);
[[nodiscard]] ExitCode run_connections(const Options& options);
[[nodiscard]] ExitCode run_messages(const Options& options);
[[nodiscard]] ExitCode run_operations(const Options& options);
[[nodiscard]] ExitCode run_findings(const Options& options);
[[nodiscard]] ExitCode run_export(const Options& options);
[[nodiscard]] ExitCode run_merge(const Options& options);
[[nodiscard]] ExitCode run_cm(const Options& options);
[[nodiscard]] ExitCode run_fabric(const Options& options);
[[nodiscard]] ExitCode run_timeline(const Options& options);
[[nodiscard]] ExitCode run_follow(const Options& asked);
[[nodiscard]] ExitCode run_info(const Options& asked);
[[nodiscard]] ExitCode run_packets(const Options& options);
[[nodiscard]] ExitCode run_show(const Options& options);
[[nodiscard]] ExitCode run_report(const Options& asked);
[[nodiscard]] ExitCode run_annotate(const Options& options);
[[nodiscard]] ExitCode run_anonymize(const Options& asked);
[[nodiscard]] ExitCode run_doctor(const Options& options);
[[nodiscard]] ExitCode run_extract(const Options& options);
[[nodiscard]] ExitCode run_fields(const Options& options);

}  // namespace qps::cli
