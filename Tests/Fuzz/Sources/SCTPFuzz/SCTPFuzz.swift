import FuzzSupport

/// Runs the input as a script between two associations; see `SCTPScript`.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    _ = try SCTPScript.run(fuzzInput(data, count))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
