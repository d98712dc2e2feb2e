// Where data goes: standard output or a file, written in large pieces, with failures remembered.
#pragma once

#include <cli/options.hpp>

#include <string>
#include <string_view>

namespace qps::cli {

class Output {
public:
    // Opens options.output for writing, standard output where it is empty. ok() says whether that worked. A file that
    // is one of the inputs is refused: it is evidence, and is not touched.
    explicit Output(const Options& options);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string_view text);
    // Begins anew: a file is empty again. What was printed cannot be taken back.
    void restart();
    // Writes out what is held back; call it before the exit code is decided, and after each piece of a live view.
    void flush();

    [[nodiscard]] bool ok() const { return error_ == 0; }
    // The reader went away (a closed pipe): no failure, but nothing more is worth doing.
    [[nodiscard]] bool closed() const;
    // The output is one of the inputs: wrong use rather than a failure.
    [[nodiscard]] bool refused() const { return refused_; }
    // One sentence about the failure.
    [[nodiscard]] std::string problem() const;
    [[nodiscard]] bool is_terminal() const;

private:
    void write_out(std::string_view text);
    int descriptor_ = -1;
    int error_ = 0;
    bool refused_ = false;
    std::string path_;
    std::string held_;
};

}  // namespace qps::cli
