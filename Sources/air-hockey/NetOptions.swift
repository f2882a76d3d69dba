import ArgumentParser
import Carom
import CaromTransport
import Foundation

/// The options shared by all commands that play over the network.
struct NetOptions: ParsableArguments {
  @Option(
    help: "The interface on which to find players, such as eth0 or lo; may be repeated.")
  var interface: [String] = []

  @Option(
    help: "The transport: udp, tcp, or auto, which prefers UDP and falls back to TCP.")
  var transport = Transport.auto

  @Option(
    parsing: .unconditional,
    help: "Seconds to wait for a player who has lost the network; 0 ends the match at once.")
  var reconnect = 10

  @Option(
    help: ArgumentHelp(
      "Play as if over another network, with its delay, jitter and loss, over UDP alone.",
      valueName: "profile"))
  var conditions: LinkProfile?

  @Flag(
    help: """
      Print the round trip, loss, state age, corrections and bytes every second, except with \
      --headless.
      """)
  var netStats = false

  @OptionGroup var protection: SecurityOptions

  func validate() throws {
    guard (0...3600).contains(reconnect) else {
      throw ValidationError("--reconnect must be a whole number of seconds from 0 to 3600.")
    }
    guard conditions == nil || transport != .tcp else {
      throw ValidationError("--conditions are simulated over UDP: omit --transport tcp.")
    }
  }

  /// The timing of the connections to the other players.
  var timing: SessionTiming {
    var timing = SessionTiming()
    timing.resumeLimit = .seconds(reconnect)
    return timing
  }

  /// The kinds of links that the game uses.
  var kinds: LinkKinds { conditions == nil ? transport.kinds : .datagram }

  var interfaces: InterfaceSelection { interface.isEmpty ? .automatic : .named(interface) }

  /// Returns the information about this player that is sent to peers. `id` is nil for a new id.
  func peer(
    _ name: String, id: PeerID? = nil, yieldsSeat: Bool = false, isSpectator: Bool = false
  ) -> PeerInfo {
    PeerInfo(
      id: id ?? .random(), name: name, application: GameWire.application,
      applicationVersion: GameWire.version, yieldsSeat: yieldsSeat, isSpectator: isSpectator)
  }
}

extension LinkProfile: ExpressibleByArgument {
  /// Finds a profile by its name, such as "mobile".
  public init?(argument: String) {
    guard let profile = Self.all.first(where: { $0.name == argument }) else { return nil }
    self = profile
  }

  /// The names of all profiles.
  public static var allValueStrings: [String] { all.map(\.name) }
}

/// The transport of a game.
enum Transport: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, udp, tcp

  var kinds: LinkKinds {
    switch self {
    case .auto: .all
    case .udp: .datagram
    case .tcp: .stream
    }
  }
}

/// The options that say how connections are protected, and from whom.
struct SecurityOptions: ParsableArguments {
  /// The maximum number of a backend's keys that a host accepts.
  private static let keyLimit = 4

  @Option(
    help: """
      How connections are protected: anyone (the default), known, code, token or none. Both \
      players need the same; anyone and known fit together.
      """)
  var security: SessionSecurity.Policy?

  @Option(
    defaultAsFlag: "",
    help: """
      Require a join code of eight characters. A host without CODE makes one and shows it; those \
      who join type it in.
      """)
  var code: String?

  @Option(help: "The file with the keys of the players who may play, for --security known.")
  var known: String?

  @Option(
    help: """
      For those who join: the file with a connect token, as carom token make --json prints it.
      """)
  var token: String?

  @Option(
    help: """
      For a host: the file with the key of the backend whose connect tokens let players in. \
      carom token key makes such a file. May be repeated, up to 4 times, while the key is \
      changed: the host accepts the tokens of all, and makes its own with the first.
      """)
  var key: [String] = []

  @Option(
    help: """
      The file with this player's key, which is created if it is missing. By default, a key is \
      made for each start, and with --security known kept in the configuration folder.
      """)
  var identity: String?

  func validate() throws {
    let policy = policy
    if policy == .token, token == nil, key.isEmpty {
      throw ValidationError(
        "--security token also needs --key FILE on a host, and --token FILE to join one.")
    }
    guard key.count <= Self.keyLimit else {
      throw ValidationError("--key can be given \(Self.keyLimit) times at most.")
    }
    for (option, file) in [("--token", token), ("--key", key.first)] where file != nil {
      guard policy == .token else {
        throw ValidationError("\(option) FILE needs --security token, which it implies by itself.")
      }
    }
    if identity != nil, token != nil {
      throw ValidationError("--identity cannot be combined with --token: omit one of them.")
    }
    if code != nil, policy != .code {
      throw ValidationError(
        "--code cannot be combined with --security \(policy.rawValue): omit one of them.")
    }
    if policy == .known, known == nil {
      throw ValidationError("--security known also needs --known FILE, with the players' keys.")
    }
    if known != nil, policy != .known {
      throw ValidationError("--known FILE needs --security known, which it implies by itself.")
    }
    if identity != nil, policy == .none {
      throw ValidationError("--identity cannot be combined with --security none: omit one of them.")
    }
    if let code, !code.isEmpty {
      do throws(JoinCodeError) { _ = try JoinCode(code) } catch {
        throw ValidationError("--code: \(error).")
      }
    }
  }

  /// How connections are protected.
  var policy: SessionSecurity.Policy {
    if let security { return security }
    if code != nil { return .code }
    if known != nil { return .known }
    return token != nil || !key.isEmpty ? .token : .anyone
  }

