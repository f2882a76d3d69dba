import CaromCore

/// The description of a service to publish.
package struct Registration: Hashable, Sendable {
  /// The maximum number of subtypes of one service.
  package static let subtypeLimit = 64

  /// The user-visible name, 1 to 63 bytes in UTF-8.
  package var instance: String
  /// The service type.
  package var type: ServiceType
  /// The subtypes under which the service can also be found (RFC 6763 §7.1), such as "_ranked".
  package var subtypes: [String]
  /// The port on which the service listens.
  package var port: UInt16
  /// The TXT record.
  package var text: TXTRecord
  /// Whether the service is renamed to "X (2)" if its name is taken. Otherwise the publication
  /// fails.
  package var renames: Bool
  /// Whether the name is known to be unique, for example because it contains a UUID. The service is
  /// then announced immediately, without probing (RFC 6762 §8.1), and its SRV record names a host
  /// whose name is also known to be unique.
  package var isUnique: Bool
  /// The indices of the links to publish on, or nil for all links.
  package var links: Set<UInt32>?

  /// Creates a description of a service on a port of this host.
  package init(
    instance: String, type: ServiceType, port: UInt16, text: TXTRecord = [:],
    subtypes: [String] = [], renames: Bool = true, isUnique: Bool = false,
    links: Set<UInt32>? = nil
  ) {
    self.instance = instance
    self.type = type
    self.port = port
    self.text = text
    self.subtypes = subtypes
    self.renames = renames
    self.isUnique = isUnique
    self.links = links
  }

  /// Throws an error if the service cannot be published: its name or a subtype is invalid, it has
  /// too many subtypes, or its TXT record does not fit into one message.
  package func validate() throws(PublicationError) {
    do throws(InstanceNameError) { try InstanceName.validate(instance) } catch {
      throw .name(error)
    }
    guard subtypes.count <= Self.subtypeLimit else { throw .subtypes(subtypes.count) }
    for subtype in subtypes {
      let count = subtype.composed.utf8.count
      guard (1...Name.maximumLabelLength).contains(count) else { throw .subtype(subtype) }
    }
    // The header, the name, and the ten bytes between a record's name and its data.
    let name = 1 + instance.composed.utf8.count + type.name().wire.count + 1
    guard MessageWriter.headerLength + name + 10 + text.length <= Message.maximumPayload else {
      throw .textTooLong(text.length)
    }
  }

  /// Returns whether the service is published on the link.
  func isPublished(on link: UInt32) -> Bool { links?.contains(link) ?? true }
}
