import ArgumentParser
import CaromCore
import CaromCrypto
import CaromSession
import CaromTransport
import CommandSupport
import Dispatch

/// The `token` command: makes connect tokens, as a backend does, and shows what is in them.
struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make connect tokens, with which players may join hosts, and show what is in them.",
    subcommands: [TokenKeyCommand.self, TokenMakeCommand.self, TokenShowCommand.self])
}

/// The `token key` command: creates the key that a backend shares with its hosts.
struct TokenKeyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Create the key that a backend shares with its hosts, in a new FILE.",
    discussion: "The file has 64 hexadecimal digits, and its owner alone can read it.")

  @Argument(help: "The file to create; it must not exist yet.") var file: String

  func run() throws {
    do throws(BackendKeyFileError) {
      try BackendKeyFile(path: file).create()
    } catch {
      throw CommandFailure(.ioFailed, error.description)
    }
  }
}

/// The `token make` command: prints a new connect token.
struct TokenMakeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Print a connect token for one player, who may join one of the HOSTs once.",
    discussion: "The token is secret: give it to its player alone.")

  @Argument(
    help: ArgumentHelp(
      "An endpoint of a host, ADDRESS:PORT or [ADDRESS]:PORT; up to 6.", valueName: "host"))
  var hosts: [String]
  @OptionGroup var keyFile: KeyFileOption
  @Option(help: "The player's id, 32 hexadecimal digits. Default: a random one.") var player:
    String?
  @Option(name: .customLong("for"), help: "How many seconds the token is valid, at most a day.")
  var seconds: Double = 60
  @Option(help: "A text for the host, at most 256 bytes.") var data = ""
  @OptionGroup var proxy: RoutingOptions
  @Flag(help: "Print a JSON object.") var json = false

  func run() throws {
    guard let key = try keyFile.key() else {
      throw CommandFailure(.usage, "--key FILE is needed: create one with carom token key FILE")
    }
    guard seconds > 0, seconds <= 86_400 else {
      throw CommandFailure(.usage, "--for must be more than 0 and at most 86400 seconds")
    }
    var generator = SystemGenerator()
    let player = try self.player.map(Self.player) ?? .random(using: &generator)
    let token = try ConnectToken(
      for: hosts.map(Self.endpoint), routing: proxy.routing, player: player,
      lifetime: .milliseconds(seconds * 1_000), data: Array(data.utf8), key: key,
      at: UnixTime(milliseconds: WallClock.milliseconds), using: &generator)
    let rows = TokenRows(token, player: player, data: Array(data.utf8))
    try TokenRows.print(json ? rows.json(token: token.text) : token.text)
  }

  private static func player(_ text: String) throws -> PeerID {
    guard let id = PeerID(text) else {
      throw CommandFailure(.usage, "--player must have 32 hexadecimal digits")
    }
    return id
  }

  private static func endpoint(_ text: String) throws -> Endpoint {
    if let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) {
      var host = text[..<colon]
      let hasBrackets = host.hasPrefix("[") && host.hasSuffix("]")
      if hasBrackets { host = host.dropFirst().dropLast() }
      if let address = IPAddress(host), address.isV6 == hasBrackets {
        return Endpoint(address, port: port)
      }
    }
    throw CommandFailure(.usage, "'\(text)' is not a host: use ADDRESS:PORT or [ADDRESS]:PORT")
  }
}

/// The `token show` command: prints what is in a connect token, without its keys.
struct TokenShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the hosts and the times of a TOKEN and, with the key, its player and data.",
    discussion: "Without TOKEN, the token is read from standard input.")

  @Argument(help: "The token, as carom token make prints it.") var token: String?
  @OptionGroup var keyFile: KeyFileOption
  @Flag(help: "Print a JSON object.") var json = false

  func run() async throws {
    guard let text = try await readToken() else { return }
    let token: ConnectToken
    guard !text.isEmpty else {
      throw CommandFailure(.usage, "no token was given: pass it, or write it to standard input")
    }
    do throws(DecodeError) {
      token = try ConnectToken(text)
    } catch {
      throw CommandFailure(.usage, "this is not a connect token (\(error)): copy all of it")
    }
    var rows = TokenRows(token)
    if let key = try keyFile.key() {
      guard let content = token.open(with: key) else {
        throw CommandFailure(
          .ioFailed, "the token was not made with the key in \(keyFile.path), or was changed")
      }
      rows = TokenRows(token, player: content.player, data: content.data)
    }
    try TokenRows.print(
      json ? rows.json() : rows.text(at: UnixTime(milliseconds: WallClock.milliseconds)))
  }

  /// Returns the text of the token: the argument, or the first line of standard input. Returns nil
  /// if the command was interrupted before there was one.
  private func readToken() async throws -> String? {
    if let token { return token }
    let text = Locked<String?>(nil)
    let end = try await CommandRunner.run(output: Output([], json: json, isTable: false)) {
      // Reading blocks, and is not waited for when the command is interrupted.
      let (lines, reader) = AsyncStream.makeStream(of: String.self)
      DispatchQueue(label: "input").async {
        reader.yield(Self.readLine())
        reader.finish()
      }
      for await line in lines { text.withLock { $0 = line } }
    }
    return end == .finished ? text.withLock { $0 } : nil
  }

  /// Returns the first line of standard input. Reads at most 5,120 bytes.
  private static func readLine() -> String {
    var input: [UInt8] = []
    while input.count <= 4_096, !input.contains(UInt8(ascii: "\n")),
      let part = SystemFile.bytes(from: 0, atMost: 1_024), !part.isEmpty
    {
      input += part
    }
    let line = input.prefix { $0 != UInt8(ascii: "\n") }
    return String(decoding: line, as: UTF8.self)
  }
}
