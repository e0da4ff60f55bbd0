import Foundation

/// A file, or a folder, identified by the folder that it is in and its name.
struct FilePlace: Hashable, Sendable {
    /// The absolute path of the folder, without a slash at its end.
    let folder: String
    var name: String

    init(_ url: URL) throws(FolderError) {
        guard url.isFileURL, ["", "localhost"].contains(url.host ?? "") else {
            throw .refused("its URL is not a local file URL")
        }
        let path = url.absoluteURL.path
        guard path.hasPrefix("/") else { throw .refused("its path is not absolute") }
        guard !path.utf8.contains(0) else { throw .refused("its path contains a NUL character") }
        // With a trailing dot or slash, the system would follow a link.
        var parts = path.split(separator: "/").filter { $0 != "." }
        guard let name = parts.popLast(), name != ".." else { throw .refused("its path doesn't name a file") }
        guard parts.last != ".." else { throw .refused("the path of its folder ends with ..") }
        self.name = String(name)
        folder = "/" + parts.joined(separator: "/")
    }

    var path: String { "\(folder)/\(name)" }
}
