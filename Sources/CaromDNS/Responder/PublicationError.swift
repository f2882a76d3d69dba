/// The reason why a service cannot be published or changed.
package enum PublicationError: Error, Hashable, Sendable {
  /// The responder already publishes its maximum of 1,024 services.
  case tooMany
  /// The instance name is not valid.
  case name(InstanceNameError)
  /// The given subtype is not 1 to 63 bytes long.
  case subtype(String)
  /// The service has the given number of subtypes, and at most 64 are allowed.
  case subtypes(Int)
  /// The TXT record, of the given length in bytes, does not fit into a message together with the
  /// name.
  case textTooLong(Int)
  /// Another service has the name, and `Registration.renames` is false.
  case nameTaken
  /// No free name was found within one minute.
  case noFreeName
  /// No free name for this host was found within one minute.
  case noFreeHostName
}
