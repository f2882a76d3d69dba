/// A change to a zone, which the zone's primary server makes as a whole, and only if all of the
/// prerequisites hold (RFC 2136).
package struct DynamicUpdate: Hashable, Sendable {
  /// The header flags of a request: the opcode UPDATE (RFC 2136 §2.2).
  static let flags: UInt16 = 0x2800
  /// The class NONE, which negates a prerequisite or deletes a record (RFC 2136 §2.4, §2.5).
  static let noneClass: UInt16 = 254
  /// The maximum length of a request that is sent in a datagram, in bytes (RFC 1035 §4.2.1). Longer
  /// requests are sent over TCP.
  static let datagramLimit = 512

  /// The name of the zone to change.
  package var zone: Name
  /// The conditions under which the server makes the changes, in wire form (RFC 2136 §2.4).
  package private(set) var prerequisites: [Record] = []
  /// The records to add and to delete, in wire form (RFC 2136 §2.5).
  package private(set) var changes: [Record] = []

  /// Creates an update of `zone` without prerequisites and changes. A server answers it without
  /// changing anything, if the signature is valid.
  package init(zone: Name) { self.zone = zone }

  /// Requires that no record exists under `name` (RFC 2136 §2.4.5).
  package mutating func requireUnused(_ name: Name) {
    prerequisites.append(
      Record(name, .raw(.any, []), timeToLive: 0, recordClass: Self.noneClass))
  }

  /// Requires that no record with the key exists (RFC 2136 §2.4.3).
  package mutating func requireNone(of key: RecordKey) {
    prerequisites.append(
      Record(key.name, .raw(key.type, []), timeToLive: 0, recordClass: Self.noneClass))
  }

  /// Requires that `data` is the only record of its name and type (RFC 2136 §2.4.2).
  package mutating func requireOnly(_ name: Name, _ data: RecordData) {
    prerequisites.append(Record(name, data, timeToLive: 0))
  }

  /// Adds a record. A record that already exists only changes its time to live (RFC 2136 §2.5.1).
  package mutating func add(_ name: Name, _ data: RecordData, timeToLive: UInt32) {
    changes.append(Record(name, data, timeToLive: timeToLive))
  }

  /// Deletes one record if it exists (RFC 2136 §2.5.4).
  package mutating func delete(_ name: Name, _ data: RecordData) {
    changes.append(Record(name, data, timeToLive: 0, recordClass: Self.noneClass))
  }

  /// Deletes all records with the key (RFC 2136 §2.5.2).
  package mutating func deleteAll(of key: RecordKey) {
    changes.append(
      Record(key.name, .raw(key.type, []), timeToLive: 0, recordClass: Question.anyClass))
  }

  /// Deletes all records under `name` (RFC 2136 §2.5.3).
  package mutating func deleteAll(under name: Name) { deleteAll(of: RecordKey(name, .any)) }

  /// Returns the request in wire format, without a signature. The targets of SRV records are not
  /// compressed (RFC 2782).
  package func encoded(id: UInt16) -> [UInt8] {
    var message = Message(id: id, flags: Self.flags)
    message.questions = [Question(zone, .soa)]
    message.answers = prerequisites
    message.authorities = changes
    return message.encoded(compressesTargets: false)
  }

  /// Returns whether `message` is the response to this update with the given ID. A server may omit
  /// the zone section (RFC 2136 §3.8).
  func isAnswered(by message: Message, id: UInt16) -> Bool {
    message.isResponse && message.flags & 0x7800 == Self.flags && message.id == id
      && (message.questions.isEmpty || message.questions == [Question(zone, .soa)])
  }
}
