// Where data goes: standard output or a file, written in large pieces, with failures remembered.
#pragma once

#include <dissect/capture/pending_file.hpp>
#include <transport-replay/report/held_text.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace qps::cli {

class Output {
public:
    // Opens the file for writing, standard output where there is no name. ok() says whether that worked. A file that is
    // one of the inputs is refused: it is evidence, and is not touched.
    //
    // A file takes its name at commit(): whatever was there stays until then, and for good where a command fails
    // before.
    explicit Output(std::string path, std::span<const std::string> inputs = {},
                    dissect::Readers readers = dissect::Readers::as_usual);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string_view text);
    // Begins anew: a file is empty again. What was printed cannot be taken back.
    void restart();
    // From here on the output waits, as far as there is room, so that it can be taken back. release()
    // prints it, and commit() does.
    void hold(const transport::MemoryBudget& budget);
    void release();
    [[nodiscard]] bool holds() const { return holds_; }
    // Whether there was no room for all of it, so that it has to be written anew.
    [[nodiscard]] bool let_go() const { return waiting_ && waiting_->let_go(); }
    // Writes out what is held back; call it after each piece of a live view.
    void flush();
    // The end: what was written is whole. Call it before the exit code is decided.
    void commit();

    [[nodiscard]] bool ok() const { return error_ == 0; }
    // The reader went away (a closed pipe): no failure, but nothing more is worth doing.
    [[nodiscard]] bool closed() const;
    // The output is one of the inputs: wrong use rather than a failure.
    [[nodiscard]] bool refused() const { return refused_; }
    // One sentence about the failure.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] bool is_terminal() const;

private:
    [[nodiscard]] bool can_be_emptied() const;  // it is a file
    void write_out(std::string_view text);
    std::string path_;
    std::optional<dissect::PendingFile> pending_;  // of a file
    dissect::Descriptor file_;
    int error_ = 0;
    bool refused_ = false;
    std::string held_;
    bool holds_ = false;
    std::optional<transport::HeldText> waiting_;  // where it is no file
};

}  // namespace qps::cli
