import CaromDNS

/// A domain name as it is written on the command line.
enum NameArgument {
  /// Parses a name. A name without a domain, such as "maya" or "_http._tcp", is taken as one on the
  /// link, and a line on standard error says so; a trailing dot prevents that.
  static func name(_ text: String) throws(CommandFailure) -> Name {
    guard let name = try? Name(text: text) else {
      throw CommandFailure(
        .badName, "'\(text)' is not a valid name: labels have 1 to 63 bytes, names at most 255")
    }
    guard name != .root else {
      throw CommandFailure(.badName, "the name is empty: give one such as maya.local")
    }
    guard !hasDomain(name), !text.hasSuffix("."),
      let local = try? Name(labels: name.labels + [Array("local".utf8)])
    else { return name }
    CaromCommand.printError("'\(text)' has no domain: trying \(local)")
    return local
  }

  /// Whether a name ends with a domain, and not with its only label or a transport.
  private static func hasDomain(_ name: Name) -> Bool {
    guard let last = name.labels.last, name.labels.count > 1 else { return false }
    return !["_tcp", "_udp"].contains(String(decoding: last, as: UTF8.self).lowercased())
  }

  /// The types to query when none is given: the addresses of a host, or the pointers of a service
  /// type or a reverse name.
  static func usualTypes(of name: Name) -> [RecordType] {
    let (first, last) = (name.labels.first?.first, name.labels.last ?? [])
    let isPointer =
      first == UInt8(ascii: "_") || String(decoding: last, as: UTF8.self).lowercased() == "arpa"
    return isPointer ? [.ptr] : [.a, .aaaa]
  }
}
