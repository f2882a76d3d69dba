/// A DNS resource record.
package struct Record: Hashable, Sendable {
  /// The name and the data of a record, which identify it. The time to live and the cache-flush bit
  /// are not part of the identity.
  package struct Identity: Hashable, Sendable {
    /// The name that owns the record.
    package var name: Name
    /// The record's data.
    package var data: RecordData
  }

  /// The internet class (IN).
  package static let internet: UInt16 = 1

  /// The name that owns the record.
  package var name: Name
  /// The record's data.
  package var data: RecordData
  /// How long the record may be cached, in seconds. Zero marks a goodbye record (RFC 6762 §10.1).
  package var timeToLive: UInt32
  /// Whether the record replaces cached records of its name and type (the cache-flush bit, RFC 6762
  /// §10.2).
  package var flushesCache: Bool
  /// The record's class: 1 for the internet.
  package var recordClass: UInt16

  /// Creates a record, by default of the internet class.
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
  /// The name and the data, which identify the record.
  package var identity: Identity { Identity(name: name, data: data) }
  /// The name and the type, which identify the record's set.
  package var key: RecordKey { RecordKey(name, type) }
}
