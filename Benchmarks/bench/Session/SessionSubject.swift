import Carom
import Foundation

/// One implementation, as a program that can play either side of a measurement. `session_sides.h`
/// defines the program's options and output.
struct SessionSubject: Sendable {
  /// The task of a side.
  enum Role: String, Sendable {
    case receive, send, answer, ask, serve, play, burst, flood, stand
  }

  /// The subject's name in tables.
  let name: String
  /// The program and its first arguments; the role and the options follow.
  let program: [String]
  /// Options that both sides receive.
  var options: [String] = []
  let roles: Set<Role>
  /// Whether messages are delivered reliably.
  var isReliable = true
  /// Whether the subject uses UDP, whose source address may change during a connection.
  var hasDatagrams = true

  /// Whether the subject supports 4,096 players and rates other than 60 Hz.
  var hasCrowds = false

  /// Returns the subject for Carom over one kind of link.
  static func carom(_ link: SessionCarom.Link) -> SessionSubject {
    SessionSubject(
      name: "Carom, \(link.rawValue)", program: itself("carom"),
      options: ["link=\(link.rawValue)"],
      roles: [.receive, .send, .answer, .ask, .serve, .play, .burst, .flood, .stand],
      hasDatagrams: link == .datagrams, hasCrowds: link == .datagrams)
  }

  /// Returns the subject for Carom over datagrams that one cipher encrypts. It only plays the game.
  static func carom(_ cipher: Cipher) -> SessionSubject {
    SessionSubject(
      name: "Carom, \(cipher.name)", program: itself("carom"),
      options: ["link=\(SessionCarom.Link.datagrams.rawValue)", "cipher=\(cipher.name)"],
      roles: [.serve, .play])
  }

  /// Returns the subject for kernel TCP with the given congestion control.
  static func tcp(_ control: String) -> SessionSubject {
    SessionSubject(
      name: "TCP \(control.uppercased())", program: itself("tcp"), options: ["control=\(control)"],
      roles: [.receive, .send], hasDatagrams: false)
  }

  /// The least that a game over kernel TCP costs: a read for each input, a write for each state.
  static let plainTCP = SessionSubject(
    name: "plain TCP", program: itself("tcp"), roles: [.serve, .play], hasDatagrams: false)

  /// Plain datagrams without a protocol: the lower bound of the cost.
  static let udp = SessionSubject(
    name: "plain UDP", program: itself("udp"),
    roles: [.receive, .send, .answer, .ask, .serve, .play], isReliable: false, hasCrowds: true)

  /// A plain echo server on libuv.
  static let libuv = SessionSubject(name: "libuv", program: itself("uv"), roles: [.answer])

  static func enet(_ executable: String) -> SessionSubject {
    SessionSubject(
      name: "ENet", program: [executable],
      roles: [.receive, .send, .answer, .ask, .serve, .play, .burst])
  }

  /// Returns the arguments that start this program as a side; see `SessionPeerCommand`.
  static func itself(_ words: String...) -> [String] {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return [path ?? CommandLine.arguments[0], "session-peer"] + words
  }

  /// Returns the arguments that start a side in the given role.
  func command(_ role: Role, _ options: [String]) -> [String] {
    program + [role.rawValue] + self.options + options
  }

  func has(_ roles: Role...) -> Bool { self.roles.isSuperset(of: roles) }
}
