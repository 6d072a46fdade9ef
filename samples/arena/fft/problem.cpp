// SPDX-License-Identifier: MIT
#include "samples/arena/fft/problem.hpp"

#include <complex>
#include <numbers>

namespace ptsched::fft {

namespace {

constexpr unsigned most_on_host = 14; /* log2 of samples */

using Complex = std::complex<double>;

/* By halves. */
std::vector<Complex> transform(const std::vector<Complex> &signal, double direction)
{
    const std::size_t half = signal.size() / 2;
    if (!half)
        return signal;
    std::vector<Complex> even(half), odd(half), spectrum(signal.size());
    for (std::size_t i = 0; i < half; i++) {
        even[i] = signal[2 * i];
        odd[i] = signal[2 * i + 1];
    }
    even = transform(even, direction);
    odd = transform(odd, direction);
    for (std::size_t i = 0; i < half; i++) {
        const double angle = direction * std::numbers::pi * static_cast<double>(i) / static_cast<double>(half);
        const Complex turned = std::polar(1.0, angle) * odd[i];
        spectrum[i] = even[i] + turned;
        spectrum[i + half] = even[i] - turned;
    }
    return spectrum;
}

} // namespace

/* Some frequencies, which fit, and a little noise. */
Problem::Problem(Shape of) : shape(of), measured_(of.count())
{
    constexpr unsigned frequencies[] = {3, 17, 40, 101};
    const double base = 2 * std::numbers::pi / of.count();
    std::vector<float> noise(of.count());
    samples::fill_at_random(noise, 1);
    samples::in_parts(of.count(), samples::part_elements, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; i++) {
            Complex sum = 0.01 * static_cast<double>(noise[i]);
            for (const unsigned frequency : frequencies)
                sum += std::polar(1.0, base * static_cast<double>(i * frequency % of.count()));
            if (is_measured(static_cast<unsigned>(i)))
                measured_[i] = {static_cast<float>(sum.real()), static_cast<float>(sum.imag())};
        }
    });
    if (of.log2 <= most_on_host)
        compute();
}

void Problem::restore(const Data &data) const
{
    samples::copy_all(measured_, data.signal.data());
    samples::copy_all(measured_, data.measured.data());
}

void Problem::weaken(std::span<Sample> spectrum, unsigned iteration) const
{
    const float least = std::ldexp(0.4F * static_cast<float>(shape.count()), -static_cast<int>(iteration));
    samples::in_parts(spectrum.size(), samples::part_elements, [&](std::size_t first, std::size_t count) {
        for (Sample &one : spectrum.subspan(first, count)) {
            const float size = std::sqrt(one.real * one.real + one.imaginary * one.imaginary);
            const float factor = size > least ? 1 - least / size : 0;
            one = {one.real * factor, one.imaginary * factor};
        }
    });
}

void Problem::compute()
{
    std::vector<Complex> signal(shape.count());
    std::vector<Sample> made(measured_);
    for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
        for (std::size_t i = 0; i < made.size(); i++)
            signal[i] = {made[i].real, made[i].imaginary};
        signal = transform(signal, -1);
        for (std::size_t i = 0; i < made.size(); i++)
            made[i] = {static_cast<float>(signal[i].real()), static_cast<float>(signal[i].imag())};
        weaken(made, iteration);
        for (std::size_t i = 0; i < made.size(); i++)
            signal[i] = {made[i].real, made[i].imaginary};
        signal = transform(signal, 1);
        for (unsigned i = 0; i < made.size(); i++) {
            const Complex own = signal[i] / static_cast<double>(made.size());
            made[i] =
                is_measured(i) ? measured_[i] : Sample{static_cast<float>(own.real()), static_cast<float>(own.imag())};
        }
    }
    const float *const first = &made[0].real;
    signal_.set({first, first + 2 * made.size()});
}

void Problem::check(const Data &data)
{
    signal_.check({&data.signal[0].real, 2 * data.signal.size()}, "the signal");
}

/*
 * A pass goes from the signal to an array that the GPU alone has, or back; threads keep the rest in registers. The
 * host reads and writes the spectrum, and what is put in is read and written.
 */
samples::Accesses Problem::accesses() const
{
    const double words = 2.0 * shape.count(), passes = 2.0 * shape.log2;
    return {shape.iterations * words * (passes + 4), shape.iterations * words * passes};
}

void Recovery::run()
{
    begin();
    for (unsigned iteration = 0; iteration < problem.shape.iterations; iteration++) {
        transform();
        problem.weaken(data().signal, iteration);
        end(samples::Part::host);
        transform_back();
    }
    finish();
}

void Recovery::launch_passes(Sample *signal, float direction) const
{
    const unsigned count = problem.shape.count();
    Sample *from = signal, *to = scratch_.data();
    for (unsigned done = 0; done < problem.shape.log2; done++) {
        samples::driver::launch(pass_, gpu.stream, {(count / 2 + threads - 1) / threads}, {threads},
                                static_cast<const Sample *>(from), to, count, done, direction);
        std::swap(from, to);
    }
}

void Recovery::launch_transform_back(Sample *signal, const Sample *measured) const
{
    const unsigned count = problem.shape.count();
    launch_passes(signal, 1);
    samples::driver::launch(blend_, gpu.stream, {(count + threads - 1) / threads}, {threads}, signal, measured, count);
}

} // namespace ptsched::fft
