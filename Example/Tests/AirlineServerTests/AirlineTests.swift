import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct AirlineTests {
    @Test func flightsAreListedAndFiltered() async throws {
        try await withServer { _, client in
            let all = try await client.get("/flights")
            #expect(all.status == 200)
            #expect(all.header("Content-Type") == "application/json")
            let flights = try JSONSerialization.jsonObject(with: all.body) as? [[String: Any]]
            #expect(flights?.count == 6)
            let departure = flights?.first?["departure"] as? String ?? ""
            #expect(ISO8601DateFormatter().date(from: departure) ?? .distantPast > Date())

            let some = try await client.get("/flights?from=sea&to=SFO")
            let numbers = (try JSONSerialization.jsonObject(with: some.body) as? [[String: Any]])?.map { $0["number"] }
            #expect(numbers as? [String] == ["AS100"])
            #expect(try await client.get("/flights/AS212").text("destination") == "LAX")
            #expect(try await client.get("/flights/XX1").text("code") == "flight_not_found")
        }
    }

    @Test func aSeatIsBookedOnce() async throws {
        try await withServer { _, client in
            let booking = #"{"flight":"AS100","seat":"7C","passenger":"Ada Lovelace"}"#
            let first = try await client.post("/bookings", json: booking)
            #expect(first.status == 201)
            let reference = try #require(try first.text("reference"))
            #expect(first.header("Location") == "/bookings/\(reference)")
            #expect(try await client.get("/bookings/\(reference)").text("passenger") == "Ada Lovelace")

            let second = try await client.post("/bookings", json: booking)
            #expect(second.status == 409)
            #expect(try second.text("code") == "seat_taken")

            let seats = String(decoding: try await client.get("/flights/AS100/seats").body, as: UTF8.self)
            #expect(seats.contains(#"{"cabin":"main","id":"7C","isAvailable":false}"#))
            #expect(seats.contains(#"{"cabin":"first","id":"1A","isAvailable":false}"#))

            #expect(try await client.send("DELETE", "/bookings/\(reference)").status == 204)
            #expect(try await client.get("/bookings/\(reference)").status == 404)
            #expect(try await client.post("/bookings", json: booking).status == 201)
        }
    }

    @Test func aMileageAccountHasPagesThatABookingDoesNotMove() async throws {
        try await withServer { _, client in
            let token = try await client.signIn().access
            #expect(try await client.get("/account/activity").status == 401)

            var answer = try await client.get("/account/activity?limit=25", token: token)
            #expect(try answer.activityNumbers() == Array((33...57).reversed()))
            #expect(try answer.json()["total"] as? Int == 57)
            let booking = #"{"flight":"AS100","seat":"7C","passenger":"Ada Lovelace"}"#
            let headers = ["Authorization": "Bearer \(token)"]
            #expect(try await client.post("/account/trips", json: booking, headers: headers).status == 201)

            answer = try await client.get(try #require(try answer.text("next")), token: token)
            #expect(try answer.activityNumbers() == Array((8...32).reversed()))
            answer = try await client.get(try #require(try answer.text("next")), token: token)
            #expect(try answer.activityNumbers() == Array((1...7).reversed()))
            #expect(try answer.text("next") == nil)

            answer = try await client.get("/account/activity", token: token)
            #expect(try answer.activityNumbers().first == 58)
            #expect(try await client.get("/account/activity?before=1", token: token).activityNumbers() == [])
            #expect(try await client.get("/account/activity?limit=0", token: token).status == 422)
        }
    }

    @Test func aBookingThatIsNotAcceptableSaysWhichFields() async throws {
        try await withServer { _, client in
            let answer = try await client.post("/bookings", json: #"{"flight":"XX1","seat":"99Z"}"#)
            #expect(answer.status == 422)
            #expect(try answer.text("code") == "validation_failed")
            #expect(
                try answer.json()["fields"] as? [String: String] == [
                    "flight": "is unknown", "seat": "doesn't exist", "passenger": "is missing",
                ]
            )
            let type = try await client.post("/bookings", json: #"{"flight":7}"#)
            #expect(type.status == 422)
            #expect(try type.json()["fields"] as? [String: String] == ["flight": "has the wrong type"])
            #expect(try await client.post("/bookings", json: #"{"flight""#).text("code") == "malformed_json")
            let text = try await client.post("/bookings", json: "{}", headers: ["Content-Type": "text/plain"])
            #expect(text.status == 415)
        }
    }

    @Test func aMemberSignsInWithNameAndPassword() async throws {
        try await withServer { _, client in
            let pair = Data("ada:lovelace".utf8).base64EncodedString()
            let right = try await client.send("GET", "/me", headers: ["Authorization": "Basic \(pair)"])
            #expect(right.status == 200)
            #expect(try right.text("name") == "ada")
            let wrong = try await client.get("/me")
            #expect(wrong.status == 401)
            #expect(wrong.header("WWW-Authenticate") == "Basic realm=\"airline\", charset=\"UTF-8\"")
            #expect(try wrong.text("code") == "wrong_credentials")
        }
    }

    @Test func aMembersTripsAreTheirOwn() async throws {
        try await withServer { _, client in
            let tokens = try await client.signIn()
            let booked = try await client.post(
                "/account/trips",
                json: #"{"flight":"AS821","seat":"9D","passenger":"Ada"}"#,
                headers: ["Authorization": "Bearer \(tokens.access)"]
            )
            #expect(booked.status == 201)
            _ = try await client.post("/bookings", json: #"{"flight":"AS821","seat":"10D","passenger":"Bob"}"#)
            let trips = try await client.get("/account/trips", token: tokens.access)
            let list = try JSONSerialization.jsonObject(with: trips.body) as? [[String: Any]]
            #expect(list?.map { $0["seat"] as? String } == ["9D"])
        }
    }

    @Test func milesTellOneAnswerFromAnother() async throws {
        try await withServer { _, client in
            let tokens = try await client.signIn()
            let answer = try await client.get("/account/miles?number=17&milliseconds=1", token: tokens.access)
            #expect(try answer.text("number") == "17")
        }
    }
}

extension Answer {
    fileprivate func activityNumbers() throws -> [Int] {
        (try json()["activities"] as? [[String: Any]] ?? []).compactMap { $0["number"] as? Int }
    }
}
