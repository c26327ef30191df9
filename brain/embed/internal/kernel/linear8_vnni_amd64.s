#include "textflag.h"

DATA nibblesZ<>+0(SB)/4, $0x0f0f0f0f
GLOBL nibblesZ<>(SB), RODATA|NOPTR, $4
DATA eightsZ<>+0(SB)/4, $0x08080808
GLOBL eightsZ<>(SB), RODATA|NOPTR, $4
DATA middles<>+0(SB)/4, $0x80808080
GLOBL middles<>(SB), RODATA|NOPTR, $4

// Numbers of eight inputs become two registers of weights of outputs 0-15 and two of
// 16-31, whose sums are added to Z4 and Z5, 128 times.
#define NUMBERSZ(from, to) \
	VMOVDQU32 from(SI), Z0         \
	VMOVDQU32 (from+64)(SI), Z1    \
	VPSRLW    $4, Z0, Z2           \
	VPSRLW    $4, Z1, Z3           \
	VPANDD    Z31, Z0, Z0          \
	VPANDD    Z31, Z1, Z1          \
	VPANDD    Z31, Z2, Z2          \
	VPANDD    Z31, Z3, Z3          \
	VPSUBB    Z30, Z0, Z0          \
	VPSUBB    Z30, Z1, Z1          \
	VPSUBB    Z30, Z2, Z2          \
	VPSUBB    Z30, Z3, Z3          \
	VMOVDQU32 Z0, to(DI)           \
	VMOVDQU32 Z1, (to+64)(DI)      \
	VMOVDQU32 Z2, (to+128)(DI)     \
	VMOVDQU32 Z3, (to+192)(DI)     \
	VPDPBUSD  Z0, Z29, Z4          \
	VPDPBUSD  Z1, Z29, Z5          \
	VPDPBUSD  Z2, Z29, Z4          \
	VPDPBUSD  Z3, Z29, Z5

// Four inputs of one row against 32 outputs. Z24 and Z25 hold the weights.
#define ROWZ(addr, lo, hi) \
	VPBROADCASTD addr, Z26      \
	VPDPBUSD     Z24, Z26, lo   \
	VPDPBUSD     Z25, Z26, hi

#define QUADZ1(aoff, boff) \
	VMOVDQU32 boff(BX), Z24       \
	VMOVDQU32 (boff+64)(BX), Z25  \
	ROWZ(aoff(AX), Z0, Z1)

#define QUADZ2(aoff, boff) \
	QUADZ1(aoff, boff)            \
	ROWZ(aoff(AX)(R9*1), Z2, Z3)

#define QUADZ4(aoff, boff) \
	QUADZ2(aoff, boff)            \
	ROWZ(aoff(AX)(R9*2), Z4, Z5)  \
	ROWZ(aoff(AX)(R10*1), Z6, Z7)

#define QUADZ6(aoff, boff) \
	QUADZ4(aoff, boff)            \
	ROWZ(aoff(AX)(R9*4), Z8, Z9)  \
	ROWZ(aoff(AX)(R11*1), Z10, Z11)

#define BLOCKZ(QUAD) \
	QUAD(0, 0)     \
	QUAD(4, 128)   \
	QUAD(8, 256)   \
	QUAD(12, 384)  \
	QUAD(16, 512)  \
	QUAD(20, 640)  \
	QUAD(24, 768)  \
	QUAD(28, 896)

// What the sums of a block begin with, and its scales: the upper half of each word
// is zero, so that the product of pairs is that of the lower halves.
#define TERMSZ \
	VMOVDQU32 1024(BX), Z29  \
	VMOVDQU32 1088(BX), Z30  \
	VMOVDQU32 1152(BX), Z27  \
	VMOVDQU32 1216(BX), Z28

#define BEGINZ(lo, hi) \
	VMOVDQA32 Z27, lo  \
	VMOVDQA32 Z28, hi

#define SCALEDZ(addr, lo, hi, sumlo, sumhi) \
	VPBROADCASTD addr, Z26     \
	VPMULLW  Z29, Z26, Z24     \
	VPMULLW  Z30, Z26, Z25     \
	VPDPWSSD Z24, lo, sumlo    \
	VPDPWSSD Z25, hi, sumhi

#define ZEROZ(lo, hi) \
	VPXORD lo, lo, lo  \
	VPXORD hi, hi, hi

