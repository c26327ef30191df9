#include "textflag.h"

DATA nibbles8<>+0(SB)/4, $0x0f0f0f0f
GLOBL nibbles8<>(SB), RODATA|NOPTR, $4
DATA eights<>+0(SB)/4, $0x08080808
GLOBL eights<>(SB), RODATA|NOPTR, $4

DATA middles8<>+0(SB)/4, $0x80808080
GLOBL middles8<>(SB), RODATA|NOPTR, $4
DATA magnitude8<>+0(SB)/4, $0x7fffffff
GLOBL magnitude8<>(SB), RODATA|NOPTR, $4

DATA middle8<>+0(SB)/4, $0x00800080
GLOBL middle8<>(SB), RODATA|NOPTR, $4
DATA tiny8<>+0(SB)/4, $0x0da24260 // TinyMax
GLOBL tiny8<>(SB), RODATA|NOPTR, $4
DATA sixteen8<>+0(SB)/4, $0x41800000 // MultiplierMax
GLOBL sixteen8<>(SB), RODATA|NOPTR, $4
DATA stepsOf8<>+0(SB)/4, $0x44fe0000 // MultiplierMax * 127
GLOBL stepsOf8<>(SB), RODATA|NOPTR, $4
DATA half8<>+0(SB)/4, $0x3f000000
GLOBL half8<>(SB), RODATA|NOPTR, $4
DATA one8<>+0(SB)/4, $0x3f800000
GLOBL one8<>(SB), RODATA|NOPTR, $4

// The order of words of four bytes after two packs within halves of a register.
DATA order8<>+0(SB)/4, $0
DATA order8<>+4(SB)/4, $4
DATA order8<>+8(SB)/4, $1
DATA order8<>+12(SB)/4, $5
DATA order8<>+16(SB)/4, $2
DATA order8<>+20(SB)/4, $6
DATA order8<>+24(SB)/4, $3
DATA order8<>+28(SB)/4, $7
GLOBL order8<>(SB), RODATA|NOPTR, $32

// Two registers of numbers become their low halves, then, 128 bytes on, their high ones, as weights. What they add up
// to, 128 times and two sums an output, joins lo and hi.
#define NUMBERS(from, to, lo, hi) \
	VMOVDQU from(SI), Y0           \
	VMOVDQU (from+32)(SI), Y1      \
	VPSRLW  $4, Y0, Y2             \
	VPSRLW  $4, Y1, Y3             \
	VPAND   Y15, Y0, Y0            \
	VPAND   Y15, Y1, Y1            \
	VPAND   Y15, Y2, Y2            \
	VPAND   Y15, Y3, Y3            \
	VPSUBB  Y14, Y0, Y0            \
	VPSUBB  Y14, Y1, Y1            \
	VPSUBB  Y14, Y2, Y2            \
	VPSUBB  Y14, Y3, Y3            \
	VMOVDQU Y0, to(DI)             \
	VMOVDQU Y1, (to+32)(DI)        \
	VMOVDQU Y2, (to+128)(DI)       \
	VMOVDQU Y3, (to+160)(DI)       \
	VPMADDUBSW Y0, Y13, Y0         \
	VPMADDUBSW Y1, Y13, Y1         \
	VPMADDUBSW Y2, Y13, Y2         \
	VPMADDUBSW Y3, Y13, Y3         \
	VPADDW  Y0, Y2, Y0             \
	VPADDW  Y1, Y3, Y1             \
	VPADDW  Y0, lo, lo             \
	VPADDW  Y1, hi, hi

// Eight scales, each twice, and what the sums of eight outputs begin with.
#define TERMS(from, to, sum) \
	VPMOVZXWD from(SI), Y0         \
	VPSLLD    $16, Y0, Y1          \
	VPOR      Y0, Y1, Y0           \
	VMOVDQU   Y0, to(DI)           \
	VPSUBW    sum, Y12, Y0         \
	VMOVDQU   Y0, (to+128)(DI)

// Four inputs of one row against sixteen outputs, added to sums in int16, two of an
// output. Y12 and Y13 hold the weights.
#define ROW8(addr, lo, hi) \
	VPBROADCASTD addr, Y14      \
	VPMADDUBSW   Y12, Y14, Y15  \
	VPMADDUBSW   Y13, Y14, Y14  \
	VPADDW       Y15, lo, lo    \
	VPADDW       Y14, hi, hi

#define FIRST8(addr, lo, hi) \
	VPBROADCASTD addr, Y14      \
	VPMADDUBSW   Y12, Y14, lo   \
	VPMADDUBSW   Y13, Y14, hi   \
	VPADDW       1152(BX), lo, lo \
	VPADDW       1184(BX), hi, hi

#define WEIGHTS8(boff) \
	VMOVDQU boff(BX), Y12      \
	VMOVDQU (boff+32)(BX), Y13

#define QUAD3(aoff, boff) \
	WEIGHTS8(boff)                     \
	ROW8(aoff(AX), Y0, Y1)             \
	ROW8(aoff(AX)(R9*1), Y2, Y3)       \
	ROW8(aoff(AX)(R9*2), Y4, Y5)

