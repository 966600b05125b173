import PawlTestKit

extension Dice {
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func chance(_ hits: Int, in throwsCount: Int) -> Bool { number(1...throwsCount) <= hits }
    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[number(0...choices.count - 1)] }
}
