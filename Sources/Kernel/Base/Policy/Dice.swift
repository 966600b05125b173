/// A random source that is a value.
///
/// The same seed gives the same numbers (SplitMix64, Steele, Lea and Flood 2014).
package struct Dice: Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform in `[0, 1)`.
    package mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
