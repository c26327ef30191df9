#include "textflag.h"

// One pair of K values of one row against sixteen outputs. Y12 and Y13 hold
// the pair of weights of outputs 0-7 and 8-15, Y14 and Y15 are scratch.
// Integer sums are exact, so the order of rows and pairs is free.
#define ROW(addr, lo, hi) \
	VPBROADCASTD addr, Y14      \
	VPMADDWD     Y12, Y14, Y15  \
	VPMADDWD     Y13, Y14, Y14  \
	VPADDD       Y15, lo, lo    \
	VPADDD       Y14, hi, hi

#define STEP2(aoff, boff) \
	VMOVDQU boff(BX), Y12         \
	VMOVDQU (boff+32)(BX), Y13    \
	ROW(aoff(AX), Y0, Y1)         \
	ROW(aoff(AX)(R9*1), Y2, Y3)

#define STEP4(aoff, boff) \
	STEP2(aoff, boff)             \
	ROW(aoff(AX)(R9*2), Y4, Y5)   \
	ROW(aoff(AX)(R10*1), Y6, Y7)

#define STEP6(aoff, boff) \
	STEP4(aoff, boff)             \
	ROW(aoff(AX)(R9*4), Y8, Y9)   \
	ROW(aoff(AX)(R11*1), Y10, Y11)

// float32(acc) * rowScale * colScale + bias, in this order and without fused
// operations: the portable kernel does the same four roundings.
#define OUT(off, lo, hi) \
	VBROADCASTSS off(R12), Y14    \
	VCVTDQ2PS    lo, lo           \
	VCVTDQ2PS    hi, hi           \
	VMULPS       Y14, lo, lo      \
	VMULPS       Y14, hi, hi      \
	VMULPS       Y12, lo, lo      \
	VMULPS       Y13, hi, hi      \
	VADDPS       (AX), lo, lo     \
	VADDPS       32(AX), hi, hi   \
	VMOVUPS      lo, (DI)         \
	VMOVUPS      hi, 32(DI)       \
	ADDQ         DX, DI

#define COLUMNS \
	MOVQ    colScale+64(FP), R13  \
	MOVQ    bias+72(FP), AX       \
	VMOVUPS (R13), Y12            \
	VMOVUPS 32(R13), Y13

// func gemmAVX2(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs int, rows int, rowScale, colScale, bias *float32)
TEXT ·gemmAVX2(SB), NOSPLIT, $0-80
	MOVQ c+0(FP), DI
	MOVQ ldc+8(FP), DX
	MOVQ a+16(FP), SI
	MOVQ lda+24(FP), R9
	MOVQ rows+48(FP), R8
	MOVQ rowScale+56(FP), R12
	LEAQ (R9)(R9*2), R10
	LEAQ (R9)(R9*4), R11

	// Tiles of six rows, then what is left: four, two or none.
tile:
	MOVQ  b+32(FP), BX
	MOVQ  pairs+40(FP), CX
	MOVQ  SI, AX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	CMPQ  R8, $4
	JLT   two
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	JEQ   four
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11

six:
	STEP6(0, 0)
	STEP6(4, 64)
	STEP6(8, 128)
	STEP6(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  six

	COLUMNS
	OUT(0, Y0, Y1)
	OUT(4, Y2, Y3)
	OUT(8, Y4, Y5)
	OUT(12, Y6, Y7)
	OUT(16, Y8, Y9)
	OUT(20, Y10, Y11)
	ADDQ $24, R12
	LEAQ (SI)(R10*2), SI
	SUBQ $6, R8
	JNZ  tile
	VZEROUPPER
	RET

four:
	STEP4(0, 0)
	STEP4(4, 64)
	STEP4(8, 128)
	STEP4(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  four

	COLUMNS
	OUT(0, Y0, Y1)
	OUT(4, Y2, Y3)
	OUT(8, Y4, Y5)
	OUT(12, Y6, Y7)
	VZEROUPPER
	RET

two:
	STEP2(0, 0)
	STEP2(4, 64)
	STEP2(8, 128)
	STEP2(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  two

	COLUMNS
	OUT(0, Y0, Y1)
	OUT(4, Y2, Y3)
	VZEROUPPER
	RET

DATA nibbles<>+0(SB)/4, $0x000f000f
GLOBL nibbles<>(SB), RODATA|NOPTR, $4

// func unpackAVX2(dst *int16, src *byte, runs int)
TEXT ·unpackAVX2(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         runs+16(FP), CX
	VPBROADCASTD nibbles<>(SB), Y15

	// While these weights are unpacked, the ones that lie behind them in
	// memory are fetched: the caller multiplies with these for many
	// microseconds and asks for those next. A prefetch beyond the end of the
	// pack is harmless.
	LEAQ (CX)(CX*2), R8
	SHLQ $4, R8
	ADDQ SI, R8

unpack:
	PREFETCHT1 (R8)
	VPMOVSXBW (SI), Y0
	VPMOVSXBW 16(SI), Y1
	VPMOVZXBW 32(SI), Y2
	VPSLLW    $4, Y0, Y0
	VPSLLW    $4, Y1, Y1
	VPAND     Y15, Y2, Y3
	VPSRLW    $4, Y2, Y2
	VPOR      Y3, Y0, Y0
	VPOR      Y2, Y1, Y1
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y1, 32(DI)
	ADDQ      $48, SI
	ADDQ      $48, R8
	ADDQ      $64, DI
	DECQ      CX
	JNZ       unpack
	VZEROUPPER
	RET
