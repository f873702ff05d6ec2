//! The heap of this process.

/// Returns memory that was freed to the kernel. The allocator of glibc keeps what one thread freed
/// for threads that come later, in places of its own for many of them: a process that starts threads
/// again and again would grow for a long time. Other allocators return memory by themselves.
pub fn return_freed_memory() {
    // SAFETY: the function takes a number and may be called by any thread at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