#define LOADZ(off, lo, hi) \
	VMOVDQU32 off(R13), lo       \
	VMOVDQU32 (off+64)(R13), hi

#define KEEPZ(off, lo, hi) \
	VMOVDQU32 lo, off(R13)       \
	VMOVDQU32 hi, (off+64)(R13)

// BX is the panel's Columns8, R12 the row's step.
#define OUTZ(lo, hi) \
	VBROADCASTSS (R12), Z24       \
	VCVTDQ2PS    lo, lo           \
	VCVTDQ2PS    hi, hi           \
	VMULPS       Z24, lo, lo      \
	VMULPS       Z24, hi, hi      \
	VMULPS       (BX), lo, lo     \
	VMULPS       64(BX), hi, hi   \
	VADDPS       128(BX), lo, lo  \
	VADDPS       192(BX), hi, hi  \
	VMOVUPS      lo, (DI)         \
	VMOVUPS      hi, 64(DI)       \
	ADDQ         DX, DI           \
	ADDQ         $4, R12

#define STEPZ \
	ADDQ $36, AX    \
	ADDQ $1280, BX  \
	DECQ CX

// func linear8VNNI(c *float32, ldc uintptr, a *uint8, lda uintptr, b *int16, blocks, rows int, steps *float32, cols *Columns8, scratch, sums *int32, first, last int)
//
// One pass, as in linear8AVX2. The sum of a block fits the int16 that VPDPWSSD takes, because inputs count from 128:
// each sum begins with -128 times that of the weights.
TEXT ·linear8VNNI(SB), NOSPLIT, $0-104
	MOVQ         b+32(FP), SI
	MOVQ         blocks+40(FP), CX
	MOVQ         scratch+72(FP), DI
	VPBROADCASTD nibblesZ<>(SB), Z31
	VPBROADCASTD eightsZ<>(SB), Z30
	VPBROADCASTD middles<>(SB), Z29
	VPXORD       Z28, Z28, Z28

unpack:
	VPXORD    Z4, Z4, Z4
	VPXORD    Z5, Z5, Z5
	NUMBERSZ(0, 0)
	NUMBERSZ(128, 256)
	NUMBERSZ(256, 512)
	NUMBERSZ(384, 768)
	VPMOVZXWD 512(SI), Z0
	VPMOVZXWD 544(SI), Z1
	VPSUBD    Z4, Z28, Z4
	VPSUBD    Z5, Z28, Z5
	VMOVDQU32 Z0, 1024(DI)
	VMOVDQU32 Z1, 1088(DI)
	VMOVDQU32 Z4, 1152(DI)
	VMOVDQU32 Z5, 1216(DI)
	ADDQ      $576, SI
	ADDQ      $1280, DI
	DECQ      CX
	JNZ       unpack

	// R15 is what is fetched ahead, as in linear8AVX2.
	MOVQ         SI, R15
	MOVQ         c+0(FP), DI
	MOVQ         ldc+8(FP), DX
	MOVQ         a+16(FP), SI
	MOVQ         lda+24(FP), R9
	MOVQ         rows+48(FP), R8
	MOVQ         steps+56(FP), R12
	MOVQ         sums+80(FP), R13
	LEAQ         (R9)(R9*2), R10
	LEAQ         (R9)(R9*4), R11

	// Tiles of six rows, then at most one each of four, two and one.
tile:
	MOVQ scratch+72(FP), BX
	MOVQ blocks+40(FP), CX
	MOVQ SI, AX
	CMPQ first+88(FP), $0
	JEQ  more
	ZEROZ(Z12, Z13)
	ZEROZ(Z14, Z15)
	ZEROZ(Z16, Z17)
	ZEROZ(Z18, Z19)
	ZEROZ(Z20, Z21)
	ZEROZ(Z22, Z23)
	CMPQ R8, $6
	JGE  six
	CMPQ R8, $4
	JGE  four
	CMPQ R8, $2
	JGE  two
	JMP  one

more:
	LOADZ(0, Z12, Z13)
	CMPQ R8, $2
	JLT  one
	LOADZ(128, Z14, Z15)
	CMPQ R8, $4
	JLT  two
	LOADZ(256, Z16, Z17)
	LOADZ(384, Z18, Z19)
	CMPQ R8, $6
	JLT  four
	LOADZ(512, Z20, Z21)
	LOADZ(640, Z22, Z23)

