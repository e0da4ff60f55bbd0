import ArgumentParser
import AtomNetworking
import Foundation

/// The options that keep responses, and use them again.
struct CacheOptions: ParsableArguments {
    /// How long a response is used after it has become stale, if the server can't be asked.
    static let longest = Duration.seconds(86_400)

    @Option(
        name: .customLong("cache"),
        help: .init(
            """
            Keep responses in this folder, and use them as long as they are fresh; for a day more, if the server can't \
            be reached or says that it fails. Responses to signed requests are not kept.
            """, valueName: "folder"),
        completion: .directory)
    var path: String?

    @Flag(help: "Send nothing, but use what is kept, also if it is stale by up to a day.")
    var offline = false

    func validate() throws {
        guard path != nil || !offline else { throw ValidationError("--offline requires --cache.") }
    }

    /// The cache of the folder; `nil` if there is none.
    func makeCache() -> ResponseCache? {
        path.map { ResponseCache(disk: .init(folder: URL(fileURLWithPath: $0, isDirectory: true))) }
    }

    /// How a request uses the cache.
    var caching: ResponseCaching {
        // The tool ends before a response could come that nobody waits for.
        offline
            ? .onlyIfCached(maxStale: Self.longest)
            : .whileCacheFresh(staleWhileRevalidate: .zero, staleIfError: Self.longest)
    }
}
