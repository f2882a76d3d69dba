import CaromDNS

/// A domain name as it is written on the command line.
enum NameArgument {
  /// Parses a name. Appends `local` to a name without a domain, such as "maya" or "_http._tcp", and
  /// prints a line about this to standard error. A trailing dot prevents that.
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

  /// Returns whether a name has a domain: it has more than one label, and the last label is not a
  /// transport such as `_tcp`.
  private static func hasDomain(_ name: Name) -> Bool {
    guard let last = name.labels.last, name.labels.count > 1 else { return false }
    return !["_tcp", "_udp"].contains(String(decoding: last, as: UTF8.self).lowercased())
  }

  /// Returns the record types to query if the user gives none: the addresses for the name of a
  /// host, or the pointers for a service type or a reverse name.
  static func usualTypes(of name: Name) -> [RecordType] {
    let (first, last) = (name.labels.first?.first, name.labels.last ?? [])
    let isPointer =
      first == UInt8(ascii: "_") || String(decoding: last, as: UTF8.self).lowercased() == "arpa"
    return isPointer ? [.ptr] : [.a, .aaaa]
  }
}