#define QUAD1(aoff, boff) \
	WEIGHTS8(boff)                     \
	ROW8(aoff(AX), Y0, Y1)

// The two sums of an output, each times the scale and the row's multiplier at addr, join the sum of the row.
#define SCALED(addr, lo, hi, sumlo, sumhi) \
	VPBROADCASTD addr, Y13         \
	VPMULLW  1024(BX), Y13, Y14 \
	VPMULLW  1056(BX), Y13, Y15 \
	VPMADDWD Y14, lo, lo        \
	VPMADDWD Y15, hi, hi        \
	VPADDD   lo, sumlo, sumlo   \
	VPADDD   hi, sumhi, sumhi

// BX is the half's part of Columns8, R12 the row's step.
#define OUT8(lo, hi) \
	VBROADCASTSS (R12), Y12       \
	VCVTDQ2PS    lo, lo           \
	VCVTDQ2PS    hi, hi           \
	VMULPS       Y12, lo, lo      \
	VMULPS       Y12, hi, hi      \
	VMULPS       (BX), lo, lo     \
	VMULPS       32(BX), hi, hi   \
	VADDPS       128(BX), lo, lo  \
	VADDPS       160(BX), hi, hi  \
	VMOVUPS      lo, (DI)         \
	VMOVUPS      hi, 32(DI)       \
	ADDQ         DX, DI           \
	ADDQ         $4, R12

// func linear8AVX2(c *float32, ldc uintptr, a *uint8, lda uintptr, b *int16, blocks, rows int, steps *float32, cols *Columns8, scratch, sums *int32, first, last int)
//
// One pass: all rows with at most passBlocks blocks. Registers: DI c, DX its stride,
// SI the tile's rows of a, R9 their stride, R8 rows left, R12 steps, R13 sums,
// R15 64 in the second half of the panel, R10 what is fetched ahead, R11 its end.
TEXT ·linear8AVX2(SB), NOSPLIT, $0-104
	MOVQ         b+32(FP), SI
	MOVQ         blocks+40(FP), CX
	MOVQ         scratch+72(FP), DI
	VPBROADCASTD nibbles8<>(SB), Y15
	VPBROADCASTD eights<>(SB), Y14
	VPBROADCASTD middles8<>(SB), Y13
	VPXOR        Y12, Y12, Y12

unpack:
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	NUMBERS(0, 0, Y4, Y5)
	NUMBERS(64, 64, Y6, Y7)
	NUMBERS(128, 256, Y4, Y5)
	NUMBERS(192, 320, Y6, Y7)
	NUMBERS(256, 512, Y4, Y5)
	NUMBERS(320, 576, Y6, Y7)
	NUMBERS(384, 768, Y4, Y5)
	NUMBERS(448, 832, Y6, Y7)
	TERMS(512, 1024, Y4)
	TERMS(528, 1056, Y5)
	TERMS(544, 1088, Y6)
	TERMS(560, 1120, Y7)
	ADDQ $576, SI
	ADDQ $1280, DI
	DECQ CX
	JNZ  unpack

	// While the first tiles are multiplied, the weights that lie behind these in
	// memory are fetched: the caller asks for those next. A prefetch beyond the end of
	// the weights is harmless.
	MOVQ  SI, R10
	MOVQ  SI, R11
	SUBQ  b+32(FP), R11
	ADDQ  SI, R11
	MOVQ  ldc+8(FP), DX
	MOVQ  lda+24(FP), R9
	XORQ  R15, R15

half:
	MOVQ c+0(FP), DI
	ADDQ R15, DI
	MOVQ a+16(FP), SI
	MOVQ rows+48(FP), R8
	MOVQ steps+56(FP), R12
	MOVQ sums+80(FP), R13
	ADDQ R15, R13

tile:
	MOVQ scratch+72(FP), BX
	ADDQ R15, BX
	MOVQ blocks+40(FP), CX
	MOVQ SI, AX
	CMPQ R8, $3
	JLT  single
	CMPQ  first+88(FP), $0
	JEQ   more3
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	VPXOR Y10, Y10, Y10
	VPXOR Y11, Y11, Y11
	JMP   block3

more3:
	VMOVDQU (R13), Y6
	VMOVDQU 32(R13), Y7
	VMOVDQU 128(R13), Y8
	VMOVDQU 160(R13), Y9
	VMOVDQU 256(R13), Y10
	VMOVDQU 288(R13), Y11

block3:
	CMPQ       R10, R11
	JGE        fetched3
	PREFETCHT1 (R10)
	PREFETCHT1 64(R10)
	ADDQ       $128, R10

fetched3:
	WEIGHTS8(0)
	FIRST8((AX), Y0, Y1)
	FIRST8((AX)(R9*1), Y2, Y3)
	FIRST8((AX)(R9*2), Y4, Y5)
	QUAD3(4, 128)
	QUAD3(8, 256)
	QUAD3(12, 384)
	QUAD3(16, 512)
	QUAD3(20, 640)
	QUAD3(24, 768)
	QUAD3(28, 896)
	SCALED(32(AX), Y0, Y1, Y6, Y7)
	SCALED(32(AX)(R9*1), Y2, Y3, Y8, Y9)
	SCALED(32(AX)(R9*2), Y4, Y5, Y10, Y11)
	ADDQ $36, AX
	ADDQ $1280, BX
	DECQ CX
	JNZ  block3

	CMPQ last+96(FP), $0
	JEQ  keep3
	MOVQ cols+64(FP), BX
	ADDQ R15, BX
	OUT8(Y6, Y7)
	OUT8(Y8, Y9)
	OUT8(Y10, Y11)
	JMP  next3

