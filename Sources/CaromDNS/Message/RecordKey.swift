/// A name and a type: the subject of a question, and the key of a record set.
package struct RecordKey: Hashable, Sendable {
  /// The name that owns the records.
  package var name: Name
  /// The type of the records.
  package var type: RecordType

  /// Creates the key of the records of `type` under `name`.
  package init(_ name: Name, _ type: RecordType) {
    self.name = name
    self.type = type
  }
}
