/// A host's decision about a peer that requests a seat.
public enum Admission: Hashable, Sendable {
  /// The peer gets the seat.
  case accept
  /// The peer is refused and receives this reason. A reason longer than 255 bytes of UTF-8 is
  /// omitted.
  case decline(String)
}