six:
	PREFETCHT1 (R15)
	PREFETCHT1 64(R15)
	ADDQ       $128, R15
	TERMSZ
	BEGINZ(Z0, Z1)
	BEGINZ(Z2, Z3)
	BEGINZ(Z4, Z5)
	BEGINZ(Z6, Z7)
	BEGINZ(Z8, Z9)
	BEGINZ(Z10, Z11)
	BLOCKZ(QUADZ6)
	SCALEDZ(32(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), Z2, Z3, Z14, Z15)
	SCALEDZ(32(AX)(R9*2), Z4, Z5, Z16, Z17)
	SCALEDZ(32(AX)(R10*1), Z6, Z7, Z18, Z19)
	SCALEDZ(32(AX)(R9*4), Z8, Z9, Z20, Z21)
	SCALEDZ(32(AX)(R11*1), Z10, Z11, Z22, Z23)
	STEPZ
	JNZ        six

	CMPQ last+96(FP), $0
	JEQ  keep6
	MOVQ cols+64(FP), BX
	OUTZ(Z12, Z13)
	OUTZ(Z14, Z15)
	OUTZ(Z16, Z17)
	OUTZ(Z18, Z19)
	OUTZ(Z20, Z21)
	OUTZ(Z22, Z23)
	JMP  next6

keep6:
	KEEPZ(0, Z12, Z13)
	KEEPZ(128, Z14, Z15)
	KEEPZ(256, Z16, Z17)
	KEEPZ(384, Z18, Z19)
	KEEPZ(512, Z20, Z21)
	KEEPZ(640, Z22, Z23)

next6:
	ADDQ $768, R13
	LEAQ (SI)(R10*2), SI
	SUBQ $6, R8
	JNZ  tile
	JMP  done

four:
	TERMSZ
	BEGINZ(Z0, Z1)
	BEGINZ(Z2, Z3)
	BEGINZ(Z4, Z5)
	BEGINZ(Z6, Z7)
	BLOCKZ(QUADZ4)
	SCALEDZ(32(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), Z2, Z3, Z14, Z15)
	SCALEDZ(32(AX)(R9*2), Z4, Z5, Z16, Z17)
	SCALEDZ(32(AX)(R10*1), Z6, Z7, Z18, Z19)
	STEPZ
	JNZ  four

	CMPQ last+96(FP), $0
	JEQ  keep4
	MOVQ cols+64(FP), BX
	OUTZ(Z12, Z13)
	OUTZ(Z14, Z15)
	OUTZ(Z16, Z17)
	OUTZ(Z18, Z19)
	JMP  next4

keep4:
	KEEPZ(0, Z12, Z13)
	KEEPZ(128, Z14, Z15)
	KEEPZ(256, Z16, Z17)
	KEEPZ(384, Z18, Z19)

next4:
	ADDQ $512, R13
	LEAQ (SI)(R9*4), SI
	SUBQ $4, R8
	JNZ  tile
	JMP  done

two:
	TERMSZ
	BEGINZ(Z0, Z1)
	BEGINZ(Z2, Z3)
	BLOCKZ(QUADZ2)
	SCALEDZ(32(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), Z2, Z3, Z14, Z15)
	STEPZ
	JNZ  two

	CMPQ last+96(FP), $0
	JEQ  keep2
	MOVQ cols+64(FP), BX
	OUTZ(Z12, Z13)
	OUTZ(Z14, Z15)
	JMP  next2

keep2:
	KEEPZ(0, Z12, Z13)
	KEEPZ(128, Z14, Z15)

next2:
	ADDQ $256, R13
	LEAQ (SI)(R9*2), SI
	SUBQ $2, R8
	JNZ  tile
	JMP  done

one:
	TERMSZ
	BEGINZ(Z0, Z1)
	BLOCKZ(QUADZ1)
	SCALEDZ(32(AX), Z0, Z1, Z12, Z13)
	STEPZ
	JNZ  one

	CMPQ last+96(FP), $0
	JEQ  keep1
	MOVQ cols+64(FP), BX
	OUTZ(Z12, Z13)
	JMP  done

keep1:
	KEEPZ(0, Z12, Z13)

done:
	VZEROUPPER
	RET
