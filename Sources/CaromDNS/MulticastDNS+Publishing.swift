import CaromCore

extension MulticastDNS {
  /// The responder's counters.
  package var responderCounters: Responder.Counters { responder.counters }

  /// Starts to publish a service and returns its id. `Responder.Event`s report the outcome.
  package mutating func publish(
    _ service: Registration, at now: Instant
  ) throws(PublicationError) -> PublicationID {
    try responder.publish(service, at: now)
  }

  /// Changes the TXT record of a service. Questions are answered with the new record from now on.
  /// Changes are announced at most once a second; beyond ten in a minute, a change is announced
  /// once 1.5 s have passed without a further change.
  package mutating func update(
    _ id: PublicationID, text: TXTRecord, at now: Instant
  ) throws(PublicationError) {
    try responder.update(id, text: text, at: now)
  }

  /// Changes the subtypes of a service, with the same rate limit as for TXT records.
  package mutating func update(
    _ id: PublicationID, subtypes: [String], at now: Instant
  ) throws(PublicationError) {
    try responder.update(id, subtypes: subtypes, at: now)
  }

  /// Renames a service: sends goodbye records for the old name and claims the new name. A `renamed`
  /// event follows.
  package mutating func rename(
    _ id: PublicationID, to instance: String, at now: Instant
  ) throws(PublicationError) {
    try responder.rename(id, to: instance, at: now)
  }

  /// Ends a publication. Its goodbye records are sent after `Responder.goodbyeDelay`, together with
  /// those of other publications that end during this delay.
  package mutating func withdraw(_ id: PublicationID, at now: Instant) {
    responder.withdraw(id, at: now)
  }

  /// Ends all publications and queues goodbye records for their records.
  package mutating func withdrawAll(at now: Instant) { responder.withdrawAll(at: now) }

  /// Whether goodbye records of withdrawn publications are still waiting to be sent.
  package var hasPendingGoodbyes: Bool { responder.hasPendingGoodbyes }

  /// Sends the goodbye records of withdrawn publications now.
  package mutating func sendGoodbyes() { responder.sendGoodbyes() }

  /// Claims every name on every link again, for example after the computer has slept.
  package mutating func reclaimNames(at now: Instant) { responder.reclaimNames(at: now) }
}
