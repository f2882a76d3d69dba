import ArgumentParser
import CaromCrypto
import CaromDNS
import CaromNearby

/// The arguments of the commands that connect with the peers on the network.
struct NearbyOptions: ParsableArguments {
  /// The service type unless another one is given.
  static let defaultType = "_carom._udp"

  @Argument(help: "The name that others see, at most 63 bytes.") var name: String
  @Option(help: "The service type under which the peers find each other.")
  var type = NearbyOptions.defaultType
  @Option(help: "Connect only with peers that give the same code, such as K7QM-2XRT.")
  var code: String?

  /// This side as the options describe it, on the given interfaces.
  func makeNearby(_ interfaces: InterfaceSelection, on loop: NetworkLoop) throws -> Nearby {
    var nearby = Nearby(try CommandFailure.displayName(name), type: try ServiceType(type), on: loop)
    nearby.interfaces = interfaces
    if let code {
      do throws(JoinCodeError) {
        nearby.security = .code(try JoinCode(code))
      } catch { throw CommandFailure(.usage, "'\(code)' is not a code: \(error)") }
    }
    return nearby
  }
}

extension MessageChannel<String> {
  /// The lines of `carom chat`.
  static var chat: Self { .init(0, .reliableOrdered) }
}
