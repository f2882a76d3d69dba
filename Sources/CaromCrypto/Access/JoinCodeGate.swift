import CaromCore

/// Decides for a host when an attempt with a join code may be made, and how long the next attempts
/// must wait after wrong ones.
///
/// The first two wrong attempts cause no wait. From the third on, each wrong attempt makes all
/// later attempts wait: 30 s at first, then twice as long each time, up to 10 minutes. So at most
/// 150 guesses can be tested in a day. A right attempt clears the count of wrong ones.
///
/// An attempt counts as wrong from its beginning until it turns out to be right. Thus attempts that
/// are made at the same time, even on several loops, do not exceed the limit.
package struct JoinCodeGate: Sendable {
  /// The number of wrong attempts after which the first wait begins.
  package static let freeAttempts = 3
  /// The first wait.
  package static let firstWait = Duration.seconds(30)
  /// The longest wait.
  package static let longestWait = Duration.seconds(600)

  /// The reasons why an attempt cannot be made or is not accepted.
  package enum Refusal: Error, Hashable {
    /// Too many attempts were wrong: try again at this time.
    case waiting(until: Instant)
    /// The code was for one use and has been used: ask for another code.
    case used
  }

  /// Something that the host's user should know.
  package enum Event: Hashable, Sendable {
    /// Somebody has tried a wrong code; `count` attempts in a row were wrong. If `waitsUntil` is
    /// not nil, they were too many, and no other attempt can be made before that time.
    case wrongCode(count: Int, waitsUntil: Instant?)
  }

  /// The code, which the initiator must know.
  package let code: JoinCode
  /// Whether the first right attempt uses the code up.
  package let isForOneUse: Bool
  /// The peer that has used up the code; nil if it is not used up.
  private var user: PeerID?
  /// The number of attempts since the last right one. These attempts were wrong or are still
  /// undecided.
  private var wrongCount = 0
  private var end: Instant?

  /// Creates a gate with a code.
  package init(_ code: JoinCode, isForOneUse: Bool = false) {
    self.code = code
    self.isForOneUse = isForOneUse
  }

  /// Begins an attempt. The attempt counts as wrong until `acceptAttempt` is called for it. `peer`
  /// is the id that the other side has proven, or nil if it has not proven one.
  package mutating func beginAttempt(by peer: PeerID? = nil, at now: Instant) throws(Refusal) {
    guard user == nil || user == peer else { throw .used }
    if let end, now < end { throw .waiting(until: end) }
    wrongCount += 1
    end = Self.wait(after: wrongCount).map { now + $0 }
  }

  /// Accepts a peer's attempt, which has turned out to be right. A peer that has used up a code for
  /// one use may use it again, because each of its links makes an attempt. Throws `used` if the
  /// code is for one use and an attempt of a different peer has been accepted since this one began.
  package mutating func acceptAttempt(by peer: PeerID) throws(Refusal) {
    guard user == nil || user == peer else { throw .used }
    wrongCount = 0
    end = nil
    user = isForOneUse ? peer : nil
  }

  /// Returns the event that reports that an attempt has turned out to be wrong.
  package func rejectAttempt() -> Event { .wrongCode(count: wrongCount, waitsUntil: end) }

  /// Returns the time for which all attempts must wait after `count` wrong ones, or nil if they
  /// need not wait.
  private static func wait(after count: Int) -> Duration? {
    guard count >= freeAttempts else { return nil }
    let doublings = count - freeAttempts
    // Five doublings exceed the longest wait; more could overflow.
    return doublings >= 5 ? longestWait : min(longestWait, firstWait * (1 << doublings))
  }
}
