#include "textflag.h"

#define CONSTZ(name, value) \
	DATA name<>+0(SB)/4, value  \
	GLOBL name<>(SB), RODATA|NOPTR, $4

CONSTZ(nibblesZ, $0x0f0f0f0f)
CONSTZ(eightsZ, $0x08080808)
CONSTZ(middles, $0x80808080)
CONSTZ(raised, $0x00008000) // half the range of the lower half of a word
CONSTZ(lowHalves, $0x55555555) // of words
CONSTZ(magnitudeZ, $0x7fffffff)
CONSTZ(tinyZ, $1e-30)
CONSTZ(sixteenZ, $16.0) // MultiplierMax
CONSTZ(stepsOfZ, $2032.0) // MultiplierMax * InputMax
CONSTZ(halfZ, $0.5)
CONSTZ(oneZ, $1.0)

// The order of words of four bytes after two packs within quarters of a register.
DATA orderZ<>+0(SB)/4, $0
DATA orderZ<>+4(SB)/4, $4
DATA orderZ<>+8(SB)/4, $8
DATA orderZ<>+12(SB)/4, $12
DATA orderZ<>+16(SB)/4, $1
DATA orderZ<>+20(SB)/4, $5
DATA orderZ<>+24(SB)/4, $9
DATA orderZ<>+28(SB)/4, $13
DATA orderZ<>+32(SB)/4, $2
DATA orderZ<>+36(SB)/4, $6
DATA orderZ<>+40(SB)/4, $10
DATA orderZ<>+44(SB)/4, $14
DATA orderZ<>+48(SB)/4, $3
DATA orderZ<>+52(SB)/4, $7
DATA orderZ<>+56(SB)/4, $11
DATA orderZ<>+60(SB)/4, $15
GLOBL orderZ<>(SB), RODATA|NOPTR, $64

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

#define BLOCKZ2(QUAD) \
	QUAD(36, 1024)  \
	QUAD(40, 1152)  \
	QUAD(44, 1280)  \
	QUAD(48, 1408)  \
	QUAD(52, 1536)  \
	QUAD(56, 1664)  \
	QUAD(60, 1792)  \
	QUAD(64, 1920)

// Blocks are taken in pairs, so that one VPDPWSSD multiplies the sums of both by their
// scales: while the second block is summed in the lower half of each word, the sum of the
// first stands in the upper one. PAIRBYTES of scratch hold a pair: the weights of both,
// their scales in the same halves, what the sums of the first begin with, and those of
// the second, which lie 32768 higher so that none of them borrows from the upper half.
#define PAIRBYTES 2560
#define SCALESAT  2048
#define FIRSTAT   2176
#define SECONDAT  2304

#define TERMSZ \
	VMOVDQU32 SCALESAT(BX), Z29      \
	VMOVDQU32 (SCALESAT+64)(BX), Z30 \
	VMOVDQU32 FIRSTAT(BX), Z27       \
	VMOVDQU32 (FIRSTAT+64)(BX), Z28

#define BEGINZ(lo, hi) \
	VMOVDQA32 Z27, lo  \
	VMOVDQA32 Z28, hi

#define SECONDZ \
	VMOVDQU32 SECONDAT(BX), Z27 \
	VMOVDQU32 (SECONDAT+64)(BX), Z28

#define SHIFTZ(lo, hi) \
	VPSLLD $16, lo, lo  \
	VPSLLD $16, hi, hi  \
	VPADDD Z27, lo, lo  \
	VPADDD Z28, hi, hi

// The multipliers of a row's pair of blocks stand at one and two. K1 is empty where
// there is no second.
#define SCALEDZ(one, two, lo, hi, sumlo, sumhi) \
	VPBROADCASTD one, Z26       \
	VPBROADCASTW two, K1, Z26   \
	VPXORD   Z31, lo, lo        \
	VPXORD   Z31, hi, hi        \
	VPMULLW  Z29, Z26, Z24      \
	VPMULLW  Z30, Z26, Z25      \
	VPDPWSSD Z24, lo, sumlo     \
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
	ADDQ $72, AX         \
	ADDQ $PAIRBYTES, BX  \
	SUBQ $2, CX

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
	VPBROADCASTD raised<>(SB), Z28
	VPXORD       Z27, Z27, Z27

