// Package kernel holds the inner loops of the embedding model: integer matrix
// products and the few float passes between them.
//
// It promises that every implementation returns the same bits. Portable, AVX2
// and VNNI differ only in speed, so that a vector made on one machine equals
// the vector another machine makes from the same text, and a test on a laptop
// speaks for the server. Three rules make that possible:
//
//   - Matrix products are sums of int16 products in int32. Integer addition is
//     associative, so tiles, unrolling and wider instructions cannot change the
//     result; the caller keeps the operands small enough that nothing wraps
//     (see Kernels.Gemm).
//   - Float steps use only single-precision add, subtract, multiply, divide,
//     square root, maximum and the conversion to the nearest even integer,
//     each of which IEEE 754 rounds in one way. No step is fused: the assembly
//     has no FMA, and the portable code wraps every product in float32(...),
//     which forbids the Go compiler to fuse it on targets that could.
//   - Float sums run in a stated lane order (see laneSum), the same in
//     portable code as in the registers of the vector code.
//
// Inputs are finite by construction (weights are checked by the pack's hash,
// activations follow a layer norm), so NaN never takes part in a maximum.
//
// Two facts about layout are shared with the pack file and the encoder: rows
// of activations come in pairs (RowStep), outputs in panels of Panel. A
// panel of a K×16 matrix stores, for each pair of consecutive K values, the
// sixteen outputs' two values side by side: [K/2][16][2]. The vector kernels
// read it front to back.
//
// Speed, measured on a Zen 4 core at 2.87 GHz: the AVX2 product does 70 billion
// multiply-adds per second where fp32 FMA could do 44 at best, and where the
// multiplier alone could do 91; sums that wait for products are what it cannot
// issue fast enough. Tried and left out: other tile shapes and instruction
// orders (within 2 %), Winograd's inner product, which trades half the
// multiplications for additions (equal), one step of Strassen's method, which
// is as exact here (4 % faster for 300 more lines), and 8-bit activations with
// VPMADDUBSW (a quarter faster, cosine down to 0.97).
package kernel