  /// Reads the key files that the policy requires, and returns the protection. Creates this
  /// player's key if it is missing, and a join code if none was given and `makesCode` is true, as
  /// it is for a host, which shows its join code.
  func load(makesCode: Bool = false) throws(CommandFailure) -> Protection {
    switch policy {
    case .none: return Protection(.none)
    case .anyone: return Protection(.anyone(as: try loadIdentity()))
    case .known: return Protection(.known(try loadKnownPeers(), as: try loadKeptIdentity()))
    case .code:
      let joinCode = try loadCode(makesCode: makesCode)
      return Protection(.code(joinCode, as: try loadIdentity()), code: joinCode)
    case .token:
      guard let token else {
        return Protection(.token(keys: try loadBackendKeys(), as: try loadIdentity()))
      }
      let loaded = try TokenFile(path: token)
      return Protection(.token(loaded.token), player: loaded.player)
    }
  }

  /// Throws unless the options with which players join by a connect token are those of this side:
  /// a host has a backend's key, and those who join have a token.
  func checkToken(isHost: Bool) throws(ValidationError) {
    if isHost, token != nil {
      throw ValidationError("--token is for those who join; a host needs --key FILE.")
    }
    if !isHost, !key.isEmpty {
      throw ValidationError("--key is for a host; those who join need --token FILE.")
    }
  }

  /// Reads the keys of the backend that makes the connect tokens, at least one.
  func loadBackendKeys() throws(CommandFailure) -> [BackendKey] {
    guard !key.isEmpty else {
      throw CommandFailure(.usage, "--security token needs --key FILE, the backend's key")
    }
    var keys: [BackendKey] = []
    do throws(BackendKeyFileError) {
      for path in key { keys.append(try BackendKeyFile(path: path).load()) }
    } catch {
      throw CommandFailure(.ioFailed, error.description)
    }
    return keys
  }

  /// Reads the keys of the players who may play. A missing file would be an empty list, with which
  /// nobody could.
  private func loadKnownPeers() throws(CommandFailure) -> KnownPeers {
    let path = known ?? ""
    guard FileManager.default.fileExists(atPath: path) else {
      throw CommandFailure(
        .ioFailed, "--known: \(path) does not exist: write the players' names and keys to it")
    }
    do throws(KnownPeersFileError) {
      return try KnownPeersFile(path: path).load()
    } catch { throw CommandFailure(.ioFailed, error.description) }
  }

  private func loadCode(makesCode: Bool) throws(CommandFailure) -> JoinCode {
    if let code, let given = try? JoinCode(code) { return given }
    guard makesCode else {
      throw CommandFailure(.usage, "--code needs the host's code, such as K7QM-2XRT")
    }
    return .random()
  }
}

// MARK: - Keys
extension SecurityOptions {
  /// The application's name in the account's configuration folder.
  private static let application = "air-hockey"

  /// Loads the key from the given file, or creates a key for this run of the program if no file is
  /// given.
  private func loadIdentity() throws(CommandFailure) -> Identity {
    identity == nil ? .random() : try loadKeptIdentity()
  }

  /// Loads the key from the given file or, if no file is given, from the configuration folder.
  /// Creates the key if it does not exist.
  private func loadKeptIdentity() throws(CommandFailure) -> Identity {
    let loaded: LoadedIdentity
    do throws(IdentityFileError) {
      loaded =
        if let identity {
          try IdentityFile.loadOrCreate(at: identity)
        } else {
          try IdentityFile.loadOrCreate(for: Self.application)
        }
    } catch { throw CommandFailure(.ioFailed, error.description) }
    if case .temporary(let reason) = loaded.origin {
      try? FileHandle.standardError.write(contentsOf: Data("air-hockey: \(reason)\n".utf8))
    }
    return loaded.identity
  }
}

/// How the connections of a game are protected.
struct Protection: Sendable {
  let security: SessionSecurity
  /// The join code that this side shows or has been given, or nil if the connections need no code.
  let code: JoinCode?
  /// The id that this player has by its connect token, or nil if it has no token.
  let player: PeerID?

  init(_ security: SessionSecurity, code: JoinCode? = nil, player: PeerID? = nil) {
    self.security = security
    self.code = code
    self.player = player
  }

  /// The text that players at this computer should read out to the other players: the join code or
  /// the words of the key, or nil if connections are not encrypted.
  var notice: String? {
    if let code { return "join code \(code.text)" }
    return security.identity.map { "key \($0.fingerprint)" }
  }
}

extension SessionSecurity.Policy: ExpressibleByArgument {}

/// A file with a connect token and the id of its player, in JSON as `carom token make --json`
/// prints them. The player needs the id too, but only the host can read the one in the token.
struct TokenFile {
  let token: ConnectToken
  let player: PeerID

  private struct Fields: Decodable {
    var token: String
    var player: String
  }

  /// Reads the file, which other users must not be able to read.
  init(path: String) throws(CommandFailure) {
    let content = try PrivateFile.secret(path, limit: 8_192)
    guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(content)),
      let player = PeerID(fields.player), let token = try? ConnectToken(fields.token)
    else {
      throw CommandFailure(
        .ioFailed, "\(path) is not what carom token make --json prints: ask for another token")
    }
    self.token = token
    self.player = player
  }
}

extension PrivateFile {
  /// Returns the content of a file with a secret, at most `limit` bytes.
  static func secret(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
    do throws(PrivateFile.Failure) {
      return try content(of: path, limit: limit, isSecret: true)
    } catch {
      throw CommandFailure(.ioFailed, "\(path) cannot be used: \(error)")
    }
  }
}