unpack:
	VPXORD    Z4, Z4, Z4
	VPXORD    Z5, Z5, Z5
	NUMBERSZ(0, 0)
	NUMBERSZ(128, 256)
	NUMBERSZ(256, 512)
	NUMBERSZ(384, 768)
	VPSUBD    Z4, Z27, Z4
	VPSUBD    Z5, Z27, Z5
	VMOVDQU32 Z4, FIRSTAT(DI)
	VMOVDQU32 Z5, (FIRSTAT+64)(DI)
	VPMOVZXWD 512(SI), Z6
	VPMOVZXWD 544(SI), Z7
	VPSLLD    $16, Z6, Z6
	VPSLLD    $16, Z7, Z7
	ADDQ      $576, SI
	VPXORD    Z4, Z4, Z4
	VPXORD    Z5, Z5, Z5
	CMPQ      CX, $1
	JEQ       paired
	NUMBERSZ(0, 1024)
	NUMBERSZ(128, 1280)
	NUMBERSZ(256, 1536)
	NUMBERSZ(384, 1792)
	VPMOVZXWD 512(SI), Z0
	VPMOVZXWD 544(SI), Z1
	VPORD     Z0, Z6, Z6
	VPORD     Z1, Z7, Z7
	ADDQ      $576, SI

paired:
	VPSUBD    Z4, Z28, Z4
	VPSUBD    Z5, Z28, Z5
	VMOVDQU32 Z4, SECONDAT(DI)
	VMOVDQU32 Z5, (SECONDAT+64)(DI)
	VMOVDQU32 Z6, SCALESAT(DI)
	VMOVDQU32 Z7, (SCALESAT+64)(DI)
	ADDQ      $PAIRBYTES, DI
	SUBQ      $2, CX
	JG        unpack

	VMOVDQA32 Z28, Z31
	KMOVD     lowHalves<>(SB), K2

	// R15 is what is fetched ahead, as in linear8AVX2, up to where b+32(FP) then points: so much with each pair of
	// blocks that two tiles, all that a short question has, fetch it whole.
	MOVQ         SI, R15
	SUBQ         b+32(FP), SI
	ADDQ         R15, SI
	MOVQ         SI, b+32(FP)
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
	KMOVD K2, K1
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
	CMPQ       R15, b+32(FP)
	JGE        fetched
	PREFETCHT1 (R15)
	PREFETCHT1 64(R15)
	PREFETCHT1 128(R15)
	PREFETCHT1 192(R15)
	PREFETCHT1 256(R15)
	PREFETCHT1 320(R15)
	PREFETCHT1 384(R15)
	PREFETCHT1 448(R15)
	PREFETCHT1 512(R15)
	ADDQ       $576, R15

fetched:
	TERMSZ
	BEGINZ(Z0, Z1)
	BEGINZ(Z2, Z3)
	BEGINZ(Z4, Z5)
	BEGINZ(Z6, Z7)
	BEGINZ(Z8, Z9)
	BEGINZ(Z10, Z11)
	BLOCKZ(QUADZ6)
	SECONDZ
	SHIFTZ(Z0, Z1)
	SHIFTZ(Z2, Z3)
	SHIFTZ(Z4, Z5)
	SHIFTZ(Z6, Z7)
	SHIFTZ(Z8, Z9)
	SHIFTZ(Z10, Z11)
	CMPQ CX, $1
	JEQ  odd6
	BLOCKZ2(QUADZ6)

