import CaromNearby

/// A connected peer as a row of a table, and as a JSON object.
struct PeerRow: Equatable {
  static let headings = ["NAME", "ID", "LINK", "ROUND TRIP", "LOSS", "CIPHER"]

  private let peer: Peer
  private let link: String?
  /// In microseconds; nil before the first measurement.
  private let roundTrip: Int?
  /// Of 1,000 packets; nil before the first measurement.
  private let loss: Int?
  private let security: PeerSecurity?
  private let policy: SecurityPolicy?

  /// Creates the row of a peer. `statistics` and `security` are nil if they are not known.
  init(_ peer: Peer, _ statistics: PeerStatistics?, _ security: PeerSecurity?) {
    self.peer = peer
    link = statistics?.link.map { "\($0)" }
    roundTrip = statistics?.roundTrip.map { Int($0.wholeNanoseconds / 1000) }
    loss = statistics.map { Int(($0.lossRate * 1000).rounded()) }
    policy = statistics?.protection.policy
    self.security = security
  }

  func report(_ event: Report.Event, reason: String? = nil) -> Report {
    var fields: [JSONValue.Field] = [
      .init("name", .string(peer.name)), .init("id", .string(peer.id.description)),
    ]
    if event == .updated {
      fields += [
        .init("link", link.map { .string($0) } ?? .null),
        .init("roundTripMicroseconds", roundTrip.map { .number($0) } ?? .null),
        .init("lossPerMille", loss.map { .number($0) } ?? .null),
        .init("policy", (policy?.rawValue).map { .string($0) } ?? .null),
        .init("handshake", (security?.protection.handshake?.rawValue).map { .string($0) } ?? .null),
        .init("cipher", cipher.map { .string($0) } ?? .null),
        .init(
          "fingerprint", (security?.fingerprint?.description).map { .string($0) } ?? .null),
      ]
    }
    if let reason { fields.append(.init("reason", .string(reason))) }
    return Report(event, peer.id.description, cells: cells + [reason ?? ""], fields)
  }

  private var cipher: String? { security?.protection.encryption?.rawValue }

  private var cells: [String] {
    [
      peer.name, String(peer.id.description.prefix(8)), link ?? "",
      roundTrip.map { "\($0 / 1000).\(($0 % 1000) / 100) ms" } ?? "",
      loss.map { "\($0 / 10).\($0 % 10) %" } ?? "", cipher ?? "",
    ]
  }
}
