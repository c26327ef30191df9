#include "textflag.h"

// Same result as gemmAVX2: VPDPWSSD is VPMADDWD and VPADDD in one, without
// saturation, and the epilogue is the same four roundings. One register holds
// a pair of weights of all sixteen outputs, and each row's pair is broadcast
// by the multiply itself. Twelve rows keep twelve sums in flight, enough to
// hide the instruction's latency at two per cycle.

#define DOT(addr, acc) VPDPWSSD.BCST addr, Z31, acc

#define STEP2(aoff, boff) \
	VMOVDQU32 boff(BX), Z31       \
	DOT(aoff(AX), Z0)             \
	DOT(aoff(AX)(R9*1), Z1)

#define STEP6(aoff, boff) \
	STEP2(aoff, boff)             \
	DOT(aoff(AX)(R9*2), Z2)       \
	DOT(aoff(AX)(R10*1), Z3)      \
	DOT(aoff(AX)(R9*4), Z4)       \
	DOT(aoff(AX)(R11*1), Z5)

#define STEP12(aoff, boff) \
	STEP6(aoff, boff)             \
	DOT(aoff(R15), Z6)            \
	DOT(aoff(R15)(R9*1), Z7)      \
	DOT(aoff(R15)(R9*2), Z8)      \
	DOT(aoff(R15)(R10*1), Z9)     \
	DOT(aoff(R15)(R9*4), Z10)     \
	DOT(aoff(R15)(R11*1), Z11)

#define OUT(off, acc) \
	VBROADCASTSS off(R12), Z28  \
	VCVTDQ2PS    acc, acc       \
	VMULPS       Z28, acc, acc  \
	VMULPS       Z29, acc, acc  \
	VADDPS       Z30, acc, acc  \
	VMOVUPS      acc, (DI)      \
	ADDQ         DX, DI

// func gemmVNNI(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs int, rows int, rowScale, colScale, bias *float32)
TEXT ·gemmVNNI(SB), NOSPLIT, $0-80
	MOVQ    c+0(FP), DI
	MOVQ    ldc+8(FP), DX
	MOVQ    a+16(FP), SI
	MOVQ    lda+24(FP), R9
	MOVQ    rows+48(FP), R8
	MOVQ    rowScale+56(FP), R12
	LEAQ    (R9)(R9*2), R10
	LEAQ    (R9)(R9*4), R11
	MOVQ    colScale+64(FP), R13
	VMOVUPS (R13), Z29
	MOVQ    bias+72(FP), R13
	VMOVUPS (R13), Z30

	// Tiles of twelve rows, then at most one of six, then pairs.
tile:
	MOVQ   b+32(FP), BX
	MOVQ   pairs+40(FP), CX
	MOVQ   SI, AX
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	CMPQ   R8, $6
	JLT    two
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	CMPQ   R8, $12
	JLT    six
	LEAQ   (SI)(R10*2), R15
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11

twelve:
	STEP12(0, 0)
	STEP12(4, 64)
	STEP12(8, 128)
	STEP12(12, 192)
	ADDQ $16, AX
	ADDQ $16, R15
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  twelve

	OUT(0, Z0)
	OUT(4, Z1)
	OUT(8, Z2)
	OUT(12, Z3)
	OUT(16, Z4)
	OUT(20, Z5)
	OUT(24, Z6)
	OUT(28, Z7)
	OUT(32, Z8)
	OUT(36, Z9)
	OUT(40, Z10)
	OUT(44, Z11)
	ADDQ $48, R12
	LEAQ (SI)(R10*4), SI
	SUBQ $12, R8
	JNZ  tile
	JMP  done