scaled6:
	SCALEDZ(32(AX), 68(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), 68(AX)(R9*1), Z2, Z3, Z14, Z15)
	SCALEDZ(32(AX)(R9*2), 68(AX)(R9*2), Z4, Z5, Z16, Z17)
	SCALEDZ(32(AX)(R10*1), 68(AX)(R10*1), Z6, Z7, Z18, Z19)
	SCALEDZ(32(AX)(R9*4), 68(AX)(R9*4), Z8, Z9, Z20, Z21)
	SCALEDZ(32(AX)(R11*1), 68(AX)(R11*1), Z10, Z11, Z22, Z23)
	STEPZ
	JG  six

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
	SECONDZ
	SHIFTZ(Z0, Z1)
	SHIFTZ(Z2, Z3)
	SHIFTZ(Z4, Z5)
	SHIFTZ(Z6, Z7)
	CMPQ CX, $1
	JEQ  odd4
	BLOCKZ2(QUADZ4)

scaled4:
	SCALEDZ(32(AX), 68(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), 68(AX)(R9*1), Z2, Z3, Z14, Z15)
	SCALEDZ(32(AX)(R9*2), 68(AX)(R9*2), Z4, Z5, Z16, Z17)
	SCALEDZ(32(AX)(R10*1), 68(AX)(R10*1), Z6, Z7, Z18, Z19)
	STEPZ
	JG  four

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
	SECONDZ
	SHIFTZ(Z0, Z1)
	SHIFTZ(Z2, Z3)
	CMPQ CX, $1
	JEQ  odd2
	BLOCKZ2(QUADZ2)

scaled2:
	SCALEDZ(32(AX), 68(AX), Z0, Z1, Z12, Z13)
	SCALEDZ(32(AX)(R9*1), 68(AX)(R9*1), Z2, Z3, Z14, Z15)
	STEPZ
	JG  two

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
	SECONDZ
	SHIFTZ(Z0, Z1)
	CMPQ CX, $1
	JEQ  odd1
	BLOCKZ2(QUADZ1)

scaled1:
	SCALEDZ(32(AX), 68(AX), Z0, Z1, Z12, Z13)
	STEPZ
	JG  one

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

odd6:
	KXORD K1, K1, K1
	JMP   scaled6

odd4:
	KXORD K1, K1, K1
	JMP   scaled4

odd2:
	KXORD K1, K1, K1
	JMP   scaled2

odd1:
	KXORD K1, K1, K1
	JMP   scaled1

