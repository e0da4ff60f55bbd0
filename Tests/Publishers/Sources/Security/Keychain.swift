// The names are Apple's, and so is their documentation.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

import Foundation

// Replaces the Keychain of Apple platforms: a table of items, and the calls
// that access it with dictionaries. An attribute that this replacement doesn't
// know is an error, so that no attribute is ignored.

/// The Core Foundation types of the calls.
public typealias CFDictionary = NSDictionary
/// The type of a constant.
public typealias CFString = String
/// The result of a search.
public typealias CFTypeRef = AnyObject
/// The result of a call.
public typealias OSStatus = Int32

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrSynchronizable: CFString = "sync"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecUseDataProtectionKeychain: CFString = "nleg"
public let kSecValueData: CFString = "v_Data"
public let kSecReturnData: CFString = "r_Data"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"

/// `errSecParam`.
private let wrongParameter: OSStatus = -50

/// The items of the process.
public enum Keychain {
    /// An item in a form for tests.
    public struct Item: Sendable, Equatable {
        public var service: String
        public var account: String
        public var accessGroup: String
        public var accessible: String
        public var data: Data

        public init(service: String, account: String, accessGroup: String, accessible: String, data: Data) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
            self.accessible = accessible
            self.data = data
        }
    }

    /// The access group of an item without a given group.
    public static let firstGroup = "first"

    fileprivate static let table = Table()

    /// All items, of all tests.
    public static var items: [Item] { table.with { $0 } }

    /// Adds an item to the Keychain, as another app or version would.
    public static func put(_ item: Item) { table.with { $0.append(item) } }
}

private final class Table: @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var items: [Keychain.Item] = []

    func with<T>(_ body: (inout [Keychain.Item]) -> T) -> T {
        lock.withLock { body(&items) }
    }
}

/// The content of a query dictionary.
private struct Query {
    var members: [String: Any]

    init?(_ dictionary: CFDictionary) {
        members = [:]
        for (key, value) in dictionary {
            guard let key = key as? String else { return nil }
            members[key] = value
        }
    }

    /// Removes a member and returns it.
    mutating func take<T>(_ key: String, as type: T.Type = T.self) -> T? {
        members.removeValue(forKey: key) as? T
    }

    /// Removes the members that select items.
    mutating func takeFilter() -> ((Keychain.Item) -> Bool)? {
        guard take(kSecClass) == kSecClassGenericPassword, take(kSecUseDataProtectionKeychain) == true,
            take(kSecAttrSynchronizable) == false, let service: String = take(kSecAttrService),
            let account: String = take(kSecAttrAccount)
        else { return nil }
        let group: String? = take(kSecAttrAccessGroup)
        return {
            $0.service == service && $0.account == account && (group == nil || $0.accessGroup == group)
        }
    }

    /// Removes the members with an item's content.
    mutating func takeContent() -> (accessible: String, data: Data)? {
        guard let accessible: String = take(kSecAttrAccessible), let data: Data = take(kSecValueData) else {
            return nil
        }
        return (accessible, data)
    }
}

/// Adds an item.
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard var query = Query(attributes), let service = query.members[kSecAttrService] as? String,
        let account = query.members[kSecAttrAccount] as? String
    else { return wrongParameter }
    let group = query.members[kSecAttrAccessGroup] as? String ?? Keychain.firstGroup
    guard query.takeFilter() != nil, let content = query.takeContent(), query.members.isEmpty else {
        return wrongParameter
    }
    let item = Keychain.Item(
        service: service, account: account, accessGroup: group, accessible: content.accessible, data: content.data)
    return Keychain.table.with { items in
        let isThere = items.contains { $0.service == service && $0.account == account && $0.accessGroup == group }
        if !isThere { items.append(item) }
        return isThere ? -25_299 : 0
    }
}

/// Finds the data of one item.
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    guard var query = Query(query), let matches = query.takeFilter(), query.take(kSecReturnData) == true,
        query.take(kSecMatchLimit) == kSecMatchLimitOne, query.members.isEmpty
    else { return wrongParameter }
    guard let item = Keychain.table.with({ $0.first(where: matches) }) else { return -25_300 }
    result?.pointee = NSData(data: item.data)
    return 0
}

/// Changes the content of items.
public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
    guard var query = Query(query), let matches = query.takeFilter(), query.members.isEmpty,
        var attributes = Query(attributes), let content = attributes.takeContent(), attributes.members.isEmpty
    else { return wrongParameter }
    return Keychain.table.with { items in
        let found = items.indices.filter { matches(items[$0]) }
        for index in found { (items[index].accessible, items[index].data) = content }
        return found.isEmpty ? -25_300 : 0
    }
}

/// Deletes items.
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    guard var query = Query(query), let matches = query.takeFilter(), query.members.isEmpty else {
        return wrongParameter
    }
    return Keychain.table.with { items in
        let count = items.count
        items.removeAll(where: matches)
        return items.count == count ? -25_300 : 0
    }
}