keep3:
	VMOVDQU Y6, (R13)
	VMOVDQU Y7, 32(R13)
	VMOVDQU Y8, 128(R13)
	VMOVDQU Y9, 160(R13)
	VMOVDQU Y10, 256(R13)
	VMOVDQU Y11, 288(R13)

next3:
	ADDQ $384, R13
	LEAQ (SI)(R9*2), SI
	ADDQ R9, SI
	SUBQ $3, R8
	JNZ  tile
	JMP  next

single:
	VMOVDQU (R13), Y6
	VMOVDQU 32(R13), Y7
	CMPQ    first+88(FP), $0
	JEQ     block1
	VPXOR   Y6, Y6, Y6
	VPXOR   Y7, Y7, Y7

block1:
	WEIGHTS8(0)
	FIRST8((AX), Y0, Y1)
	QUAD1(4, 128)
	QUAD1(8, 256)
	QUAD1(12, 384)
	QUAD1(16, 512)
	QUAD1(20, 640)
	QUAD1(24, 768)
	QUAD1(28, 896)
	SCALED(32(AX), Y0, Y1, Y6, Y7)
	ADDQ $36, AX
	ADDQ $1280, BX
	DECQ CX
	JNZ  block1

	CMPQ last+96(FP), $0
	JEQ  keep1
	MOVQ cols+64(FP), BX
	ADDQ R15, BX
	OUT8(Y6, Y7)
	JMP  next1

keep1:
	VMOVDQU Y6, (R13)
	VMOVDQU Y7, 32(R13)

next1:
	ADDQ $128, R13
	ADDQ R9, SI
	DECQ R8
	JNZ  tile

next:
	ADDQ $64, R15
	CMPQ R15, $128
	JLT  half
	VZEROUPPER
	RET

// func quant8AVX2(dst *uint8, x *float32, n int) (step float32)
//
// Once over x for the largest magnitude of each block, which waits where the block's multiplier will be, then once more.
TEXT ·quant8AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTD magnitude8<>(SB), Y15
	VMOVSS       tiny8<>(SB), X14

largest:
	VANDPS       (SI), Y15, Y0
	VANDPS       32(SI), Y15, Y1
	VANDPS       64(SI), Y15, Y2
	VANDPS       96(SI), Y15, Y3
	VMAXPS       Y0, Y1, Y0
	VMAXPS       Y2, Y3, Y2
	VMAXPS       Y0, Y2, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X0, X1, X0
	VPSHUFD      $0x4e, X0, X1
	VMAXPS       X0, X1, X0
	VPSHUFD      $0xb1, X0, X1
	VMAXPS       X0, X1, X0
	VMAXPS       X0, X14, X14
	VMOVSS       X0, 32(DI)
	ADDQ         $128, SI
	ADDQ         $36, DI
	SUBQ         $32, CX
	JNZ          largest

	// X13 is what makes a block's multiplier of its largest magnitude, Y11 one over the step, X14 the step.
	VMOVSS       sixteen8<>(SB), X12
	VDIVSS       X14, X12, X13
	VMOVSS       stepsOf8<>(SB), X10
	VDIVSS       X14, X10, X11
	VDIVSS       X10, X14, X14
	VMOVSS       X14, step+24(FP)
	VMOVSS       half8<>(SB), X9
	VMOVSS       one8<>(SB), X8
	VPBROADCASTD middle8<>(SB), Y7
	VMOVDQU      order8<>(SB), Y6
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX

quant:
	VMULSS       32(DI), X13, X4
	VADDSS       X9, X4, X4
	VROUNDSS     $8, X4, X4, X4
	VMAXSS       X8, X4, X4
	VMINSS       X12, X4, X4
	VDIVSS       X4, X11, X5
	VBROADCASTSS X5, Y5
	VCVTSS2SI    X4, AX
	VMULPS       (SI), Y5, Y0
	VMULPS       32(SI), Y5, Y1
	VMULPS       64(SI), Y5, Y2
	VMULPS       96(SI), Y5, Y3
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VCVTPS2DQ    Y2, Y2
	VCVTPS2DQ    Y3, Y3
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	VPADDW       Y7, Y0, Y0
	VPADDW       Y7, Y2, Y2
	VPACKUSWB    Y2, Y0, Y0
	VPERMD       Y0, Y6, Y0
	VMOVDQU      Y0, (DI)
	IMUL3L       $0x10001, AX, AX
	MOVL         AX, 32(DI)
	ADDQ         $128, SI
	ADDQ         $36, DI
	SUBQ         $32, CX
	JNZ          quant
	VZEROUPPER
	RET
