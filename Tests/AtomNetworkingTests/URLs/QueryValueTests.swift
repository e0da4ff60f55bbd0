import AtomNetworking
import Foundation
import Testing

private enum Cabin: String, QueryValue { case first }
private enum Rank: Int, QueryValue { case second = 2 }

@Suite("What a query can have besides texts", .limited)
struct QueryValueTests {
    private static func texts(_ items: [QueryItem]) -> [String] { items.map { "\($0.name)=\($0.value)" } }

    @Test("A literal turns numbers, Booleans, dates, UUIDs and raw values into query items")
    func literal() {
        let id = UUID()
        let name = "x"
        let items: [QueryItem] = [
            "text": name, "part": name[...], "int": 2, "small": Int8(-1), "unsigned": UInt64.max, "double": 0.5,
            "flag": true, "decimal": Decimal(string: "1.25"), "id": id, "cabin": Cabin.first, "rank": Rank.second,
            "date": Date(timeIntervalSince1970: 0.75), "interpolated": "a\(name)",
        ]
        #expect(
            Self.texts(items) == [
                "text=x", "part=x", "int=2", "small=-1", "unsigned=18446744073709551615", "double=0.5", "flag=true",
                "decimal=1.25", "id=\(id.uuidString)", "cabin=first", "rank=2", "date=1970-01-01T00:00:00Z",
                "interpolated=ax",
            ])
    }

    @Test("nil is left out, and an array is several items")
    func optionalsAndArrays() {
        let missing: Int? = nil
        let page: Int? = 3
        let items: [QueryItem] = [
            "none": nil, "missing": missing, "page": page, "fare": ["saver", "flex"], "empty": [String](),
            "seats": [1, 2], "page": 4,
        ]
        #expect(
            Self.texts(items) == ["page=3", "fare=saver", "fare=flex", "seats=1", "seats=2", "page=4"])
    }

    @Test("A type of the app's is its raw value, or its description")
    func ownValues() {
        struct Money: QueryValue, CustomStringConvertible {
            let cents: Int
            var description: String { "\(cents / 100).\(cents % 100)" }
        }
        enum Sort: QueryValue { case ascending }
        enum Fare: Character, QueryValue { case saver = "s" }
        struct Code: RawRepresentable, QueryValue, CustomStringConvertible {
            let rawValue: [Int]
            var description: String { "not this" }
        }
        let items: [QueryItem] = [
            "money": Money(cents: 1225), "sort": Sort.ascending, "fare": Fare.saver, "code": Code(rawValue: [1, 2]),
            "cabins": [Cabin.first, .first], "dates": [Date(timeIntervalSinceReferenceDate: .infinity)],
        ]
        #expect(
            Self.texts(items) == [
                "money=12.25", "sort=ascending", "fare=s", "code=1", "code=2", "cabins=first", "cabins=first",
            ])
    }

    @Test("One value makes an item, an array makes items of one name, and nil makes none")
    func items() {
        #expect(QueryItem(name: "a", value: 2).value == "2")
        #expect(QueryItem(name: "a", value: true).value == "true")
        #expect(QueryItem(name: "a", value: Date(timeIntervalSince1970: 0)).value == "1970-01-01T00:00:00Z")
        #expect(Self.texts(QueryItem.items(name: "a", value: [1, 2])) == ["a=1", "a=2"])
        #expect(QueryItem.items(name: "a", value: nil).isEmpty)
    }

    @Test("A dictionary makes items, in the order of its names")
    func dictionaries() {
        let values = ["b": "2", "a": "1"]
        #expect(Self.texts([QueryItem](values)) == ["a=1", "b=2"])
        #expect([HeaderItem](values).map(\.name) == ["a", "b"])
        #expect(Self.texts([QueryItem](["n": 1, "m": nil] as [String: (any QueryValue)?])) == ["n=1"])
    }

    @Test("An app's own items have texts in a literal")
    func ownItems() {
        struct Own: RequestableItem {
            var name: String
            var value: String
        }
        let items: [Own] = ["a": "1", "a": "2"]
        #expect(items == [Own(name: "a", value: "1"), Own(name: "a", value: "2")])
    }
}
