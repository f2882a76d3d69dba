/// A host's one answer to a request for a seat.
public enum Admission: Hashable, Sendable {
  /// The seat is the peer's.
  case accept
  /// It is not, and the peer is told why: at most 255 bytes.
  case decline(String)
}