// func quant8AVX512(dst *uint8, x *float32, n int) (step float32)
//
// As quant8AVX2, four blocks at a time: a quarter of a register belongs to each. n is a multiple of 128.
TEXT ·quant8AVX512(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VPBROADCASTD magnitudeZ<>(SB), Z15
	VBROADCASTSS tinyZ<>(SB), Z14

largest:
	VPANDD     (SI), Z15, Z0
	VPANDD     64(SI), Z15, Z1
	VPANDD     128(SI), Z15, Z2
	VPANDD     192(SI), Z15, Z3
	VPANDD     256(SI), Z15, Z4
	VPANDD     320(SI), Z15, Z5
	VPANDD     384(SI), Z15, Z6
	VPANDD     448(SI), Z15, Z7
	VMAXPS     Z1, Z0, Z0
	VMAXPS     Z3, Z2, Z2
	VMAXPS     Z5, Z4, Z4
	VMAXPS     Z7, Z6, Z6
	VSHUFF64X2 $0x44, Z2, Z0, Z1
	VSHUFF64X2 $0xee, Z2, Z0, Z3
	VSHUFF64X2 $0x44, Z6, Z4, Z5
	VSHUFF64X2 $0xee, Z6, Z4, Z7
	VMAXPS     Z1, Z3, Z0
	VMAXPS     Z5, Z7, Z4
	VSHUFF64X2 $0x88, Z4, Z0, Z1
	VSHUFF64X2 $0xdd, Z4, Z0, Z3
	VMAXPS     Z1, Z3, Z0
	VPERMILPS  $0x4e, Z0, Z1
	VMAXPS     Z1, Z0, Z0
	VPERMILPS  $0xb1, Z0, Z1
	VMAXPS     Z1, Z0, Z0
	VMAXPS     Z0, Z14, Z14
	VMOVUPS    Z0, (DI)
	ADDQ       $512, SI
	ADDQ       $144, DI
	SUBQ       $128, CX
	JNZ        largest

	VSHUFF64X2   $0x4e, Z14, Z14, Z0
	VMAXPS       Z0, Z14, Z14
	VSHUFF64X2   $0xb1, Z14, Z14, Z0
	VMAXPS       Z0, Z14, Z14
	VBROADCASTSS sixteenZ<>(SB), Z12
	VBROADCASTSS stepsOfZ<>(SB), Z10
	VDIVPS       Z14, Z12, Z13
	VDIVPS       Z14, Z10, Z11
	VDIVSS       X10, X14, X14
	VMOVSS       X14, step+24(FP)
	VBROADCASTSS halfZ<>(SB), Z9
	VBROADCASTSS oneZ<>(SB), Z8
	VPBROADCASTD middles<>(SB), Z7
	VMOVDQU32    orderZ<>(SB), Z6
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX

quant:
	VMULPS       (DI), Z13, Z4
	VADDPS       Z9, Z4, Z4
	VRNDSCALEPS  $8, Z4, Z4
	VMAXPS       Z8, Z4, Z4
	VMINPS       Z12, Z4, Z4
	VDIVPS       Z4, Z11, Z5
	VCVTPS2DQ    Z4, Z4
	VPSLLD       $16, Z4, Z16
	VPORD        Z16, Z4, Z4
	VSHUFF64X2   $0x00, Z5, Z5, Z0
	VSHUFF64X2   $0x55, Z5, Z5, Z2
	VMULPS       64(SI), Z0, Z1
	VMULPS       (SI), Z0, Z0
	VMULPS       192(SI), Z2, Z3
	VMULPS       128(SI), Z2, Z2
	VSHUFF64X2   $0xaa, Z5, Z5, Z16
	VSHUFF64X2   $0xff, Z5, Z5, Z18
	VMULPS       320(SI), Z16, Z17
	VMULPS       256(SI), Z16, Z16
	VMULPS       448(SI), Z18, Z19
	VMULPS       384(SI), Z18, Z18
	VCVTPS2DQ    Z0, Z0
	VCVTPS2DQ    Z1, Z1
	VCVTPS2DQ    Z2, Z2
	VCVTPS2DQ    Z3, Z3
	VCVTPS2DQ    Z16, Z16
	VCVTPS2DQ    Z17, Z17
	VCVTPS2DQ    Z18, Z18
	VCVTPS2DQ    Z19, Z19
	VPACKSSDW    Z1, Z0, Z0
	VPACKSSDW    Z3, Z2, Z2
	VPACKSSDW    Z17, Z16, Z16
	VPACKSSDW    Z19, Z18, Z18
	VPACKSSWB    Z2, Z0, Z0
	VPACKSSWB    Z18, Z16, Z16
	VPXORD       Z7, Z0, Z0
	VPXORD       Z7, Z16, Z16
	VPERMD       Z0, Z6, Z0
	VPERMD       Z16, Z6, Z16
	VMOVDQU      Y0, (DI)
	VMOVD        X4, 32(DI)
	VEXTRACTI64X4 $1, Z0, 36(DI)
	VEXTRACTI32X4 $1, Z4, X5
	VMOVD        X5, 68(DI)
	VMOVDQU32    Y16, 72(DI)
	VEXTRACTI32X4 $2, Z4, X5
	VMOVD        X5, 104(DI)
	VEXTRACTI64X4 $1, Z16, 108(DI)
	VEXTRACTI32X4 $3, Z4, X5
	VMOVD        X5, 140(DI)
	ADDQ         $512, SI
	ADDQ         $144, DI
	SUBQ         $128, CX
	JNZ          quant
	VZEROUPPER
	RET
