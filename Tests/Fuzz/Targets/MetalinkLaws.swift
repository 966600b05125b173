@testable import PawlBase
@testable import PawlIntegrity

/// Metalinks: whatever one contains, its files stay in their folder and its URLs are supported ones.
enum MetalinkLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let described = try? Metalink(bytes, needsSources: false)
        guard let metalink = try? Metalink(bytes) else { return }
        let usable = described?.files.filter { !$0.sources.isEmpty }
        try hold(usable == metalink.files, "other files than those with sources")
        try hold(!metalink.files.isEmpty, "no file")
        for file in metalink.files {
            for part in file.folders + [file.name] {
                try hold(FileName.isPossible(part), "no file can have the name \(part)")
                try hold(FileName.given(part) == part, "a name with what is invisible: \(part)")
            }
            try hold(!file.sources.isEmpty, "no source")
            for (source, next) in zip(file.sources, file.sources.dropFirst()) {
                try hold(source.priority <= next.priority, "the better source comes later")
            }
            for source in file.sources {
                try hold((try? WebAddress.parse(source.address.text)) != nil, "no address: \(source.address.text)")
            }
            for checksum in file.checksums {
                try hold(checksum.digest.count == checksum.algorithm.length, "a digest of another length")
            }
        }
    }
}
