import CaromDNS

/// A record that somebody on the link said.
public struct DiscoveredRecord: Hashable, Sendable {
  /// Whose record it is: "maya-carom.local".
  public var name: String { record.name.description }
  /// Its type.
  public var type: RecordType { record.type }
  /// Its data as it stands in messages, names without compression.
  public var data: [UInt8] { record.data.uncompressed }
  /// How long it may be kept from when it was heard, seconds.
  public var timeToLive: UInt32 { record.timeToLive }
  /// The index of the interface that it was heard on.
  public let interface: UInt32
  /// What was said.
  package let record: Record

  init(_ record: Record, _ interface: UInt32) {
    self.record = record
    self.interface = interface
  }
}

extension DiscoveredRecord: Identifiable {
  /// What makes two records the same: name, type and data, and where they were heard.
  public struct ID: Hashable, Sendable {
    let identity: Record.Identity
    let interface: UInt32
  }

  /// The record's identity; its time to live is no part of it.
  public var id: ID { ID(identity: record.identity, interface: interface) }
}
