/// Why a text cannot name a service.
package enum InstanceNameError: Error, Hashable, Sendable {
  /// At least one byte is needed.
  case empty
  /// That many UTF-8 bytes; at most 63 are allowed.
  case tooLong(Int)
  /// A byte below 0x20, or 0x7F.
  case controlCharacter
}
