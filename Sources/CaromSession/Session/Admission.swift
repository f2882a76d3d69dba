/// A host's decision about a peer that asks for a seat.
public enum Admission: Hashable, Sendable {
  /// The peer gets the seat.
  case accept
  /// The peer is refused, and is sent this reason: at most 255 bytes of UTF-8.
  case decline(String)
}
