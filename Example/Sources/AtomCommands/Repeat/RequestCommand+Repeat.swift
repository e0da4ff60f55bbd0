import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

extension RequestCommand {
    /// Sends the request many times with one service, and prints the counts.
    ///
    /// - Parameters:
    ///   - repetition: How often, and how many at once.
    ///   - requestBody: The body of each request.
    ///   - output: Gets the report.
    ///   - notes: Gets the progress, and the error if nothing could be sent.
    func perform(
        _ repetition: Repetition, with requestBody: RequestBody?, output: Terminal, notes: Terminal
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        // Not a WireTap, whose records would fill the memory.
        let transport = try transportOptions.makeTransport()
        if let connections = transport.exchangesPerOrigin, connections < repetition.concurrency {
            notes.print(
                """
                Over HTTP/1.1 at most \(connections) requests are on the wire at once; the time in which the others \
                wait for a connection is part of their latency.
                """)
        }
        let progress = ProgressBar("Requests", total: repetition.requests, on: notes)
        let (exchange, method, url) = (exchange, method, url)
        let recorder = exports.archive.makeRecorder()
        let observers = exports.observers(notes: notes) + [recorder].compactMap(\.self)
        let (result, signal) = await exchange.send(over: transport, toldTo: observers) { () throws(AtomError) in
            try exchange.request(method, url, body: requestBody)
        } _: { service in
            await repetition.run(service) { progress.advance() }
        }
        progress.finish()
        let isWritten = exports.archive.write(recorder, notes: notes)
        switch result {
        case .success(let report):
            report.show(on: output, advice: report.firstFailure.flatMap { exchange.advice(on: $0) })
            let status = RequestExitStatus(report.result, signal: signal)
            return status == .success && !isWritten ? .fileFailed : status
        case .failure(let error):
            let printer = ResponsePrinter(
                body: output, notes: notes, includesHead: false, isQuiet: false, writeBytes: { _ in })
            printer.show(error, seconds: stopwatch.seconds, advice: exchange.advice(on: error))
            return RequestExitStatus(result, signal: signal)
        }
    }
}
