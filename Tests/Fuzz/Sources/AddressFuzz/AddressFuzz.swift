import CaromCore
import FuzzSupport

/// Checks that an address or peer id that was parsed from text equals the one parsed from its
/// description.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: fuzzInput(data, count), as: UTF8.self)
  if let address = IPAddress(text) { precondition(IPAddress(address.description) == address) }
  if let id = PeerID(text) { precondition(PeerID(id.description) == id) }
  return 0
}
