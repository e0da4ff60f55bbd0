#if os(Linux)
    import Foundation
    import Glibc

    @testable import AtomNetworkingTesting

    /// A TCP server that knows nothing of HTTP; each connection has a thread.
    ///
    /// The loopback server reads a request before it answers, and this one does
    /// what its handler does.
    final class ByteServer: Sendable {
        /// The server's end of a connection.
        struct Line: Sendable {
            fileprivate let socket: Socket

            /// Writes all bytes; `false` when the client has left.
            @discardableResult
            func write(_ text: String) -> Bool { write(Data(text.utf8)) }

            @discardableResult
            func write(_ data: Data) -> Bool { data.withUnsafeBytes { socket.sendAll($0) } }

            /// The next bytes that have come in; empty at the end.
            func read(atMost size: Int = 65_536) -> Data {
                withUnsafeTemporaryAllocation(byteCount: size, alignment: 1) { buffer in
                    let count = socket.receive(into: buffer)
                    return count > 0 ? Data(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : Data()
                }
            }

            /// The bytes up to the end of a head, and none of what follows it.
            func readHead() -> String { String(decoding: readOctets(), as: UTF8.self) }

            func readOctets() -> Data {
                var head = Data()
                while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                    let part = read(atMost: 1)
                    if part.isEmpty { break }
                    head += part
                }
                return head
            }

            /// Whether the other side's system has all that was written.
            var hasArrived: Bool {
                var unacknowledged: Int32 = 0
                return ioctl(socket.descriptor, UInt(TIOCOUTQ), &unacknowledged) == 0 && unacknowledged == 0
            }

            /// Waits for the end of the other side.
            func drain() { while !read().isEmpty {} }
        }

        /// How the server ends a connection.
        enum Ending {
            case close
            /// With a reset, not with an end of file.
            case reset
        }

        let port: Int
        private let lines = Locked<(open: Set<Int32>, count: Int)>(([], 0))
        private let threads = ServerThreads(name: "Bytes")

        /// - Parameter handler: Serves a connection, on its thread; the server
        ///   ends it afterwards.
        init(handler: @escaping @Sendable (Line) -> Ending) throws {
            let listener: Socket
            (listener, port) = try Socket.listening(ipv6: false, port: 0)
            threads.startAccepting(on: listener) { [lines, threads] socket in
                lines.with {
                    $0.open.insert(socket.descriptor)
                    $0.count += 1
                }
                threads.startServing {
                    let ending = handler(Line(socket: socket))
                    // Nobody shuts a descriptor down that may be another's.
                    lines.with { _ = $0.open.remove(socket.descriptor) }
                    switch ending {
                    case .close:
                        socket.shutDown()
                        socket.discard()
                    case .reset:
                        socket.closeWithReset()
                    }
                }
            }
        }

        /// How many connections have been made.
        var connectionCount: Int { lines.value.count }

        /// How many of them are open.
        var openConnections: Int { lines.value.open.count }

        func stop() {
            lines.with { lines in
                for descriptor in lines.open { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
            threads.stop()
        }
    }
#endif
