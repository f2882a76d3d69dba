/// A name and a type: what a question asks and a record set stands under.
package struct RecordKey: Hashable, Sendable {
  /// The name.
  package var name: Name
  /// The type.
  package var type: RecordType

  /// The records of `type` under `name`.
  package init(_ name: Name, _ type: RecordType) {
    self.name = name
    self.type = type
  }
}
