import CaromDNS
import CaromDiscovery
import CaromTransport

/// Converts the state of an advertised service to reports.
final class PublishedRows: Sendable {
  static let headings = ["NAME", "TYPE", "PORT", "INTERFACE", "TXT"]

  private struct State {
    var name: String
    var record: TXTRecord
  }

  let service: AdvertisedService
  private let interfaces: [String]
  private let state: Locked<State>

  init(_ service: AdvertisedService, on interfaces: [String]) {
    self.service = service
    self.interfaces = interfaces
    state = Locked(State(name: service.name, record: service.txt))
  }

  /// The TXT record with all changes.
  var record: TXTRecord { state.withLock { $0.record } }

  /// Changes a key of the TXT record.
  func change(_ line: String) throws {
    try state.withLock { try TXTPair(line, removes: true).apply(to: &$0.record) }
  }

  /// Returns the report of an event. `newName` is the service's name from now on.
  func report(_ event: Report.Event, as newName: String? = nil) -> Report {
    let (name, record) = state.withLock { state in
      state.name = newName ?? state.name
      return (state.name, state.record)
    }
    return Report(
      event, "service",
      cells: [
        name, service.type.description, "\(service.port)", interfaces.joined(separator: " "),
        record.description,
      ],
      [
        .init("name", .string(name)), .init("type", .string(service.type.description)),
        .init("port", .number(Int(service.port))), .init("interfaces", .strings(interfaces)),
        .init("txt", record.json),
      ])
  }
}
