// refused: 'download(to:isResumable:identity:maximumSize:progress:)' is deprecated
import AtomNetworking
import Foundation

func load(_ service: Service, _ file: URL) async throws {
    // The closure is meant for the response.
    try await service.download(to: file) { print($0) }
}
