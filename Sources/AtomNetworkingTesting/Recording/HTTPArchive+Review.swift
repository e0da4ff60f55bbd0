import AtomNetworking
import Foundation

extension HTTPArchive {
    /// What a person must look at before a recording is committed.
    ///
    /// It finds what names and forms tell: tokens, keys, addresses of people. It can't know what a text means, so
    /// nobody should commit a recording that nobody has read.
    public struct Review: Sendable {
        /// Something to look at.
        public struct Finding: Sendable, Hashable {
            /// What it is.
            public let kind: Kind
            /// Where it is, for example `response body, user.email`; `[]` stands for every index.
            public let place: String
            /// Why it is found, without any value of the recording.
            public let reason: String
            /// The entries in which it is, from 1.
            public let entries: [Int]
        }

        /// The kinds of findings.
        #if hasAttribute(nonexhaustive)
            @nonexhaustive
        #endif
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// May let somebody in: a token, a key, a password.
            case secret
            /// May be about a person.
            case personal
            /// Nobody has looked inside, because it isn't text.
            case unread
            /// The recorder has hidden it, so the answer has the word `HIDDEN` in its place, as a string.
            case hidden
            /// Can't be answered from the recording.
            case unanswerable
        }

        /// The origins of the requests, as in `https://api.example.com`, sorted.
        public let origins: [String]
        /// The addresses of the servers, as far as the file has them, sorted.
        public let serverAddresses: [String]
        /// The number of entries.
        public let entryCount: Int
        /// The findings, the most important kind first, and then in the order of the file.
        public let findings: [Finding]

        /// The findings of one kind.
        public func findings(_ kind: Kind) -> [Finding] { findings.filter { $0.kind == kind } }
    }

    /// What a person must look at before the recording is committed.
    public var review: Review {
        var reviewer = ArchiveReviewer()
        for entry in entries { reviewer.review(entry) }
        return Review(
            origins: Set(entries.map(\.address.origin)).sorted(),
            serverAddresses: Set(entries.compactMap(\.serverAddress)).sorted(), entryCount: entries.count,
            findings: Review.Kind.allCases.flatMap { kind in reviewer.findings.filter { $0.kind == kind } })
    }
}

extension HTTPArchive.Review: CustomStringConvertible {
    /// Lines for a terminal, without any value of the recording.
    public var description: String {
        var lines = ["\(entryCount) \(entryCount == 1 ? "entry" : "entries"): \(origins.joined(separator: ", "))"]
        if !serverAddresses.isEmpty { lines.append("Addresses of servers: \(serverAddresses.joined(separator: ", "))") }
        for kind in Kind.allCases {
            let findings = findings(kind)
            guard !findings.isEmpty else { continue }
            lines.append(kind.title)
            lines += findings.map { "  \($0)" }
        }
        lines.append(
            findings(.secret).isEmpty && findings(.personal).isEmpty
                ? "Nothing in it looks like a secret or like personal data. Only names and forms were compared:"
                    + " read the file before you commit it."
                : "Take these out or replace them, and read the rest of the file before you commit it:"
                    + " only names and forms were compared.")
        return lines.joined(separator: "\n")
    }
}

extension HTTPArchive.Review.Finding: CustomStringConvertible {
    /// The place, the reason and the entries.
    public var description: String {
        let shown = entries.prefix(5).map(String.init).joined(separator: ", ")
        let rest = entries.count > 5 ? " and \(entries.count - 5) more" : ""
        return "\(place): \(reason) (\(entries.count == 1 ? "entry" : "entries") \(shown)\(rest))"
    }
}

extension HTTPArchive.Review.Kind {
    fileprivate var title: String {
        switch self {
        case .secret: "May be a secret:"
        case .personal: "May be about a person:"
        case .unread: "Nobody has looked inside:"
        case .hidden: "Hidden by the recorder; the answer has the word HIDDEN there, as a string:"
        case .unanswerable: "Can't be answered from this file:"
        }
    }
}
