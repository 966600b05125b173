import CPawlSystem

/// The memory of a process that runs for weeks.
package enum SystemMemory {
    /// Makes the allocator return freed memory to the system soon; before any other thread is started.
    ///
    /// Otherwise each of several arenas keeps as much memory as it ever used at once.
    package static func keepSmall() { pawl_keep_memory_small() }

    /// Returns to the system what is free between blocks in use.
    package static func trim() { pawl_trim_memory() }
}
