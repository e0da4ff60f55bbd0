import AtomNetworking
import Foundation
import Observation

/// Sends a document, with its progress.
@Observable
public final class DocumentUpload {
    /// How far an upload is.
    public enum Phase: Equatable {
        case ready
        /// The fraction that is sent, from 0 to 1; `nil` if it isn't known.
        case sending(fraction: Double?)
        case sent(bytes: Int)
        case failed(String)
    }

    /// How far the last upload is.
    public private(set) var phase = Phase.ready

    @ObservationIgnored private var running: Task<Void, Never>?
    /// Counts the uploads: a report of an older one is dropped.
    @ObservationIgnored private var number = 0
    private let service: AirlineService

    /// Creates an upload over a service.
    public init(_ service: AirlineService) {
        self.service = service
    }

    /// Starts to send a file; does nothing while another one is sent.
    ///
    /// The upload goes on if the view that started it disappears.
    ///
    /// - Returns: Its task, for tests.
    @discardableResult
    public func send(_ file: URL) -> Task<Void, Never> {
        if let running { return running }
        phase = .sending(fraction: 0)
        number += 1
        let task = Task {
            await upload(file)
            running = nil
        }
        running = task
        return task
    }

    /// Stops the upload.
    public func cancel() {
        running?.cancel()
    }

    private func upload(_ file: URL) async {
        let request = service.atom.enqueue(AccountEndpoint.document(service.base, file))
        let number = number
        do {
            let receipt = try await request.resume(
                progress: TransferProgress.onMainActor { [weak self] in self?.report($0, of: number) },
                expecting: Receipt.self)
            phase = .sent(bytes: receipt.bytes)
        } catch {
            phase = ErrorMessage.text(for: error).map { .failed($0) } ?? .ready
        }
    }

    /// Reports may arrive in another order, and after the end.
    private func report(_ progress: TransferProgress, of number: Int) {
        guard number == self.number, case .sending(let fraction) = phase else { return }
        phase = .sending(fraction: progress.fraction.map { max($0, fraction ?? 0) })
    }
}
