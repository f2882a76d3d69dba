import CaromCore
import CaromDNS

/// Converts DNS records to reports for the table of the `query` command.
struct RecordRows: Sendable {
  static let headings = ["NAME", "TYPE", "TTL", "DATA", "INTERFACE", "SOURCE"]

  private let interfaces = InterfaceNames()

  /// Returns a report for each record of a response.
  func reports(_ reply: LinkQuery.Reply) -> [Report] {
    reply.answers.map {
      report(.added, $0, isAnswer: true, from: reply.source, on: reply.interface)
    }
      + reply.others.map {
        report(.added, $0, isAnswer: false, from: reply.source, on: reply.interface)
      }
  }

  /// Returns the report of a received record. A record from a name server has no interface.
  func report(
    _ event: Report.Event, _ record: Record, isAnswer: Bool, from source: Endpoint? = nil,
    on interface: UInt32? = nil
  ) -> Report {
    let (name, type) = (record.name.description, RecordText.name(of: record.type))
    let data = RecordText.text(of: record.data)
    let interfaceName = interface.map { interfaces[$0] }
    let sender = source?.address
    return Report(
      event, "\(name) \(type) \(data) \(interfaceName ?? "")",
      cells: [
        name, type, "\(record.timeToLive)", data, interfaceName ?? "",
        sender.map(interfaces.text) ?? "",
      ],
      [
        .init("name", .string(name)), .init("type", .string(type)),
        .init("ttl", .number(Int(record.timeToLive))), .init("data", .string(data)),
        .init("section", .string(isAnswer ? "answer" : "additional")),
        .init("interface", interfaceName.map(JSONValue.string) ?? .null),
        .init("source", sender.map { .string($0.description) } ?? .null),
      ])
  }
}
