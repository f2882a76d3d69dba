/// The byte order of an integer on the wire.
public enum ByteOrder: Hashable, Sendable {
  /// Least significant byte first: the default for frame headers.
  case little
  /// Most significant byte first.
  case big
}
