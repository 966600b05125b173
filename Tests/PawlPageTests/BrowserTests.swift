import Testing

/// What needs a browser, one test after another: a browser takes as much memory as everything else together.
@Suite(.serialized) enum BrowserTests {}
