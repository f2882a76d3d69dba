import CaromCore
import CaromDNS
import FuzzSupport

/// Checks that decoding a DNS message never traps.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  _ = try? Message(decoding: fuzzInput(data, count))
  return 0
}
