/// The operations whose `security` in openapi.json is empty: a generated client doesn't pass it on.
package let unsignedOperations: Set<String> = [
    Operations.ListFlights.id, Operations.BookSeat.id, Operations.Upload.id, Operations.Download.id,
]
