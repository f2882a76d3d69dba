import CaromDNS

/// A DNS record that was received from a host on the link or from a name server.
public struct DiscoveredRecord: Hashable, Sendable {
  /// The name that owns the record, such as "maya-carom.local".
  public var name: String { record.name.description }
  /// The record's type.
  public var type: RecordType { record.type }
  /// The record's data in wire format, with uncompressed names.
  public var data: [UInt8] { record.data.uncompressed }
  /// How long the record is valid after it was received, in seconds.
  public var timeToLive: UInt32 { record.timeToLive }
  /// The index of the interface that received the record; 0 if it came from a name server.
  public let interface: UInt32
  /// The DNS record.
  package let record: Record

  init(_ record: Record, _ interface: UInt32) {
    self.record = record
    self.interface = interface
  }
}

extension DiscoveredRecord: Identifiable {
  /// The name, type and data of a record, and the interface that received it.
  public struct ID: Hashable, Sendable {
    let identity: Record.Identity
    let interface: UInt32
  }

  /// The record's identity, which does not include its time to live.
  public var id: ID { ID(identity: record.identity, interface: interface) }
}
