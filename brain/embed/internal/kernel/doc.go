// Package kernel holds the inner loops of the embedding model: integer matrix
// products and the few float passes between them.
//
// It promises that every implementation returns the same bits. Portable, AVX2
// (with integer or float sums) and VNNI differ only in speed, so that a vector
// made on one machine equals the vector another machine makes from the same
// text, and a test on a laptop speaks for the server. Three rules make that
// possible:
//
//   - Matrix products are sums of int16 products in int32. Integer addition is
//     associative, so tiles, unrolling and wider instructions cannot change the
//     result; the caller keeps the operands small enough that nothing wraps
//     (see Kernels.Linear and Kernels.Gemm).
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
// Linear, the product with weights, is where the time goes (84 %). On a Zen 4
// core an integer sum may use any of the four vector units, and takes the two
// that multiply often enough that 75 billion multiply-adds per second are the
// most, of the 91 that the multipliers alone could do. A float sum uses the
// other two units only. So weights and inputs are made unsigned and short
// enough that the products of eight pairs sum to at most 2^24: numbers which,
// taken for the bits of floats, are subnormal or barely normal, and which a
// float addition adds exactly. The sums of blocks then go on as integers. That
// reaches 81. Processors that multiply and add floats in the same units (all of
// Intel's) sum integers instead, with the same bits.
//
// Linear8 takes inputs of eight bits and weights of four, both with a scale for each 32
// inputs. A product is short enough that the pairs of 32 inputs sum in int16, so that
// AVX2 needs two instructions for 32 products instead of four, and the product that
// widens those sums is that with the two scales, themselves multiplied in int16.
// VPDPBUSD sums a block at once. The numbers
// are unpacked to bytes for a run of blocks at a time and used for all rows. What it
// is good for, and what it loses: DESIGN.md of package embed.
//
// Tried and left out: other tile shapes and instruction orders (within 2 %),
// Winograd's inner product, which trades half the multiplications for additions
// (equal), one step of Strassen's method, which is as exact here (4 % faster for
// 300 more lines), 8-bit activations with weights of eight bits by VPMADDUBSW (a quarter
// faster, cosine of MiniLM down to 0.97), larger passes than 192 pairs and groups of 68 or 204 rows
// (equal or slower). Large pages for the weights are worth 2 %, and 4 to 15 % of a
// query; the loader of the model may get some (embed.Room).
package kernel
