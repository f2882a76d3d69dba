import CaromCore
import CaromDNS
import CaromProtocol

extension Sighting {
  /// The TXT record of an advertised match, with the keys `txtvers`, `id`, `status` and `free`.
  ///
  /// The record is only a hint for players who look for a match; the handshake decides whether a
  /// player gets a seat.
  public var text: TXTRecord {
    [
      "txtvers": "1", "id": id.description, "status": status.rawValue, "free": String(freeSeats),
    ]
  }

  /// Creates a sighting from the TXT record of an advertised match. Returns nil if the record does
  /// not describe a match or has a different version.
  public init?(_ text: TXTRecord) {
    guard text["txtvers"] == "1", let id = text["id"].flatMap({ PeerID($0) }),
      let status = text["status"].flatMap(Status.init(rawValue:)),
      let free = text["free"].flatMap({ Int($0) }), (0...255).contains(free)
    else { return nil }
    self.init(id: id, status: status, freeSeats: free)
  }
}
