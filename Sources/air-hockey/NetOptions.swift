import ArgumentParser
import Carom
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

  /// Returns the information about this player that is sent to peers.
  func peer(_ name: String, yieldsSeat: Bool = false, isSpectator: Bool = false) -> PeerInfo {
    PeerInfo(
      id: .random(), name: name, application: GameWire.application,
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
  @Option(
    help: """
      How connections are protected: anyone (the default), known, code or none. Both players need \
      the same; anyone and known fit together.
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
      The file with this player's key, which is created if it is missing. By default, a key is \
      made for each start, and with --security known kept in the configuration folder.
      """)
  var identity: String?

  func validate() throws {
    let policy = policy
    if policy == .token {
      throw ValidationError("--security is none, anyone, known or code: air-hockey has no backend.")
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
    security ?? (code != nil ? .code : known != nil ? .known : .anyone)
  }

  /// Reads the key files that the policy requires, and returns the protection. Creates this
  /// player's key if it is missing, and a join code if none was given and `makesCode` is true, as
  /// it is for a host, which shows its join code.
  func load(makesCode: Bool = false) throws(CommandFailure) -> Protection {
    switch policy {
    case .none: return Protection(.none)
    case .anyone: return Protection(.anyone(as: try loadIdentity()))
    case .known:
      let peers: KnownPeers
      do throws(KnownPeersFileError) {
        peers = try KnownPeersFile(path: known ?? "").load()
      } catch { throw CommandFailure(.ioFailed, error.description) }
      return Protection(.known(peers, as: try loadKeptIdentity()))
    case .code:
      let joinCode = try loadCode(makesCode: makesCode)
      return Protection(.code(joinCode, as: try loadIdentity()), code: joinCode)
    case .token: throw CommandFailure(.usage, "air-hockey has no backend that makes connect tokens")
    }
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
      FileHandle.standardError.write(Data("air-hockey: \(reason)\n".utf8))
    }
    return loaded.identity
  }
}

/// How the connections of a game are protected.
struct Protection: Sendable {
  let security: SessionSecurity
  /// The join code that this side shows or has been given, or nil if the connections need no code.
  let code: JoinCode?

  init(_ security: SessionSecurity, code: JoinCode? = nil) {
    self.security = security
    self.code = code
  }

  /// The text that players at this computer should read out to the other players: the join code or
  /// the words of the key, or nil if connections are not encrypted.
  var notice: String? {
    if let code { return "join code \(code.text)" }
    return security.identity.map { "key \($0.fingerprint)" }
  }
}

extension SessionSecurity.Policy: ExpressibleByArgument {}