six:
	STEP6(0, 0)
	STEP6(4, 64)
	STEP6(8, 128)
	STEP6(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  six

	OUT(0, Z0)
	OUT(4, Z1)
	OUT(8, Z2)
	OUT(12, Z3)
	OUT(16, Z4)
	OUT(20, Z5)
	ADDQ $24, R12
	LEAQ (SI)(R10*2), SI
	SUBQ $6, R8
	JNZ  tile
	JMP  done

two:
	STEP2(0, 0)
	STEP2(4, 64)
	STEP2(8, 128)
	STEP2(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  two

	OUT(0, Z0)
	OUT(4, Z1)
	ADDQ $8, R12
	LEAQ (SI)(R9*2), SI
	SUBQ $2, R8
	JNZ  tile

done:
	VZEROUPPER
	RET

// As in gemmVNNI, with the epilogue of linearAVX2. Sums cannot wrap before they
// are corrected any more than after, so blocks play no part here.
#define OUTLINEAR(acc) \
	VPBROADCASTD 8(R12), Z28    \
	VPMULLD      Z26, Z28, Z29  \
	VPSUBD       Z29, acc, acc  \
	VPBROADCASTD 4(R12), Z28    \
	VPMULLD      Z27, Z28, Z29  \
	VPADDD       Z29, acc, acc  \
	VBROADCASTSS (R12), Z28     \
	VCVTDQ2PS    acc, acc       \
	VMULPS       Z28, acc, acc  \
	VMULPS       Z24, acc, acc  \
	VADDPS       Z25, acc, acc  \
	VMOVUPS      acc, (DI)      \
	ADDQ         DX, DI         \
	ADDQ         $12, R12

// func linearVNNI(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns)
TEXT ·linearVNNI(SB), NOSPLIT, $0-72
	MOVQ      c+0(FP), DI
	MOVQ      ldc+8(FP), DX
	MOVQ      a+16(FP), SI
	MOVQ      lda+24(FP), R9
	MOVQ      rows+48(FP), R8
	MOVQ      row+56(FP), R12
	LEAQ      (R9)(R9*2), R10
	LEAQ      (R9)(R9*4), R11
	MOVQ      cols+64(FP), R13
	VMOVDQU32 (R13), Z26
	VMOVDQU32 64(R13), Z27
	VMOVUPS   128(R13), Z24
	VMOVUPS   192(R13), Z25

	// Tiles of twelve rows, then at most one of six, then single rows.
tile:
	MOVQ   b+32(FP), BX
	MOVQ   pairs+40(FP), CX
	MOVQ   SI, AX
	VPXORD Z0, Z0, Z0
	CMPQ   R8, $6
	JLT    one
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	CMPQ   R8, $12
	JLT    six
	LEAQ   (SI)(R10*2), R15
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11

twelve:
	STEP12(0, 0)
	STEP12(4, 64)
	STEP12(8, 128)
	STEP12(12, 192)
	ADDQ $16, AX
	ADDQ $16, R15
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  twelve

	OUTLINEAR(Z0)
	OUTLINEAR(Z1)
	OUTLINEAR(Z2)
	OUTLINEAR(Z3)
	OUTLINEAR(Z4)
	OUTLINEAR(Z5)
	OUTLINEAR(Z6)
	OUTLINEAR(Z7)
	OUTLINEAR(Z8)
	OUTLINEAR(Z9)
	OUTLINEAR(Z10)
	OUTLINEAR(Z11)
	LEAQ (SI)(R10*4), SI
	SUBQ $12, R8
	JNZ  tile
	JMP  done

six:
	STEP6(0, 0)
	STEP6(4, 64)
	STEP6(8, 128)
	STEP6(12, 192)
	ADDQ $16, AX
	ADDQ $256, BX
	SUBQ $4, CX
	JNZ  six

	OUTLINEAR(Z0)
	OUTLINEAR(Z1)
	OUTLINEAR(Z2)
	OUTLINEAR(Z3)
	OUTLINEAR(Z4)
	OUTLINEAR(Z5)
	LEAQ (SI)(R10*2), SI
	SUBQ $6, R8
	JNZ  tile
	JMP  done

one:
	VMOVDQU32 (BX), Z31
	DOT((AX), Z0)
	ADDQ $4, AX
	ADDQ $64, BX
	DECQ CX
	JNZ  one

	OUTLINEAR(Z0)
	ADDQ R9, SI
	DECQ R8
	JNZ  tile

done:
	VZEROUPPER
	RET
