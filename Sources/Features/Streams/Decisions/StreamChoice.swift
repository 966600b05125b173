import PawlBase

/// Which of a stream's tracks are wanted.
package struct StreamChoice: Hashable, Sendable {
    package var quality = Quality.best
    package var audio = Languages.usual
    package var subtitles = Languages.none

    package init() {}

    /// `best`, `worst`, `720p`, `2500000` or `2500k`; a bare number under 5000 is a height.
    package enum Quality: Hashable, Sendable {
        /// The highest resolution, then the highest bandwidth.
        case best
        case worst
        /// In lines; without such a one, the next lower.
        case height(Int64)
        /// In bits for each second: the highest that is not above it.
        case bitrate(Int64)

        package init?(parsing text: String) {
            let bytes = text.utf8.map(\.lowercased)
            if bytes.elementsEqual("best".utf8) {
                self = .best
            } else if bytes.elementsEqual("worst".utf8) {
                self = .worst
            } else {
                let digits = bytes.prefix(while: \.isDigit)
                let unit = String(decoding: bytes[digits.endIndex...], as: UTF8.self)
                guard let number = digits.decimalNumber, let factor = Self.factors[unit],
                    1...Self.most / factor ~= number
                else { return nil }
                let isHeight = unit == "p" || unit.isEmpty && number < 5000
                self = isHeight ? .height(number) : .bitrate(number * factor)
            }
        }

        private static let factors: [String: Int64] = ["": 1, "p": 1, "k": 1000, "m": 1_000_000]
        /// 1 Tbit/s.
        private static let most: Int64 = 1_000_000_000_000

        /// What `init(parsing:)` reads as this.
        package var text: String {
            switch self {
            case .best: "best"
            case .worst: "worst"
            case .height(let lines): "\(lines)p"
            case .bitrate(let bits): bits < 5000 ? "\(bits / 1000)k" : "\(bits)"
            }
        }
    }

    /// `en,de`, `all` or `none`.
    package enum Languages: Hashable, Sendable {
        /// What the author of the stream prefers, else the first.
        case usual
        case all
        case none
        /// Language ranges (RFC 4647 §2.1) in lower case, in the user's order.
        case only([String])

        package init?(parsing text: String) {
            let bytes = text.utf8.map(\.lowercased)
            let items = bytes.pieces(between: .comma).map { $0.trimmed(\.isBlank) }
            let texts = items.map { String(decoding: $0, as: UTF8.self) }
            switch texts {
            case ["all"]: self = .all
            case ["none"]: self = .none
            default:
                guard texts.count <= 64, items.allSatisfy(Self.isRange), !texts.contains("all"), !texts.contains("none")
                else { return nil }
                self = .only(texts)
            }
        }

        private static func isRange(_ bytes: ArraySlice<UInt8>) -> Bool {
            bytes.pieces(between: .dash).allSatisfy { subtag in
                1...8 ~= subtag.count && subtag.allSatisfy { $0.isLetter || $0.isDigit }
            }
        }

        /// What `init(parsing:)` reads as this; `nil` for the usual ones.
        package var text: String? {
            switch self {
            case .usual: nil
            case .all: "all"
            case .none: "none"
            case .only(let ranges): ranges.joined(separator: ",")
            }
        }

        /// Whether a language range matches a tag: basic filtering (RFC 4647 §3.3.1), so that `en` matches `en-US`;
        /// codes of ISO 639-2 match those of ISO 639-1.
        package static func matches(_ range: String, _ tag: String) -> Bool {
            let (range, tag) = (LanguageCodes.preferred(range).utf8, LanguageCodes.preferred(tag).utf8)
            return tag.starts(with: range) && [nil, UInt8.dash].contains(tag.dropFirst(range.count).first)
        }
    }
}

