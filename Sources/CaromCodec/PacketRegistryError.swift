/// Why a type cannot be registered.
public enum PacketRegistryError: Error, Hashable, Sendable {
  /// The number belongs to another type, or to this one already.
  case taken(type: UInt16, by: String)
}
