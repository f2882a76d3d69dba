import CaromCore

// MARK: - Intents of the asking side

extension MulticastDNS {
  /// Watches for what `target` names; check `target.name()` first where it comes from outside.
  /// `nil` where there are `Querier.browseLimit` browsings.
  package mutating func browse(_ target: BrowseTarget, at now: Instant) -> BrowseID? {
    querier.browse(target, at: now)
  }

  /// Watches for services of a type; at most `Querier.browseLimit` at a time.
  package mutating func browse(_ type: ServiceType, at now: Instant) -> BrowseID {
    guard let id = querier.browse(.services(type), at: now) else {
      preconditionFailure("at most \(Querier.browseLimit) browsings at a time")
    }
    return id
  }

  /// Stops watching.
  package mutating func stopBrowsing(_ id: BrowseID) { querier.stopBrowsing(id) }

  /// Learns where a service listens, until `deadline`: exactly one event follows.
  package mutating func resolve(
    _ instance: Name, deadline: Instant, at now: Instant
  ) -> ResolveID {
    querier.resolve(instance, deadline: deadline, at: now)
  }

  /// Gives up resolving.
  package mutating func cancelResolve(_ id: ResolveID) { querier.cancelResolve(id) }

  /// Watches the strings of a service; `nil` where there are `Querier.monitorLimit`.
  package mutating func monitorText(of instance: Name, at now: Instant) -> MonitorID? {
    querier.monitorText(of: instance, at: now)
  }

  /// Watches them no more.
  package mutating func stopMonitoring(_ id: MonitorID) { querier.stopMonitoring(id) }

  /// Asks for records of any type; `nil` where there are `Querier.queryLimit` queries.
  package mutating func query(_ name: Name, _ type: RecordType, at now: Instant) -> QueryID? {
    querier.query(name, type, at: now)
  }

  /// Asks for them no more.
  package mutating func stopQuery(_ id: QueryID) { querier.stopQuery(id) }

  /// What is known now, without a question.
  package func known(_ name: Name, _ type: RecordType, at now: Instant) -> [KnownRecord] {
    querier.known(name, type, at: now)
  }

  /// A service does not answer: ask again, and forget it in ten seconds if it stays silent.
  package mutating func reconfirm(_ instance: Name, at now: Instant) {
    querier.reconfirm(instance, at: now)
  }

  /// A record seems to be wrong: ask again, and forget it in ten seconds if nobody repeats it.
  package mutating func reconfirm(_ record: Record, at now: Instant) {
    querier.reconfirm(record, at: now)
  }

  /// Asks everything again, as on a link that is new: after a sleep, or when a cable came back.
  /// What nobody repeats within ten seconds is gone. `nil` for every link.
  package mutating func askAgain(on link: UInt32?, at now: Instant) {
    querier.askAgain(on: link, at: now)
  }

  /// Whether more events belong to what the last call brought: `pollEvent` gives them before
  /// anything else happens.
  package var hasMoreEvents: Bool { querier.hasMoreEvents }
}

// MARK: - Names

extension MulticastDNS {
  /// Whether a name is only asked for by multicast: `local`, and the reverse names of link-local
  /// addresses (RFC 6762 §4, §12).
  package static func isMulticastName(_ name: Name) -> Bool {
    let suffixes: [Name] = [
      "local", "254.169.in-addr.arpa", "8.e.f.ip6.arpa", "9.e.f.ip6.arpa", "a.e.f.ip6.arpa",
      "b.e.f.ip6.arpa",
    ]
    var rest = name
    while rest != .root {
      if suffixes.contains(rest) { return true }
      rest = rest.parent
    }
    return false
  }

  /// The reverse name of a subnet of ours, which domains can be asked for (RFC 6763 §11);
  /// `nil` for link-local addresses and this host itself.
  package static func reverseDomain(of address: Link.Address) -> Name? {
    let plain = address.address
    guard !plain.isLinkLocal, !plain.isLoopback else { return nil }
    var bytes = plain.bytes
    for index in bytes.indices {
      let bits = min(8, max(0, address.prefixLength - index * 8))
      bytes[index] &= UInt8(truncatingIfNeeded: 0xFF00 >> bits)
    }
    let labels =
      plain.isV6
      ? bytes.reversed().flatMap { [$0 & 15, $0 >> 4] }.map { String($0, radix: 16) }
        + ["ip6", "arpa"]
      : bytes.reversed().map { String($0) } + ["in-addr", "arpa"]
    return try? Name(labels: labels.map { Array($0.utf8) })
  }
}
