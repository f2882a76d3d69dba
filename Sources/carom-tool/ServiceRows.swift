import CaromDNS
import CaromDiscovery
import Synchronization

/// What is known of services, as rows and objects.
final class ServiceRows: Sendable {
  static let headings = ["NAME", "INTERFACE", "ADDRESS", "TXT"]

  /// A service that is there.
  private struct Present {
    /// Tells it from one of the same name that was there before.
    var number: UInt64
    var service: DiscoveredService
    var place: ResolvedService?
  }
  private struct State {
    var present: [Name: Present] = [:]
    var nextNumber: UInt64 = 0
  }

  private let domain: String
  private let interfaces = InterfaceNames()
  private let state = Mutex(State())

  /// Services of a domain.
  init(domain: String) { self.domain = domain }

  /// Tells of a change; gives the number of a service that came.
  @discardableResult
  func tell(_ change: ServiceChange, to output: Output) -> UInt64? {
    let service = change.service
    let name = service.fullName
    return state.withLock { state in
      switch change {
      case .added:
        defer { state.nextNumber += 1 }
        state.present[name] = Present(number: state.nextNumber, service: service)
        output.tell(report(.added, service, nil))
        return state.nextNumber
      case .updated:
        state.present[name]?.service = service
        output.tell(report(.updated, service, state.present[name]?.place))
      case .removed:
        output.tell(report(.removed, service, state.present.removeValue(forKey: name)?.place))
      }
      return nil
    }
  }

  /// Tells where a service listens, if it is still the one of that number and that is news;
  /// `nil` where nobody said so.
  func tell(
    _ place: ResolvedService?, of service: DiscoveredService, _ number: UInt64, to output: Output
  ) {
    state.withLock { state in
      guard let present = state.present[service.fullName], present.number == number,
        place == nil || place != present.place
      else { return }
      state.present[service.fullName]?.place = place
      output.tell(report(place == nil ? .unresolved : .resolved, present.service, place))
    }
  }

  /// Where the service of that name listens.
  func report(_ name: String, _ type: ServiceType, at place: ResolvedService) -> Report {
    report(
      .resolved, name, type, key: name, on: place.interface == 0 ? [] : [place.interface],
      place.txt, place)
  }

  private func report(
    _ event: Report.Event, _ service: DiscoveredService, _ place: ResolvedService?
  ) -> Report {
    report(
      event, service.name, service.type, key: service.fullName.description,
      on: service.interfaces, event == .resolved ? place?.txt ?? service.txt : service.txt, place)
  }

  private func report(
    _ event: Report.Event, _ name: String, _ type: ServiceType, key: String,
    on indices: [UInt32], _ txt: TXTRecord, _ place: ResolvedService?
  ) -> Report {
    let names = interfaces[indices]
    let addresses = (place?.endpoints ?? []).map(\.description)
    var fields: [JSONValue.Field] = [
      .init("name", .string(name)), .init("type", .string(type.description)),
      .init("domain", .string(domain)), .init("interfaces", .strings(names)),
      .init("txt", txt.json),
    ]
    if let place {
      fields.append(.init("host", .string(place.host)))
      fields.append(.init("endpoints", .strings(addresses)))
    }
    return Report(
      event, key,
      cells: [
        name, names.joined(separator: " "), addresses.joined(separator: " "),
        txt.description,
      ], fields)
  }
}

extension TXTRecord {
  /// Values by key: text, null for a key alone, and bytes that are no text as numbers.
  var json: JSONValue {
    .object(
      keys.map { key in
        switch value(for: key) {
        case .bytes(let bytes):
          let text = String(validating: bytes, as: UTF8.self).map(JSONValue.string)
          return .init(key, text ?? .array(bytes.map { .number(Int($0)) }))
        case .none?, nil: return .init(key, .null)
        }
      })
  }
}
