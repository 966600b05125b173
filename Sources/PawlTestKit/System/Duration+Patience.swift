extension Duration {
    /// How long a test waits for what has to come.
    ///
    /// It only keeps a failing test from hanging, so it is far longer than anything takes: also under a sanitizer, on a
    /// machine that has ten times the work that it can do.
    package static let patience = Duration.seconds(300)
}
