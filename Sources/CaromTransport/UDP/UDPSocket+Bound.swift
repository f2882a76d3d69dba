import CUVLoop
import CaromCore

extension UDPSocket {
  /// The addresses that sockets of this host, whoever's, are bound to at `port`: once for each
  /// socket, 0.0.0.0 and :: for those that hear every address. `nil` where the system does not
  /// say. Call it on the loop's thread: it speaks of that thread's network.
  public static func addresses(boundTo port: UInt16) -> [IPAddress]? {
    var capacity = 64
    while true {
      var endpoints = [cuv_endpoint](repeating: cuv_endpoint(), count: capacity)
      let count = Int(unsafe cuv_udp_bound(port, &endpoints, capacity))
      if count < 0 { return nil }
      if count <= capacity { return endpoints.prefix(count).map { Endpoint($0).address } }
      capacity = count * 2
    }
  }
}
