extension Duration {
    /// The timeout of a test's waits.
    ///
    /// It only keeps a failing test from hanging, so it is far longer than anything takes: also under a sanitizer, on a
    /// machine with ten times its load.
    package static let patience = Duration.seconds(300)
}
