import CaromCore
import FuzzSupport

/// What reads as an address or an id reads the same again from its own text.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: fuzzInput(data, count), as: UTF8.self)
  if let address = IPAddress(text) { precondition(IPAddress(address.description) == address) }
  if let id = PeerID(text) { precondition(PeerID(id.description) == id) }
  return 0
}
