import CaromCore
import CaromCrypto
import CaromTransport
import TerminalText

/// The parts of a connect token that are displayed: its hosts, its times and, if they are known,
/// its player and data. The key and the ticket are contained only in the encoded token, which
/// `json(token:)` includes if it is passed as `token`.
struct TokenRows {
  private let token: ConnectToken
  private let player: PeerID?
  private let data: [UInt8]?

  /// Creates the rows of a token. The token's player and data are known only to those who have the
  /// backend's key.
  init(_ token: ConnectToken, player: PeerID? = nil, data: [UInt8]? = nil) {
    self.token = token
    self.player = player
    self.data = data
  }

  /// Returns the rows as lines of text for people.
  func text(at now: UnixTime) -> String {
    var rows = token.hosts.map { ("host", $0.description) }
    if let routing = token.routing { rows.append(("routing", routing.description)) }
    rows.append(("made", Self.text(of: token.made, at: now)))
    rows.append(("expires", Self.text(of: token.expiry, at: now)))
    if let player, let data {
      rows.append(("player", player.description))
      rows.append(("data", TextWidth.escaped(String(decoding: data, as: UTF8.self))))
    }
    return rows.map { name, value in
      value.isEmpty ? name : name + String(repeating: " ", count: 9 - name.count) + value
    }.joined(separator: "\n")
  }

  /// Returns the rows as a JSON object on one line, with the encoded token if `text` is not nil.
  func json(token text: String? = nil) -> String {
    var fields: [JSONValue.Field] = [.init("event", .string("token"))]
    if let text { fields.append(.init("token", .string(text))) }
    fields += [
      .init("hosts", .strings(token.hosts.map(\.description)))
    ]
    if let routing = token.routing {
      fields.append(.init("routing", .string(routing.description)))
    }
    fields += [
      .init("made", .number(Int(token.made.milliseconds))),
      .init("expiry", .number(Int(token.expiry.milliseconds))),
    ]
    if let player, let data {
      let text = String(validating: data, as: UTF8.self)
      fields += [
        .init("player", .string(player.description)),
        .init(
          "data", text.map(JSONValue.string) ?? .array(data.map { JSONValue.number(Int($0)) })),
      ]
    }
    return JSONValue.object(fields).text
  }

  /// Prints lines to standard output. Does not throw if standard output is a pipe without a reader.
  static func print(_ lines: String) throws {
    do throws(TransportError) {
      try SystemFile.append(Array((lines + "\n").utf8), to: 1)
    } catch .connectionReset {
      // A pipe without a reader is reported like a reset connection.
    } catch {
      throw CommandFailure(.ioFailed, "the output cannot be written: \(error)")
    }
  }

  private static func text(of time: UnixTime, at now: UnixTime) -> String {
    let (distance, isFar) = time.milliseconds.subtractingReportingOverflow(now.milliseconds)
    if isFar { return "at an unknown time" }
    let seconds = distance / 1_000
    return distance > 0 ? "in \(seconds) s" : "\(-seconds) s ago"
  }
}
