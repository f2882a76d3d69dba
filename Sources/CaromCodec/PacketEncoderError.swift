/// Why a value has no encoding.
public enum PacketEncoderError: Error, Hashable, Sendable {
  /// Containers stand in each other deeper than a decoder accepts.
  case tooDeep(limit: Int)
}
