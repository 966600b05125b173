/// What to do when a finished file of the wished name is there.
package enum IfExists: String, Hashable, Sendable, CaseIterable {
    case rename
    case resume
    case overwrite
    case skip
    case fail
}
