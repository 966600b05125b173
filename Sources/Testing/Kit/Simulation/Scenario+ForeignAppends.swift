// Other programs' changes to part files.
extension Scenario {
    /// Other programs append to part files, at any time and right after crashes.
    mutating func addForeignAppends() {
        guard dice.chance(0.12) else { return }
        for _ in 0..<dice.number(1...3) {
            let size = dice.pick([1, 4_096, dice.number(1...1 << 20), 3 << 20])
            let growth = Incident.grow(dice.below(downloads.count), by: size)
            if dice.chance(0.5) { foreignChanges.append(growth) } else { add(growth) }
        }
    }
}
