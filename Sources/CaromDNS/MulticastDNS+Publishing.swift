import CaromCore

extension MulticastDNS {
  /// What the responder did and left undone.
  package var responderCounters: Responder.Counters { responder.counters }

  /// Publishes a service; see `Responder.Event`.
  package mutating func publish(
    _ service: Registration, at now: Instant
  ) throws(PublicationError) -> PublicationID {
    try responder.publish(service, at: now)
  }

  /// Changes the strings beside a service: told at once, or after ten changes within a minute
  /// when there is room again, then as they are by then.
  package mutating func update(
    _ id: PublicationID, text: TXTRecord, at now: Instant
  ) throws(PublicationError) {
    try responder.update(id, text: text, at: now)
  }

  /// Changes the narrower types of a service, at the same rate.
  package mutating func update(
    _ id: PublicationID, subtypes: [String], at now: Instant
  ) throws(PublicationError) {
    try responder.update(id, subtypes: subtypes, at: now)
  }

  /// Gives a service another name: goodbye, then a new claim; `renamed` follows.
  package mutating func rename(
    _ id: PublicationID, to instance: String, at now: Instant
  ) throws(PublicationError) {
    try responder.rename(id, to: instance, at: now)
  }

  /// Takes a service back: the goodbyes are ready to send.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) {
    responder.withdraw(id, at: now)
  }

  /// Takes every service back.
  package mutating func withdrawAll(at now: Instant) { responder.withdrawAll(at: now) }

  /// Claims every name anew on every link, such as after the computer slept.
  package mutating func reclaimNames(at now: Instant) { responder.reclaimNames(at: now) }
}
