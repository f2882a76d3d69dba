import CaromCore

/// A host's use of a join code: whether an attempt with it may be made now, and what it costs if it
/// is wrong.
///
/// Three attempts may be wrong. From then on, each wrong attempt makes all others wait: 30 s, then
/// twice as long each time, up to 10 minutes. So at most 150 guesses are tested in a day. A right
/// attempt forgives the wrong ones.
///
/// An attempt counts as wrong from its beginning until it turns out to be right. Thus attempts that
/// are made at the same time, even on several loops, do not exceed the limit.
package struct JoinCodeGate: Sendable {
  /// The number of wrong attempts before the first wait.
  package static let freeAttempts = 3
  /// The first wait.
  package static let firstWait = Duration.seconds(30)
  /// The longest wait.
  package static let longestWait = Duration.seconds(600)

  /// The reasons why an attempt is not made, or not accepted.
  package enum Refusal: Error, Hashable {
    /// Too many attempts were wrong: try again at this time.
    case waiting(until: Instant)
    /// The code was for one use: ask for another one.
    case used
  }

  /// Something that the host's user should know.
  package enum Event: Hashable, Sendable {
    /// Somebody has tried a wrong code; `count` attempts in a row were wrong. If there were too
    /// many, no other attempt is made before the given time.
    case wrongCode(count: Int, waitsUntil: Instant?)
  }

  /// The code, which the initiator must know.
  package let code: JoinCode
  /// Whether the first right attempt uses the code up.
  package let isForOneUse: Bool
  /// The peer that has used up the code; nil if it is not used up.
  private var user: PeerID?
  /// The number of attempts since the last right one that were not right, or not yet.
  private var wrongCount = 0
  private var end: Instant?

  /// Creates a gate with a code.
  package init(_ code: JoinCode, isForOneUse: Bool = false) {
    self.code = code
    self.isForOneUse = isForOneUse
  }

  /// Begins an attempt. The attempt counts as wrong until `acceptAttempt` says otherwise. `peer` is
  /// the id that the other side has proven; nil if it has proven none.
  package mutating func beginAttempt(by peer: PeerID? = nil, at now: Instant) throws(Refusal) {
    guard user == nil || user == peer else { throw .used }
    if let end, now < end { throw .waiting(until: end) }
    wrongCount += 1
    end = Self.wait(after: wrongCount).map { now + $0 }
  }

  /// Accepts the attempt of a peer that has turned out to be right. A peer that has used up a code
  /// for one use may use it again, because each of its links makes an attempt. Throws `used` if the
  /// code was for one use and another peer's attempt has been accepted since this one began.
  package mutating func acceptAttempt(by peer: PeerID) throws(Refusal) {
    guard user == nil || user == peer else { throw .used }
    wrongCount = 0
    end = nil
    user = isForOneUse ? peer : nil
  }

  /// Returns the event that reports an attempt that has turned out to be wrong.
  package func rejectAttempt() -> Event { .wrongCode(count: wrongCount, waitsUntil: end) }

  /// Returns how long all attempts wait after `count` wrong ones; nil if they do not.
  private static func wait(after count: Int) -> Duration? {
    guard count >= freeAttempts else { return nil }
    let doublings = count - freeAttempts
    // Five doublings exceed the longest wait; more could overflow.
    return doublings >= 5 ? longestWait : min(longestWait, firstWait * (1 << doublings))
  }
}
