import CaromCore

/// A service as the responder is asked to publish it.
package struct Registration: Hashable, Sendable {
  /// Subtypes of one service.
  package static let subtypeLimit = 64

  /// What people see, 1 to 63 bytes.
  package var instance: String
  /// What it speaks.
  package var type: ServiceType
  /// Narrower types that it is also found under (RFC 6763 §7.1), such as "_ranked".
  package var subtypes: [String]
  /// Where it listens.
  package var port: UInt16
  /// The strings beside it.
  package var text: TXTRecord
  /// Whether a taken name is changed to "X (2)"; else the publication fails.
  package var renames: Bool
  /// Whether nobody can have the same name by its construction, such as one with a UUID: it is
  /// announced at once, without asking for it (RFC 6762 §8.1). Its SRV names a host that is
  /// unique by construction too.
  package var isUnique: Bool
  /// The indices of the links that it is published on; `nil` for all.
  package var links: Set<UInt32>?

  /// A service on `port` of this host.
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

  /// Throws what no responder publishes.
  package func validate() throws(PublicationError) {
    do throws(InstanceNameError) { try InstanceName.validate(instance) } catch {
      throw .name(error)
    }
    guard subtypes.count <= Self.subtypeLimit else { throw .subtypes(subtypes.count) }
    for subtype in subtypes {
      let count = subtype.composed.utf8.count
      guard (1...Name.maximumLabelLength).contains(count) else { throw .subtype(subtype) }
    }
    // Header, name, and the ten bytes between a record's name and its data.
    let name = 1 + instance.composed.utf8.count + type.name().wire.count + 1
    guard MessageWriter.headerLength + name + 10 + text.length <= Message.maximumPayload else {
      throw .textTooLong(text.length)
    }
  }

  /// Whether it is published on that link.
  func isPublished(on link: UInt32) -> Bool { links?.contains(link) ?? true }
}
