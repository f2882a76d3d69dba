import CUVLoop
import CaromCore

/// Access to the list of this host's network interfaces.
public enum Interfaces {
  /// Returns all interfaces, in ascending order of their indices.
  public static func list() throws(TransportError) -> [Interface] {
    var interfaces: [UInt32: Interface] = [:]
    for entry in try entries() where entry.index != 0 {
      guard var item = interfaces[entry.index] ?? Interface(entry) else { continue }
      if entry.address.family != 0 {
        item.addresses.append(
          Interface.Address(
            Endpoint(entry.address).address, prefixLength: Int(entry.prefix_length)))
      }
      interfaces[entry.index] = item
    }
    return interfaces.values.sorted { $0.index < $1.index }.map { item in
      var item = item
      item.addresses.sort { ($0.address, $0.prefixLength) < ($1.address, $1.prefixLength) }
      return item
    }
  }

  /// Returns the interface entries that the C code reads. Reads them again with a larger buffer if
  /// they did not all fit.
  private static func entries() throws(TransportError) -> [cuv_interface_entry] {
    var capacity = 32
    while true {
      var entries = [cuv_interface_entry](repeating: cuv_interface_entry(), count: capacity)
      let count = unsafe cuv_interfaces(&entries, capacity)
      try check(count, "list the interfaces")
      if count <= capacity { return Array(entries.prefix(Int(count))) }
      capacity = Int(count) * 2
    }
  }
}
