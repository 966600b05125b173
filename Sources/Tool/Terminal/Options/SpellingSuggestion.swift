/// The candidate that a misspelt word most likely meant; `nil` if none is close enough.
///
/// Close means at most a third of the letters inserted, deleted, replaced or swapped with their neighbour.
package func spellingSuggestion(for word: String, among candidates: [String]) -> String? {
    let letters = Array(word.drop { $0 == "-" }.lowercased())
    guard letters.count > 1 else { return nil }
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
        let distance = editDistance(letters, Array(candidate.lowercased()))
        guard distance <= max(1, letters.count / 3), distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.candidate ?? candidates.first { letters.count > 2 && $0.hasPrefix(String(letters)) }
}

/// Optimal string alignment distance.
private func editDistance(_ left: [Character], _ right: [Character]) -> Int {
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in 1...left.count {
        var current = [row] + [Int](repeating: 0, count: right.count)
        for column in 1...right.count {
            let cost = left[row - 1] == right[column - 1] ? 0 : 1
            current[column] = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
            let swapped =
                row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1]
            if swapped { current[column] = min(current[column], beforeLast[column - 2] + 1) }
        }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
