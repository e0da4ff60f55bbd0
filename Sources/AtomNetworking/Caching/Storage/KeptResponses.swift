/// What a cache has in memory, as a value: bounded, and what was used least recently goes first.
struct KeptResponses: Sendable {
    private struct Entry: Sendable {
        let owner: Tenure?
        let response: StoredResponse
        let size: Int
        /// Grows with each use.
        var lastUse: UInt64
    }

    /// By the bytes of the URL; several differ in their owner or in what varies.
    private var entries: [[UInt8]: [Entry]] = [:]
    private var uses: UInt64 = 0
    private let capacity: Int
    /// The size in bytes.
    private(set) var size = 0
    /// What was removed, to be released outside the lock: the memory of a body may be the app's.
    private var removed: [StoredResponse] = []
    /// How often what was signed has been forgotten: what was asked for before isn't kept.
    private(set) var epoch = 0
    /// How often something was removed because it may have changed: what was asked for before isn't kept.
    private(set) var changes = 0
    /// The numbers of the last changes of URLs, and of all others.
    private var changed: [[UInt8]: Int] = [:]
    private var changedBefore = 0

    init(capacity: Int) { self.capacity = max(capacity, 0) }

    var count: Int { entries.values.reduce(0) { $0 + $1.count } }

    mutating func response(for key: CacheKey) -> StoredResponse? {
        let address = Array(key.address.utf8)
        guard let index = entries[address]?.firstIndex(where: { $0.owner == key.owner && key.matches($0.response) })
        else { return nil }
        uses += 1
        entries[address]?[index].lastUse = uses
        return entries[address]?[index].response
    }

    /// Whether a response may still be kept: its person has not gone since the request began, nor has it changed.
    func isWanted(_ key: CacheKey) -> Bool {
        (key.owner == nil || key.epoch == epoch)
            && key.changes >= max(changedBefore, changed[Array(key.address.utf8)] ?? 0)
    }

    /// Keeps a response in place of those that it is an update of.
    ///
    /// - Returns: Whether it is news, and may be kept at all.
    mutating func put(_ response: StoredResponse, for key: CacheKey) -> Bool {
        guard isWanted(key) else { return false }
        // Those who share an exchange bring the same.
        if let instant = response.exchangeInstant, let kept = self.response(for: key), kept.exchangeInstant == instant,
            kept.headerFields == response.headerFields, kept.body == response.body
        {
            return false
        }
        remove(at: [Array(key.address.utf8)]) { $0.owner == key.owner && key.matches($0.response) }
        // A field takes more than its text.
        let size = (Array(response.headerFields) + response.varying)
            .reduce(response.body.count + response.address.utf8.count + 512) {
                $0 + $1.name.utf8.count + $1.value.utf8.count + 64
            }
        // One response must not push out all others.
        guard size <= capacity / 2 else { return true }
        uses += 1
        entries[Array(key.address.utf8), default: []].append(
            Entry(owner: key.owner, response: response, size: size, lastUse: uses))
        self.size += size
        if let oldest = entries[Array(key.address.utf8)], oldest.count > Self.mostVariants {
            let last = oldest.map(\.lastUse).min() ?? 0
            remove(at: [Array(key.address.utf8)]) { $0.lastUse <= last }
        }
        if self.size > capacity { evict() }
        return true
    }

    /// Of one URL: each look compares them.
    private static let mostVariants = 32

    /// Several at once, so that it is seldom.
    private mutating func evict() {
        let oldest = entries.values.joined().map { ($0.lastUse, $0.size) }.sorted { $0.0 < $1.0 }
        var surplus = size - capacity / 8 * 7
        var last: UInt64 = 0
        for (lastUse, size) in oldest where surplus > 0 {
            surplus -= size
            last = lastUse
        }
        remove(at: Array(entries.keys)) { $0.lastUse <= last }
    }

    private mutating func remove(at addresses: [[UInt8]], _ shouldRemove: (Entry) -> Bool) {
        for address in addresses {
            guard var list = entries[address] else { continue }
            list.removeAll { entry in
                guard shouldRemove(entry) else { return false }
                size -= entry.size
                removed.append(entry.response)
                return true
            }
            entries[address] = list.isEmpty ? nil : list
        }
    }

    /// Removes what there is of a URL, which may have changed for everybody.
    mutating func remove(_ address: String) {
        let address = Array(address.utf8)
        remove(at: [address]) { _ in true }
        changes += 1
        changed[address] = changes
        guard changed.count > 1_000 else { return }
        (changed, changedBefore) = ([:], changes)
    }

    /// Forgets what was asked for with the credential that this tenure has, whoever's it was.
    mutating func forgetSigned(by tenure: Tenure) {
        epoch += 1
        remove(at: Array(entries.keys)) { $0.owner?.hasSameSigner(as: tenure) == true }
    }

    mutating func removeAll() {
        epoch += 1
        changes += 1
        (changed, changedBefore) = ([:], changes)
        remove(at: Array(entries.keys)) { _ in true }
    }

    /// What was removed since the last call.
    mutating func takeRemoved() -> [StoredResponse] {
        defer { removed = [] }
        return removed
    }
}
