import ArgumentParser
import Carom
import CaromCrypto
import CaromFleet
import CommandSupport

/// The options that say where players of a fleet reach a table, if that is not where it listens.
struct AdvertiseOptions: ParsableArguments {
  /// One value of the option.
  private enum Place {
    case address(HostAddress)
    /// The address that Agones tells, and the port of this name, or the first one.
    case agones(port: String?)

    init(_ text: String) throws(ValidationError) {
      let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if parts[0] == "agones", parts.count == 1 || UInt16(parts[1]) == nil {
        let port = parts.count == 1 ? nil : String(parts[1])
        guard port != "" else {
          throw ValidationError("--advertise agones:NAME needs the name of a port.")
        }
        self = .agones(port: port)
        return
      }
      let address: HostAddress?
      do throws(CommandFailure) { address = try HostAddress(text) } catch {
        throw ValidationError("--advertise: \(error.line).")
      }
      guard let address else {
        throw ValidationError("--advertise \(text) must be ADDRESS:PORT, agones or agones:NAME.")
      }
      self = .address(address)
    }
  }

  @Option(
    help: ArgumentHelp(
      """
      Where players of the fleet reach this table, if not at its own addresses: ADDRESS:PORT of a \
      proxy or a router, or agones for the address and the first port that Agones tells, or \
      agones:NAME for the port of that name. May be repeated.
      """, valueName: "address"))
  var advertise: [String] = []

  @OptionGroup private var bytes: RoutingOptions

  func validate() throws {
    for text in advertise { _ = try Place(text) }
    guard advertise.count <= ConnectToken.hostLimit else {
      throw ValidationError("--advertise can be given \(ConnectToken.hostLimit) times at most.")
    }
    if advertise.isEmpty, bytes.routing != nil {
      throw ValidationError("--routing-prefix and --routing-suffix need --advertise ADDRESS:PORT.")
    }
  }

  /// Throws if a table without a fleet has one of these options.
  func check(isInFleet: Bool) throws(ValidationError) {
    guard isInFleet || advertise.isEmpty else {
      throw ValidationError("--advertise needs --fleet ADDRESS: the fleet sends players there.")
    }
  }

  /// The bytes by which a proxy finds this table; nil if there are none.
  var routing: DatagramRouting? { bytes.routing }

  /// Returns the endpoints that the table advertises, at most 6; none if they are its own.
  /// `sidecar` is that of Agones, if it runs the table.
  func findEndpoints(
    _ sidecar: AgonesSidecar?, on loop: NetworkLoop
  ) async throws -> [Endpoint] {
    var endpoints: [Endpoint] = []
    for text in advertise {
      switch try Place(text) {
      case .address(let address):
        do throws(TransportError) {
          endpoints += try await loop.lookup(host: address.host)
            .map { Endpoint($0, port: address.port) }
        } catch { throw CommandFailure(.unreachable, "\(address.host): \(error)") }
      case .agones(let port): endpoints += try await askAgones(sidecar, port, on: loop)
      }
    }
    guard endpoints.allSatisfy(ConnectToken.isUsable) else {
      throw CommandFailure(.usage, "players cannot connect to an address of --advertise")
    }
    return Array(endpoints.prefix(ConnectToken.hostLimit))
  }

  private func askAgones(
    _ sidecar: AgonesSidecar?, _ port: String?, on loop: NetworkLoop
  ) async throws(CommandFailure) -> [Endpoint] {
    guard let sidecar else {
      throw CommandFailure(
        .usage, "--advertise agones needs \(AgonesSidecar.portVariable), which Agones sets")
    }
    do throws(AgonesEndpointError) {
      return try await sidecar.findEndpoints(ofPort: port, on: loop)
    } catch { throw CommandFailure(.unreachable, error.description) }
  }
}
