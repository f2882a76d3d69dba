/// A resource record of class IN, or of the class that it names.
package struct Record: Hashable, Sendable {
  /// What makes two records the same: neither time to live nor cache-flush bit.
  package struct Identity: Hashable, Sendable {
    /// Whose record.
    package var name: Name
    /// What it says.
    package var data: RecordData
  }

  /// The internet class.
  package static let internet: UInt16 = 1

  /// Whose record it is.
  package var name: Name
  /// What it says.
  package var data: RecordData
  /// Seconds that it may be kept; 0 is a goodbye (RFC 6762 §10.1).
  package var timeToLive: UInt32
  /// Whether it replaces what was known under name and type (RFC 6762 §10.2).
  package var flushesCache: Bool
  /// 1 for the internet.
  package var recordClass: UInt16

  /// A record of class IN.
  package init(
    _ name: Name, _ data: RecordData, timeToLive: UInt32, flushesCache: Bool = false,
    recordClass: UInt16 = Record.internet
  ) {
    self.name = name
    self.data = data
    self.timeToLive = timeToLive
    self.flushesCache = flushesCache
    self.recordClass = recordClass
  }

  /// The record's type.
  package var type: RecordType { data.type }
  /// Name and data.
  package var identity: Identity { Identity(name: name, data: data) }
  /// Name and type.
  package var key: RecordKey { RecordKey(name, type) }
}
