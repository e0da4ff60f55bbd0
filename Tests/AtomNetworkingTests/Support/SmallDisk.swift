#if os(Linux) && canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    /// A small disk that only this process sees, and that is unmounted with the
    /// object.
    ///
    /// A thread with its own mount namespace mounts it, so that nothing is left
    /// behind when the process ends. All other threads use the descriptor of
    /// its root.
    final class SmallDisk: Sendable {
        static let isAllowed: Bool = (try? SmallDisk(pages: 4) { _ in }) != nil

        private let folder: TemporaryFolder
        private let root: Int32
        private let pages: Int

        /// - Parameters:
        ///   - pages: The number of pages of 4 KB.
        ///   - files: How many files and folders there may be, with the root; 0 for any number.
        ///   - isReadOnly: Whether the disk is read-only after the preparation.
        ///   - prepare: Creates files on the disk; its argument is the path of
        ///     the root.
        init(
            pages: Int, files: Int = 0, isReadOnly: Bool = false,
            prepare: @escaping @Sendable (String) throws -> Void
        ) throws {
            let folder = try TemporaryFolder()
            // The thread doesn't capture the folder itself: it can't be removed
            // in the namespace in which the disk is mounted on it.
            let path = folder.url.path
            let done = DispatchSemaphore(value: 0)
            let result = Locked<Result<Int32, any Error>>(.failure(POSIXError(.EPERM)))
            Thread {
                defer { done.signal() }
                func mount(_ flags: Int, _ data: String?) throws {
                    guard Glibc.mount("tmpfs", path, "tmpfs", UInt(flags), data) == 0 else {
                        throw POSIXError(.EPERM)
                    }
                }
                do {
                    guard Self.unshareMounts(),
                        Glibc.mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
                    else { throw POSIXError(.EPERM) }
                    try mount(0, "size=\(pages * 4)k,nr_inodes=\(files),mode=700")
                    try prepare(path)
                    if isReadOnly { try mount(Int(MS_REMOUNT | MS_RDONLY), nil) }
                    let root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                    guard root >= 0 else { throw POSIXError(.EPERM) }
                    result.set(.success(root))
                } catch {
                    result.set(.failure(error))
                }
            }.start()
            guard done.wait(timeout: .now() + 240) == .success else { throw POSIXError(.ETIMEDOUT) }
            self.folder = folder
            self.pages = pages
            root = try result.value.get()
        }

        deinit {
            close(root)
        }

        /// Gives the calling thread its own mount namespace.
        private static func unshareMounts() -> Bool {
            // The module doesn't contain GNU's functions.
            guard let symbol = dlsym(nil, "unshare") else { return false }
            // The declaration in the manual page: int unshare(int flags).
            let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
            let newMounts: Int32 = 0x20000
            return unshare(newMounts) == 0
        }

        /// A path on the disk, for every thread.
        func path(_ name: String) -> String { "/proc/self/fd/\(root)/\(name)" }

        /// Fills what is left with a file “filler”.
        func fill() throws {
            let filler = try #require(fopen(path("filler"), "w"))
            defer { fclose(filler) }
            setvbuf(filler, nil, _IONBF, 0)
            let page = [UInt8](repeating: 0, count: 4_096)
            let written = (0...pages).prefix { _ in fwrite(page, 1, 4_096, filler) == 4_096 }
            try #require(written.count <= pages, "the disk has room for \(pages) pages")
        }
    }
#endif
