import CaromDNS
import CaromDiscovery
import CaromTransport

/// Converts services to reports, and remembers the state of each service.
final class ServiceRows: Sendable {
  /// The cells that a row has in addition to the name, the interface and the TXT record.
  struct Columns: OptionSet, Sendable {
    let rawValue: Int
    /// The service's type.
    static let type = Columns(rawValue: 1)
    /// The endpoints and the name of the host.
    static let endpoints = Columns(rawValue: 2)
  }

  /// A service that has been found and has not disappeared since.
  private struct Present {
    /// A number that distinguishes the service from an earlier one with the same name.
    var number: UInt64
    var service: DiscoveredService
    var resolved: ResolvedService?
  }
  private struct State {
    var present: [Name: Present] = [:]
    var nextNumber: UInt64 = 0
  }

  private let domain: String
  private let columns: Columns
  private let interfaces = InterfaceNames()
  private let state = Locked(State())

  /// Creates the rows for services of a domain.
  init(domain: Name, _ columns: Columns) {
    self.domain = domain.description
    self.columns = columns
  }

  /// The headings of the columns.
  var headings: [String] {
    cells("NAME", "TYPE", "INTERFACE", "ADDRESS", "HOST", "TXT")
  }

  private func cells(
    _ name: String, _ type: String, _ interface: String, _ address: String, _ host: String,
    _ txt: String
  ) -> [String] {
    [name] + (columns.contains(.type) ? [type] : []) + [interface]
      + (columns.contains(.endpoints) ? [address, host] : []) + [txt]
  }

  /// Writes the report of a change. Returns the number of the service if it was added, or nil
  /// otherwise.
  @discardableResult
  func emit(_ change: ServiceChange, to output: Output) -> UInt64? {
    let service = change.service
    let name = service.fullName
    return state.withLock { state in
      switch change {
      case .added:
        defer { state.nextNumber += 1 }
        state.present[name] = Present(number: state.nextNumber, service: service)
        output.emit(report(.added, service, nil))
        return state.nextNumber
      case .updated:
        state.present[name]?.service = service
        output.emit(report(.updated, service, state.present[name]?.resolved))
      case .removed:
        output.emit(report(.removed, service, state.present.removeValue(forKey: name)?.resolved))
      }
      return nil
    }
  }

  /// Writes the endpoints of a service if they have changed and the service is still the one that
  /// was added as `number`. If `resolved` is nil, reports that the service could not be resolved.
  func emit(
    _ resolved: ResolvedService?, of service: DiscoveredService, _ number: UInt64, to output: Output
  ) {
    state.withLock { state in
      guard let present = state.present[service.fullName], present.number == number,
        resolved == nil || resolved != present.resolved
      else { return }
      state.present[service.fullName]?.resolved = resolved
      output.emit(report(resolved == nil ? .unresolved : .resolved, present.service, resolved))
    }
  }

  /// Returns the report of a service's endpoints.
  func report(_ resolved: ResolvedService, _ type: ServiceType) -> Report {
    report(
      .resolved, resolved.name, type, key: resolved.name,
      on: resolved.interface == 0 ? [] : [resolved.interface], resolved.txt, resolved, isNew: true)
  }

  private func report(
    _ event: Report.Event, _ service: DiscoveredService, _ resolved: ResolvedService?
  ) -> Report {
    report(
      event, service.name, service.type, key: service.fullName.description,
      on: service.interfaces, event == .resolved ? resolved?.txt ?? service.txt : service.txt,
      resolved)
  }

  private func report(
    _ event: Report.Event, _ name: String, _ type: ServiceType, key: String,
    on indices: [UInt32], _ txt: TXTRecord, _ resolved: ResolvedService?, isNew: Bool = false
  ) -> Report {
    let names = interfaces[indices]
    let endpoints = resolved?.endpoints ?? []
    var fields: [JSONValue.Field] = [
      .init("name", .string(name)), .init("type", .string(type.description)),
      .init("domain", .string(domain)), .init("interfaces", .strings(names)),
      .init("txt", txt.json),
    ]
    if let resolved {
      fields.append(.init("host", .string(resolved.host)))
      fields.append(.init("endpoints", .strings(endpoints.map(\.description))))
    }
    return Report(
      event, key, isNew: isNew,
      cells: cells(
        name, type.description, names.joined(separator: " "),
        endpoints.map(interfaces.text).joined(separator: " "), resolved?.host ?? "",
        txt.description), fields)
  }
}

extension TXTRecord {
  /// The record as a JSON object. Each value is a string, an array of bytes if the value is not
  /// valid UTF-8, or null if the key has no value.
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