extension StreamChoice {
    /// What variants of the same pictures differ in.
    package struct Variant: Hashable, Sendable {
        /// In pixels; 0 if it is not stated, or if there are no pictures.
        package var width: Int64
        package var height: Int64
        /// In bits for each second.
        package var bandwidth: Int64

        package init(width: Int64, height: Int64, bandwidth: Int64) {
            let limits: ClosedRange<Int64> = 0...1 << 31
            self.width = min(max(width, limits.lowerBound), limits.upperBound - 1)
            self.height = min(max(height, limits.lowerBound), limits.upperBound - 1)
            self.bandwidth = max(0, bandwidth)
        }

        fileprivate var rank: (Int64, Int64) { (width * height, bandwidth) }
    }

    /// The index of the variant that the quality asks for, with a sentence if another had to be taken; `nil` if there is
    /// none at all.
    ///
    /// Of equal ones the first is taken: the others are its mirrors.
    package func variant(among variants: [Variant]) -> (index: Int, notice: String?)? {
        let all = Array(variants.indices)
        // One without a height has sound only, which nobody means by `worst`.
        let withPictures = all.filter { variants[$0].height > 0 }
        let candidates = withPictures.isEmpty ? all : withPictures
        guard let best = Self.best(variants, candidates), let worst = Self.worst(variants, candidates) else {
            return nil
        }
        switch quality {
        case .best: return (best, nil)
        case .worst: return (worst, nil)
        case .height(let lines):
            guard !withPictures.isEmpty else { return (best, "No heights are stated: the best quality is taken.") }
            let fitting = candidates.filter { variants[$0].height <= lines }
            guard let height = fitting.map({ variants[$0].height }).max() else {
                return (worst, "There is no \(lines)p, nor less: \(variants[worst].height)p is taken.")
            }
            let chosen = Self.best(variants, fitting.filter { variants[$0].height == height }) ?? best
            return (chosen, height == lines ? nil : "There is no \(lines)p: \(height)p is taken.")
        case .bitrate(let bits):
            let fitting = candidates.filter { variants[$0].bandwidth <= bits }
            guard let most = fitting.map({ variants[$0].bandwidth }).max() else {
                let least = candidates.min { variants[$0].bandwidth < variants[$1].bandwidth } ?? worst
                return (least, "Nothing has \(bits) bit/s or less: \(variants[least].bandwidth) bit/s are taken.")
            }
            return (Self.best(variants, fitting.filter { variants[$0].bandwidth == most }) ?? best, nil)
        }
    }

    private static func best(_ variants: [Variant], _ candidates: [Int]) -> Int? {
        candidates.reduce(nil) { found, index in
            found.map { variants[$0].rank >= variants[index].rank } ?? false ? found : index
        }
    }

    private static func worst(_ variants: [Variant], _ candidates: [Int]) -> Int? {
        candidates.min { variants[$0].rank < variants[$1].rank }
    }
}

extension StreamChoice.Languages {
    /// The indexes of the tracks that are wanted, and the language ranges that match none.
    ///
    /// Each language range takes one track, in the user's order: the usual one if it matches, else the first.
    /// `tags` are the languages as stated, and `usual` is the index of the one that the author prefers.
    package func tracks(among tags: [String?], usual: Int?) -> (indexes: [Int], missing: [String]) {
        switch self {
        case .none: return ([], [])
        case .all: return (Array(tags.indices), [])
        case .usual: return (usual.map { [$0] } ?? Array(tags.indices.prefix(1)), [])
        case .only(let ranges):
            var indexes: [Int] = []
            var missing: [String] = []
            for range in ranges {
                let found = tags.indices.filter { index in tags[index].map { Self.matches(range, $0) } ?? false }
                guard let first = found.first else {
                    missing.append(range)
                    continue
                }
                let taken = usual.flatMap { found.contains($0) ? $0 : nil } ?? first
                if !indexes.contains(taken) { indexes.append(taken) }
            }
            return (indexes, missing)
        }
    }
}
