import Foundation

/// The rules for the host of a URL (RFC 3986 §3.2.2, RFC 1123 §2.1); underscores are in names of the DNS (RFC 2181 §11).
enum HostGrammar {
    /// The rule that the host breaks, if it does, with the fix where there is one.
    static func violation(in host: String) -> String? {
        guard let first = host.utf8.first else { return "the host is empty" }
        if first == UInt8(ascii: "[") { return violation(inIPLiteral: host) }
        var text = host
        guard let reason = text.withUTF8({ violation(inName: $0) }) else { return nil }
        // A scheme always breaks some rule.
        return host.contains("://") ? "the scheme is a separate parameter; remove it from the host" : reason
    }

    private static func violation(inName name: UnsafeBufferPointer<UInt8>) -> String? {
        // A dot at the end only says that the name is complete (RFC 3986 §3.2.2).
        let isAbsolute = name.last == UInt8(ascii: ".")
        let bytes = UnsafeBufferPointer(rebasing: name.dropLast(isAbsolute ? 1 : 0))
        guard bytes.count <= 253 else { return "a host has at most 253 octets" }

        var labelLength = 0
        var labelStart: UInt8 = 0
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."):
                if let reason = violation(atEndOfLabel: labelLength, last: previous) { return reason }
                labelLength = 0
            case UInt8(ascii: "-") where labelLength == 0:
                return "a label can't begin with a hyphen"
            case let byte where labelBytes.contains(byte):
                if labelLength == 0 { labelStart = byte }
                labelLength += 1
            default:
                return violation(for: byte)
            }
            previous = byte
        }
        if let reason = violation(atEndOfLabel: labelLength, last: previous) { return reason }
        // Every number begins with a digit, in every base.
        return (0x30...0x39).contains(labelStart) ? violation(inNumbersOf: bytes[...], isAbsolute) : nil
    }

    private static let labelBytes = ByteSet.alphanumeric.union("-_")

    private static func violation(atEndOfLabel length: Int, last: UInt8) -> String? {
        switch length {
        case 0: "a label is empty"
        case 64...: "a label has at most 63 characters"
        default: last == UInt8(ascii: "-") ? "a label can't end with a hyphen" : nil
        }
    }

    private static func violation(for byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "/"): "a host contains no slash; use a path for what follows it"
        case UInt8(ascii: ":"): "a host contains no colon; use the port parameter; an IPv6 address needs brackets"
        case UInt8(ascii: "@"): "a host contains no user information"
        case 0x80...: "write letters outside ASCII in their xn-- form (RFC 5891)"
        default: "a label consists of letters, digits, underscores and inner hyphens"
        }
    }

    /// A host whose last label is a number must be an IPv4 address: resolvers
    /// would read `127.1` or `0x7f000001` as an address.
    private static func violation(inNumbersOf bytes: Bytes, _ isAbsolute: Bool) -> String? {
        var labels = 0
        var areNumbersRight = true
        var rest = bytes
        while true {
            let label = rest.prefix { $0 != UInt8(ascii: ".") }
            labels += 1
            areNumbersRight = areNumbersRight && isOctet(label)
            guard label.endIndex < rest.endIndex else {
                guard isNumber(label) else { return nil }
                if isAbsolute { return "an IPv4 address has no dot at its end; remove it" }
                return labels == 4 && areNumbersRight
                    ? nil : "an IPv4 address has four numbers of 0…255 without leading zeros"
            }
            rest = rest[(label.endIndex + 1)...]
        }
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// A decimal number in 0…255 without leading zeros.
    private static func isOctet(_ label: Bytes) -> Bool {
        guard label.count <= 3, label.count == 1 || label.first != UInt8(ascii: "0") else { return false }
        var value = 0
        for byte in label {
            guard (0x30...0x39).contains(byte) else { return false }
            value = value * 10 + Int(byte - 0x30)
        }
        return value <= 255
    }

    private static func isNumber(_ label: Bytes) -> Bool {
        let second = label.dropFirst().first
        let isHexadecimal =
            label.first == UInt8(ascii: "0") && (second == UInt8(ascii: "x") || second == UInt8(ascii: "X"))
        return label.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { byte in
            isHexadecimal ? PercentEncoding.hexValue(byte) != nil : (0x30...0x39).contains(byte)
        }
    }

    private static func violation(inIPLiteral host: String) -> String? {
        guard host.utf8.last == UInt8(ascii: "]") else { return "an IPv6 address ends with a bracket" }
        let address = String(decoding: host.utf8.dropFirst().dropLast(), as: UTF8.self)
        guard !address.utf8.contains(UInt8(ascii: "%")) else { return "an IPv6 address in a URL has no zone" }
        var storage = in6_addr()
        guard !address.utf8.contains(0), inet_pton(AF_INET6, address, &storage) == 1 else {
            return "the text between the brackets is not an IPv6 address"
        }
        return nil
    }
}
