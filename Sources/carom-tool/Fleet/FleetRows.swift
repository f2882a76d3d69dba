import CaromCore
import CaromCrypto
import CaromFleet
import CaromPlacement
import CommandSupport

/// The hosts of a fleet as rows of a table, and as JSON objects.
enum FleetRows {
  static let headings = [
    "HOST", "REGION", "GAME", "SEATS", "MATCHES", "LATE", "CPU", "STATE", "ENDPOINT",
  ]
  static let resultHeadings = ["MATCH", "RESULT"]
  static let placementHeadings = ["MATCH", "PLAYER", "HOST", "ENDPOINT", "TOKEN"]

  /// The key and the first cell of the row about the whole fleet, which stands below all ids.
  private static let fleet = "fleet"
  /// How many digits of an id a row shows.
  private static let digits = 8

  static func report(_ event: Report.Event, _ host: HostStatus) -> Report {
    let record = host.record
    let state = host.isDraining ? "draining" : host.load.isOverloaded ? "overloaded" : "ready"
    return Report(
      event, record.id.description,
      cells: [
        short(record.id), record.region, record.game.description,
        "\(host.seatsInUse)/\(record.seats)", "\(host.matches)", share(host.load.lateTicks),
        share(host.load.processor), state, record.endpoints[0].description,
      ],
      [
        .init("id", .string(record.id.description)), .init("region", .string(record.region)),
        .init("game", .string(record.game.game)), .init("version", .string(record.game.version)),
        .init("endpoints", .strings(record.endpoints.map(\.description))),
        .init("seats", .number(record.seats)), .init("seatsInUse", .number(host.seatsInUse)),
        .init("matches", .number(host.matches)),
        .init("lateTicksPerMille", .number(host.load.lateTicks)),
        .init("processorPerMille", .number(host.load.processor)), .init("state", .string(state)),
      ])
  }

  /// The row about the whole fleet. `event` is `back` if the directory had been away.
  static func totals(_ status: FleetStatus, _ event: Report.Event = .fleet) -> Report {
    let seats = status.hosts.reduce(0) { $0 + $1.record.seats }
    let used = status.hosts.reduce(0) { $0 + $1.seatsInUse }
    return Report(
      event, fleet,
      cells: [
        fleet, "", count(status.hosts.count, "host"), "\(used)/\(seats)", "\(status.matches)", "",
        "", count(status.orphans, "orphan"), "\(status.finished) finished",
      ],
      [
        .init("hosts", .number(status.hosts.count)), .init("seats", .number(seats)),
        .init("seatsInUse", .number(used)), .init("matches", .number(status.matches)),
        .init("orphans", .number(status.orphans)), .init("over", .number(status.finished)),
      ])
  }

  static func away(_ error: RedisError) -> Report {
    Report(
      .away, fleet, cells: [fleet, "", "", "", "", "", "", "away", error.line],
      [.init("reason", .string(error.line))])
  }

  static func placed(_ placement: Placement, _ player: PeerID, _ token: ConnectToken?) -> Report {
    let (claim, host) = (placement.claim, placement.host)
    var fields: [JSONValue.Field] = [
      .init("match", .string(claim.match.text)), .init("player", .string(player.description)),
      .init("host", .string(host.id.description)),
      .init("endpoints", .strings(host.endpoints.map(\.description))),
      .init("claim", .number(Int(claim.number))),
    ]
    if let token { fields.append(.init("token", .string(token.text))) }
    return Report(
      .placed, player.description,
      cells: [
        claim.match.text, player.description, short(host.id), host.endpoints[0].description,
        token?.text ?? "",
      ], fields)
  }

  /// The result of a match: its text if it is one, and its bytes.
  static func result(_ result: [UInt8], of match: MatchID) -> Report {
    let digits = result.map { byte in
      String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
    let text = String(validating: result, as: UTF8.self)
    var fields: [JSONValue.Field] = [
      .init("match", .string(match.text)), .init("result", .string(digits)),
    ]
    if let text { fields.append(.init("text", .string(text))) }
    return Report(.result, match.text, cells: [match.text, text ?? digits], fields)
  }

  private static func short(_ id: PeerID) -> String { String(id.description.prefix(digits)) }

  /// So many of 1,000 as a percentage.
  private static func share(_ part: Int) -> String { "\(part / 10).\(part % 10) %" }

  private static func count(_ number: Int, _ what: String) -> String {
    "\(number) \(what)\(number == 1 ? "" : "s")"
  }
}

/// What of a fleet has been shown, to show only what is new.
struct FleetWatch {
  private var hosts: [PeerID: HostStatus] = [:]
  private var totals: Report?
  private var isAway = false

  /// Whether the directory has answered. From then on, every loss of it is shown and waited for;
  /// before that, one that cannot pass by itself ends the command.
  var hasBegun: Bool { totals != nil }

  /// Returns what has changed: the hosts in the order of their ids, then the whole fleet.
  mutating func update(_ status: FleetStatus) -> [Report] {
    var reports: [Report] = []
    let present = Set(status.hosts.map(\.record.id))
    for host in hosts.values.sorted(by: { $0.record.id < $1.record.id })
    where !present.contains(host.record.id) {
      reports.append(FleetRows.report(.removed, host))
      hosts[host.record.id] = nil
    }
    for host in status.hosts where hosts[host.record.id] != host {
      let event = hosts[host.record.id] == nil ? Report.Event.added : .updated
      reports.append(FleetRows.report(event, host))
      hosts[host.record.id] = host
    }
    let new = FleetRows.totals(status, isAway ? .back : .fleet)
    if isAway || totals?.fields != new.fields { reports.append(new) }
    totals = new
    isAway = false
    return reports
  }

  /// Returns what to show when the directory does not answer; nil if that has been shown.
  mutating func lose(_ error: RedisError) -> Report? {
    defer { isAway = true }
    return isAway ? nil : FleetRows.away(error)
  }
}
