/// A record of ours on one link.
struct OwnedRecord: Hashable, Sendable {
  var record: Record
  /// Whether nobody else may have records of that name and type (RFC 6762 §2).
  var isUnique: Bool
  /// Which claim it belongs to.
  var owner: PublicationID
}
