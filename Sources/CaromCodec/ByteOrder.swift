/// Which byte of an integer goes first on the wire.
public enum ByteOrder: Hashable, Sendable {
  /// Least significant first: the order of every packet here unless somebody asks otherwise.
  case little
  /// Most significant first.
  case big
}
