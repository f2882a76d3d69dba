/// Why a service is not published, or not so.
package enum PublicationError: Error, Hashable, Sendable {
  /// The responder has as many services as it may: 1,024.
  case tooMany
  /// It cannot have this name.
  case name(InstanceNameError)
  /// A subtype that is not 1 to 63 bytes.
  case subtype(String)
  /// That many subtypes; at most 64 are allowed.
  case subtypes(Int)
  /// Strings of that many bytes, which no message holds beside the name.
  case textTooLong(Int)
  /// Others have the name, and it may not change.
  case nameTaken
  /// No free name was found within a minute.
  case noFreeName
}
