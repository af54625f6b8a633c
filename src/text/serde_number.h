#pragma once

namespace lattice {

/// The value that the JSON reader of the Hugging Face package (serde_json in its default setting)
/// makes of the shortest decimal form of `value`. It converts the digits and scales them by a power
/// of ten, each rounded, so one in fifteen long fractions comes out one unit in the last place off.
/// Unigram scores must have these very values: ties between paths are decided by their last bits.
/// `value` is finite.
double serde_number(double value);

}  // namespace lattice
