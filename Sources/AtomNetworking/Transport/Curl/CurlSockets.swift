#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// The sockets of a transport: those that libcurl waits for, and those that are kept although nobody uses them.
    ///
    /// Only the loop's thread uses it. libcurl would take what a server has sent
    /// unasked over a kept connection for the next response. So one with anything to
    /// read is shut down here: while it is idle, and directly before a request is sent.
    final class CurlSockets {
        /// A transfer's use of a socket.
        struct Use: Equatable {
            var descriptor: CInt
            fileprivate var serial: Int
            static let none = Use(descriptor: -1, serial: 0)
        }

        private struct Socket {
            /// The system gives numbers out again; this tells their sockets apart.
            var serial = 0
            /// What libcurl waits for.
            var wanted: CInt = 0
            /// What the system has been told to watch for.
            var watched: CInt = 0
            var users = 0
            var port: UInt16 = 0
            /// Whether it was opened for a transfer, so that its closing is noticed.
            var isOwn = false
            /// Whether a response has shown that it carries one exchange at a time.
            var isSingle = false
            /// Whether libcurl may have more of it in memory than it has looked at.
            var isRestless = false
            /// When something came that may be for several exchanges, in nanoseconds.
            var heard: UInt64 = 0
            /// The TLS session of HTTP/2, until the server has said something: first, how many exchanges it takes at once
            /// (RFC 9113 §3.4).
            var unheardSession: UnsafeRawPointer?
            /// Whether nothing has come for too long: no exchange may begin on it.
            var isSilent = false
            /// Whether it was shut down, since it had ended while nobody used it.
            var isDead = false
            /// Whether nothing is to be read, since a receiver has to catch up.
            var isHeld = false

            /// What libcurl waits for and may be told.
            var open: CInt { isHeld ? wanted & ~ATOM_CURL_POLL_IN : wanted }
        }

        private let poll: CInt
        private let bell: CInt
        let watch = CurlWatch()
        // Only the loop's thread uses these, and no two accesses overlap (SE-0176).
        @exclusivity(unchecked) private var sockets: [Socket] = []
        @exclusivity(unchecked) private var events = [atom_ready](repeating: atom_ready(), count: 64)
        /// The kept connections by their ports on this machine; -1 for a port of two of them, at different addresses.
        @exclusivity(unchecked) private var descriptors: [UInt16: CInt] = [:]
        /// Whether a kept connection has ended since this was set back.
        @exclusivity(unchecked) var hasEnded = false
        /// How many of those that were shut down libcurl hasn't closed.
        @exclusivity(unchecked) private(set) var deadCount = 0

        /// `nil` if the process has no descriptors left.
        init?(bell: CInt) {
            self.bell = bell
            poll = atom_poll_make()
            guard poll >= 0 else { return nil }
            atom_poll_watch(poll, bell, Self.readable, 0)
        }

        deinit { atom_poll_free(poll) }

        private static let readable = ATOM_CURL_POLL_IN
        private static let writable = ATOM_CURL_POLL_OUT

        private func setWatched(_ events: CInt, _ descriptor: Int) {
            let before = sockets[descriptor].watched
            guard events != before else { return }
            atom_poll_watch(poll, CInt(descriptor), events, before)
            sockets[descriptor].watched = events
        }

        private func makeRoom(for descriptor: CInt) {
            while sockets.count <= Int(descriptor) { sockets.append(Socket()) }
        }
    }

    // MARK: - Told by libcurl

    extension CurlSockets {
        /// libcurl waits for `ATOM_CURL_POLL_IN` and `ATOM_CURL_POLL_OUT` from now on.
        func want(_ what: CInt, of descriptor: CInt) {
            makeRoom(for: descriptor)
            let index = Int(descriptor)
            let wanted = what & (Self.readable | Self.writable)
            let isOver = what & ATOM_CURL_POLL_REMOVE != 0
            sockets[index].wanted = isOver ? 0 : wanted
            if !isOver {
                setWatched(sockets[index].open, index)
            } else if !sockets[index].isOwn {
                // It may be closed without a word.
                setWatched(0, index)
                sockets[index] = Socket(serial: sockets[index].serial + 1)
            } else if sockets[index].watched & Self.writable != 0 {
                setWatched(Self.readable, index)
            }
            // Otherwise the next request will want just the same.
        }

        func opened(_ descriptor: CInt) {
            makeRoom(for: descriptor)
            sockets[Int(descriptor)] = Socket(serial: sockets[Int(descriptor)].serial + 1, isOwn: true)
            watch.opened(descriptor)
        }

        /// Something has come within TLS; returns whether that was waited for.
        func heard(in session: UnsafeRawPointer?) -> Bool {
            guard let session, let index = sockets.firstIndex(where: { $0.unheardSession == session }) else {
                return false
            }
            sockets[index].unheardSession = nil
            return true
        }

        func closing(_ descriptor: CInt) {
            watch.closing(descriptor)
            let index = Int(descriptor)
            guard sockets.indices.contains(index) else { return }
            setWatched(0, index)
            let port = sockets[index].port
            if sockets[index].isDead { deadCount -= 1 }
            sockets[index] = Socket(serial: sockets[index].serial + 1)
            guard port != 0 else { return }
            if descriptors[port] == descriptor {
                descriptors[port] = nil
            } else {
                // Of two at different addresses one is left.
                let others = sockets.indices.filter { sockets[$0].port == port }
                descriptors[port] = others.count > 1 ? -1 : others.first.map { CInt($0) }
            }
        }
    }

    // MARK: - Told by transfers

    extension CurlSockets {
        /// A transfer uses the socket from now on; -1 for none.
        func use(_ descriptor: CInt, insteadOf before: Use) -> Use {
            guard descriptor != before.descriptor || !isCurrent(before) else { return before }
            if isCurrent(before) { leave(Int(before.descriptor)) }
            guard descriptor >= 0 else { return .none }
            makeRoom(for: descriptor)
            sockets[Int(descriptor)].users += 1
            return Use(descriptor: descriptor, serial: sockets[Int(descriptor)].serial)
        }

        private func leave(_ index: Int) {
            sockets[index].users -= 1
            sockets[index].isHeld = false
            // A paused transfer may have left something in it.
            if sockets[index].users == 0, sockets[index].isOwn, sockets[index].wanted == 0 {
                setWatched(Self.readable, index)
            }
            if sockets[index].users == 0, sockets[index].isSilent { shutDown(index) }
        }

        /// Leaves a paused transfer's socket unread, for which libcurl 8.5 still asks.
        func hold(_ use: Use) {
            // The others on a connection need what arrives.
            guard isCurrent(use), sockets[Int(use.descriptor)].isSingle else { return }
            sockets[Int(use.descriptor)].isHeld = true
            setWatched(sockets[Int(use.descriptor)].open, Int(use.descriptor))
        }

        func letGo(_ use: Use) {
            guard isCurrent(use), sockets[Int(use.descriptor)].isHeld else { return }
            sockets[Int(use.descriptor)].isHeld = false
            setWatched(sockets[Int(use.descriptor)].wanted, Int(use.descriptor))
        }

        private func isCurrent(_ use: Use) -> Bool {
            sockets.indices.contains(Int(use.descriptor)) && sockets[Int(use.descriptor)].serial == use.serial
        }

        /// Finds the socket of a new connection, whose port is known only now.
        func connected(_ likely: CInt, port: UInt16) -> CInt {
            var found = likely
            if !isConnected(likely, at: port) {
                let other = sockets.indices.first {
                    sockets[$0].isOwn && sockets[$0].port == 0 && isConnected(CInt($0), at: port)
                }
                guard let other else { return -1 }
                found = CInt(other)
            }
            sockets[Int(found)].port = port
            descriptors[port] = descriptors[port] == nil ? found : -1
            return found
        }

        private func isConnected(_ descriptor: CInt, at port: UInt16) -> Bool {
            var address = sockaddr_in6()
            var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
            // The port is at the same place for both kinds of addresses.
            return result == 0 && UInt16(bigEndian: address.sin6_port) == port
        }

        /// The socket of a kept connection; -1 if it can't be told.
        func descriptor(ofPort port: UInt16) -> CInt { descriptors[port] ?? -1 }

        /// A response has shown what the connection is like.
        func learned(_ use: Use, isSingle: Bool, isRestless: Bool) {
            guard isCurrent(use) else { return }
            sockets[Int(use.descriptor)].isSingle = isSingle
            sockets[Int(use.descriptor)].isRestless = isRestless
            sockets[Int(use.descriptor)].unheardSession = nil
        }

        /// An exchange has ended that was prepared at this time.
        ///
        /// If nothing has come for so long, nobody else begins on the connection. libcurl would go on using one of
        /// HTTP/2, also if the network has lost it.
        func hasWaited(_ wait: Duration, since start: UInt64, for use: Use) {
            guard isCurrent(use), !sockets[Int(use.descriptor)].isSingle else { return }
            let start = max(start, sockets[Int(use.descriptor)].heard)
            let waited = Duration.nanoseconds(DispatchTime.now().uptimeNanoseconds - start)
            if waited >= wait { sockets[Int(use.descriptor)].isSilent = true }
        }

        /// The first request is about to be sent over a connection of HTTP/2.
        func begins(_ use: Use, in session: UnsafeRawPointer?) {
            if isCurrent(use) { sockets[Int(use.descriptor)].unheardSession = session }
        }

        /// Whether the server has said nothing since then, for whoever uses the connection beside so many others.
        func isUnheard(_ use: Use, beside others: Int = 0) -> Bool {
            guard isCurrent(use) else { return false }
            return sockets[Int(use.descriptor)].unheardSession != nil && sockets[Int(use.descriptor)].users > others
        }

        /// Whether it carries one exchange at a time.
        func isSingle(_ descriptor: CInt) -> Bool {
            sockets.indices.contains(Int(descriptor)) && sockets[Int(descriptor)].isSingle
        }

        /// Whether no other exchange reads what comes.
        func isAlone(_ use: Use) -> Bool {
            isCurrent(use) && (sockets[Int(use.descriptor)].isSingle || sockets[Int(use.descriptor)].users <= 1)
        }

        /// Whether a kept connection is open and, if no other exchange uses it, unread.
        func isUnspoiled(_ descriptor: CInt) -> Bool {
            guard descriptor >= 0, sockets.indices.contains(Int(descriptor)) else { return false }
            guard !sockets[Int(descriptor)].isSilent else { return false }
            guard sockets[Int(descriptor)].isSingle || sockets[Int(descriptor)].users <= 1 else { return true }
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
        }

        /// Whether the same is true of all that nobody uses: one of them is meant.
        var areUnspoiled: Bool {
            sockets.indices.allSatisfy {
                !sockets[$0].isSilent && (!sockets[$0].isSingle || sockets[$0].users > 0 || isUnspoiled(CInt($0)))
            }
        }

        /// The sockets that libcurl may have forgotten something of.
        var restless: [CInt] {
            sockets.indices.filter { sockets[$0].isRestless && sockets[$0].users > 0 }.map { CInt($0) }
        }
    }

    // MARK: - Waiting

    extension CurlSockets {
        /// Waits until a socket is ready or the bell rings, or for so many milliseconds;
        /// without a limit if they are negative; returns whether a restless one was ready.
        func wait(_ milliseconds: CInt, act: (_ descriptor: CInt, _ events: CInt) -> Void) -> Bool {
            let count = atom_poll_wait(poll, &events, CInt(events.count), milliseconds)
            guard count > 0 else { return false }
            var wasRestless = false
            for position in 0..<Int(count) {
                let event = events[position]
                if event.descriptor == bell {
                    atom_curl_bell_hush(bell)
                    continue
                }
                let index = Int(event.descriptor)
                // It may have been closed by what was done for another one.
                guard sockets.indices.contains(index), sockets[index].watched != 0 else { continue }
                if sockets[index].wanted == 0 {
                    isReadyForNobody(index)
                } else if event.events & sockets[index].open != 0 {
                    if event.events & Self.readable != 0 { heard(event.descriptor) }
                    act(event.descriptor, event.events & sockets[index].open)
                    if sockets[index].isRestless { wasRestless = true }
                }
            }
            return wasRestless
        }

        /// Something has come.
        func heard(_ descriptor: CInt) {
            let index = Int(descriptor)
            guard sockets.indices.contains(index), !sockets[index].isSingle else { return }
            sockets[index].heard = DispatchTime.now().uptimeNanoseconds
            sockets[index].isSilent = false
        }

        private func isReadyForNobody(_ index: Int) {
            setWatched(0, index)
            // The transfer is paused, and will ask for it again.
            guard sockets[index].users == 0 else { return }
            hasEnded = true
            // What carries many exchanges may have been sent a harmless frame.
            if sockets[index].isSingle { shutDown(index) }
        }

        /// libcurl closes it when it looks at it next.
        private func shutDown(_ index: Int) {
            guard !sockets[index].isDead else { return }
            shutdown(CInt(index), CInt(SHUT_RDWR))
            sockets[index].isDead = true
            hasEnded = true
            deadCount += 1
        }
    }
#endif
