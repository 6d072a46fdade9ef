// SPDX-License-Identifier: MIT
#include "libptsched/base/worker.hpp"
#include <ptsched/ptask/stream.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace ptsched::ptask {

class StreamReaderImpl {
public:
    StreamReaderImpl(Input &input, int fd);
    void request_stop() { worker_.request_stop(); }
    void wait() { worker_.wait(); }

private:
    void read(const Stop &stop);
    /* Null at the end of the file, or if it is to stop. */
    DatablockPtr next(const Stop &stop);
    /* What went wrong goes into the graph, and the end; throws it. */
    [[noreturn]] void fail(const Stop &stop, const std::string &text);
    /* False at the end of the file, or if it is to stop. */
    bool fill(const Stop &stop, std::byte *to);
    void finish(const Stop &stop);
    std::string problem() const;

    UniqueFd fd_;
    Input &input_;
    const Template form_;
    std::vector<std::byte> rest_; /* of a block that the end of the file has cut short */
    Worker worker_;
};

class StreamWriterImpl {
public:
    StreamWriterImpl(Output &output, int fd);
    void request_stop() { worker_.request_stop(); }
    void wait() { worker_.wait(); }

private:
    void write(const Stop &stop);
    bool write_block(const Stop &stop, int fd, const std::byte *from, std::size_t bytes);

    UniqueFd fd_;
    Output &output_;
    bool is_socket_ = false;
    std::size_t piece_ = PIPE_BUF; /* what is written at once */
    Worker worker_;
};

namespace {

bool try_again()
{
    return errno == EINTR || errno == EAGAIN;
}

const Template &streamed(const Input &input)
{
    const Template &form = input.port().options().form;
    if (form.layout == Layout::opaque || !form.bytes())
        throw Error(input.port().full_name() + " takes " + form.describe() +
                    ": a file has no borders between such blocks; a template of fixed or variable form would do");
    return form;
}

} // namespace

StreamReaderImpl::StreamReaderImpl(Input &input, int fd)
    : fd_(fd), input_(input), form_(streamed(input)), worker_([this](const Stop &stop) { read(stop); })
{
}

void StreamReaderImpl::read(const Stop &stop)
{
    while (DatablockPtr block = next(stop))
        if (!input_.send({std::move(block)}, {}, stop.token()))
            return;
    if (!stop.requested())
        finish(stop);
}

DatablockPtr StreamReaderImpl::next(const Stop &stop)
{
    auto fill_it = [&](void *to) { return fill(stop, static_cast<std::byte *>(to)); };
    try {
        return Datablock::filled(form_.bytes(), fill_it);
    } catch (const std::exception &error) {
        /* Also without memory: who pulls waits for it. */
        fail(stop, input_.port().full_name() + " cannot be read: " + error.what());
    }
}

void StreamReaderImpl::fail(const Stop &stop, const std::string &text)
{
    input_.send({nullptr, false, std::make_shared<const std::string>(text)}, {}, stop.token());
    input_.send({nullptr, true}, {}, stop.token());
    throw Error(text);
}

bool StreamReaderImpl::fill(const Stop &stop, std::byte *to)
{
    std::size_t got = 0;

    while (got < form_.bytes()) {
        if (!stop.await(fd_.get(), POLLIN))
            return false;
        ssize_t more = ::read(fd_.get(), to + got, form_.bytes() - got);
        if (more < 0 && !try_again())
            throw std::system_error(errno, std::generic_category());
        if (more == 0) {
            rest_.assign(to, to + got);
            return false;
        }
        got += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
    return true;
}

std::string StreamReaderImpl::problem() const
{
    const std::size_t left = form_.layout == Layout::variable ? rest_.size() % form_.stride : rest_.size();
    const std::size_t whole = form_.layout == Layout::variable ? form_.stride : form_.bytes();

    if (!left)
        return {};
    return "what " + input_.port().full_name() + " reads ends after " + std::to_string(left) + " of the " +
           std::to_string(whole) + " bytes of a " + (form_.layout == Layout::variable ? "record" : "block");
}

/* The end of the file. */
void StreamReaderImpl::finish(const Stop &stop)
{
    const std::string text = problem();

    if (std::size_t whole = rest_.size() - rest_.size() % form_.stride; form_.layout == Layout::variable && whole)
        input_.send({Datablock::of(rest_.data(), whole)}, {}, stop.token());
    if (!text.empty())
        fail(stop, text);
    input_.send({nullptr, true}, {}, stop.token());
}

StreamWriterImpl::StreamWriterImpl(Output &output, int fd)
    : fd_(fd), output_(output), worker_([this](const Stop &stop) { write(stop); })
{
}

void StreamWriterImpl::write(const Stop &stop)
{
    /* Closed however this ends: who reads at the other end waits for it. */
    const UniqueFd fd = std::move(fd_);
    struct stat status = {};
    if (fstat(fd.get(), &status) < 0)
        throw Error(system_error_text(output_.port().full_name() + " cannot be written"));
    is_socket_ = S_ISSOCK(status.st_mode);
    /* After poll(), a pipe or a terminal takes that much without blocking, a socket what it likes. */
    if (is_socket_ || S_ISREG(status.st_mode))
        piece_ = SSIZE_MAX;
    while (std::optional<Item> item = output_.take({}, stop.token())) {
        if (item->block &&
            !write_block(stop, fd.get(), static_cast<const std::byte *>(item->block->read()), item->block->bytes()))
            return;
        if (item->error)
            throw Error(*item->error);
        if (item->end_of_stream)
            return;
    }
}

bool StreamWriterImpl::write_block(const Stop &stop, int fd, const std::byte *from, std::size_t bytes)
{
    while (bytes) {
        if (!stop.await(fd, POLLOUT))
            return false;
        const std::size_t piece = std::min(bytes, piece_);
        ssize_t done = is_socket_ ? send(fd, from, piece, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(fd, from, piece);
        if (done < 0 && !try_again())
            throw Error(system_error_text(output_.port().full_name() + " cannot be written"));
        from += done > 0 ? done : 0;
        bytes -= done > 0 ? static_cast<std::size_t>(done) : 0;
    }
    return true;
}

StreamReader::StreamReader(Input &input, int fd) : impl_(std::make_unique<StreamReaderImpl>(input, fd)) {}

StreamReader::~StreamReader() = default;

void StreamReader::request_stop()
{
    impl_->request_stop();
}

void StreamReader::wait()
{
    impl_->wait();
}

StreamWriter::StreamWriter(Output &output, int fd) : impl_(std::make_unique<StreamWriterImpl>(output, fd)) {}

StreamWriter::~StreamWriter() = default;

void StreamWriter::request_stop()
{
    impl_->request_stop();
}

void StreamWriter::wait()
{
    impl_->wait();
}

} // namespace ptsched::ptask
