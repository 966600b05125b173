import Testing

/// Tests that need a browser, one after another: a browser takes as much memory as everything else together.
@Suite(.serialized) enum BrowserTests {}
