#include "textflag.h"

DATA signMask<>+0(SB)/4, $0x7fffffff
GLOBL signMask<>(SB), RODATA|NOPTR, $4
DATA tiny<>+0(SB)/4, $1e-30
GLOBL tiny<>(SB), RODATA|NOPTR, $4
DATA one<>+0(SB)/4, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $4
DATA lowHalf<>+0(SB)/4, $0x0000ffff
GLOBL lowHalf<>(SB), RODATA|NOPTR, $4
DATA quantMax<>+0(SB)/4, $32767.0
GLOBL quantMax<>(SB), RODATA|NOPTR, $4

// Each constant fills a register's width, so that it can be a memory operand.
#define CONST8(name, value) \
	DATA name<>+0(SB)/4, value   \
	DATA name<>+4(SB)/4, value   \
	DATA name<>+8(SB)/4, value   \
	DATA name<>+12(SB)/4, value  \
	DATA name<>+16(SB)/4, value  \
	DATA name<>+20(SB)/4, value  \
	DATA name<>+24(SB)/4, value  \
	DATA name<>+28(SB)/4, value  \
	GLOBL name<>(SB), RODATA|NOPTR, $32

CONST8(sqrtHalf, $0.70710678118654752440)
CONST8(erfMax, $4.0)
CONST8(erfMin, $-4.0)
CONST8(erfA1, $-1.60960333262415e-02)
CONST8(erfA3, $-2.95459980854025e-03)
CONST8(erfA5, $-7.34990630326855e-04)
CONST8(erfA7, $-5.69250639462346e-05)
CONST8(erfA9, $-2.10102402082508e-06)
CONST8(erfA11, $2.77068142495902e-08)
CONST8(erfA13, $-2.72614225801306e-10)
CONST8(erfB0, $-1.42647390514189e-02)
CONST8(erfB2, $-7.37332916720468e-03)
CONST8(erfB4, $-1.68282697438203e-03)
CONST8(erfB6, $-2.13374055278905e-04)
CONST8(erfB8, $-1.45660718464996e-05)
CONST8(half, $0.5)
CONST8(ones, $1.0)
CONST8(expFloor, $-87.0)
CONST8(log2e, $1.44269504088896341)
CONST8(magic, $12582912.0)
CONST8(exp2P1, $0.6931470036506653)
CONST8(exp2P2, $0.24022242426872253)
CONST8(exp2P3, $0.05550733581185341)
CONST8(exp2P4, $0.009671512991189957)
CONST8(exp2P5, $0.001326472731307149)

// The largest of eight lanes of Y, in lane 0 of X; T is scratch.
#define HMAX(Y, X, T) \
	VEXTRACTF128 $1, Y, T     \
	VMAXPS       T, X, X      \
	VPERMILPS    $0x4e, X, T  \
	VMAXPS       T, X, X      \
	VPERMILPS    $0xb1, X, T  \
	VMAXPS       T, X, X

// The least of eight lanes.
#define HMIN(Y, X, T) \
	VEXTRACTF128 $1, Y, T     \
	VMINPS       T, X, X      \
	VPERMILPS    $0x4e, X, T  \
	VMINPS       T, X, X      \
	VPERMILPS    $0xb1, X, T  \
	VMINPS       T, X, X

// The sum of eight lanes in the order of fold8.
#define HSUM(Y, X, T) \
	VEXTRACTF128 $1, Y, T     \
	VADDPS       T, X, X      \
	VPERMILPS    $0x4e, X, T  \
	VADDPS       T, X, X      \
	VPERMILPS    $0xb1, X, T  \
	VADDPS       T, X, X

// func rangeAVX2(x *float32, n int) (lo, hi float32)
TEXT ·rangeAVX2(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VBROADCASTSS tiny<>(SB), Y2
	VMOVAPS      Y2, Y3

range:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VMINPS  Y4, Y0, Y0
	VMINPS  Y5, Y1, Y1
	VMAXPS  Y4, Y2, Y2
	VMAXPS  Y5, Y3, Y3
	VMINPS  Y6, Y0, Y0
	VMINPS  Y7, Y1, Y1
	VMAXPS  Y6, Y2, Y2
	VMAXPS  Y7, Y3, Y3
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     range
	VMINPS  Y1, Y0, Y0
	VMAXPS  Y3, Y2, Y2
	HMIN(Y0, X0, X1)
	HMAX(Y2, X2, X1)
	VMOVSS  X0, lo+16(FP)
	VMOVSS  X2, hi+20(FP)
	VZEROUPPER
	RET

// func quantAVX2(dst *int16, x *float32, inv float32, zero int32, n int) int32
TEXT ·quantAVX2(SB), NOSPLIT, $0-36
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	VBROADCASTSS inv+16(FP), Y15
	MOVL         zero+20(FP), AX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	MOVQ         n+24(FP), CX
	VPXOR        Y12, Y12, Y12
	VPXOR        Y13, Y13, Y13

quant:
	VMULPS    (SI), Y15, Y0
	VMULPS    32(SI), Y15, Y1
	VMULPS    64(SI), Y15, Y2
	VMULPS    96(SI), Y15, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPSUBD    Y14, Y0, Y0
	VPSUBD    Y14, Y1, Y1
	VPSUBD    Y14, Y2, Y2
	VPSUBD    Y14, Y3, Y3
	VPADDD    Y0, Y12, Y12
	VPADDD    Y1, Y13, Y13
	VPADDD    Y2, Y12, Y12
	VPADDD    Y3, Y13, Y13
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPERMQ    $0xd8, Y0, Y0
	VPERMQ    $0xd8, Y2, Y2
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y2, 32(DI)
	ADDQ      $128, SI
	ADDQ      $64, DI
	SUBQ      $32, CX
	JNZ       quant
	VPADDD       Y13, Y12, Y12
	VEXTRACTI128 $1, Y12, X0
	VPADDD       X0, X12, X12
	VPSHUFD      $0x4e, X12, X0
	VPADDD       X0, X12, X12
	VPSHUFD      $0xb1, X12, X0
	VPADDD       X0, X12, X12
	VMOVD        X12, AX
	MOVL         AX, ret+32(FP)
	VZEROUPPER
	RET

// func quantHeadsAVX2(dst *int16, scale *float32, stride uintptr, x *float32, heads int, qmax, factor float32)
TEXT ·quantHeadsAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         scale+8(FP), DX
	MOVQ         stride+16(FP), R8
	MOVQ         x+24(FP), SI
	MOVQ         heads+32(FP), CX
	VBROADCASTSS signMask<>(SB), Y15
	VBROADCASTSS tiny<>(SB), Y14
	VMOVSS       qmax+40(FP), X13
	VMOVSS       factor+44(FP), X12

head:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VMOVUPS      64(SI), Y2
	VMOVUPS      96(SI), Y3
	VANDPS       Y0, Y15, Y4
	VANDPS       Y1, Y15, Y5
	VANDPS       Y2, Y15, Y6
	VANDPS       Y3, Y15, Y7
	VMAXPS       Y5, Y4, Y4
	VMAXPS       Y7, Y6, Y6
	VMAXPS       Y6, Y4, Y4
	VMAXPS       Y14, Y4, Y4
	HMAX(Y4, X4, X5)
	VDIVSS       X4, X13, X5
	VDIVSS       X13, X4, X6
	VMULSS       X12, X6, X6
	VMOVSS       X6, (DX)
	VBROADCASTSS X5, Y5
	VMULPS       Y0, Y5, Y0
	VMULPS       Y1, Y5, Y1
	VMULPS       Y2, Y5, Y2
	VMULPS       Y3, Y5, Y3
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VCVTPS2DQ    Y2, Y2
	VCVTPS2DQ    Y3, Y3
	VPACKSSDW    Y1, Y0, Y0
	VPACKSSDW    Y3, Y2, Y2
	VPERMQ       $0xd8, Y0, Y0
	VPERMQ       $0xd8, Y2, Y2
	VMOVDQU      Y0, (DI)
	VMOVDQU      Y2, 32(DI)
	ADDQ         $128, SI
	ADDQ         $64, DI
	ADDQ         R8, DX
	DECQ         CX
	JNZ          head
	VZEROUPPER
	RET

// A quarter of the pairs of a row of keys to their places.
#define SCATTER(X, at) \
	VMOVD   X, at(DI)             \
	VPEXTRD $1, X, (at+64)(DI)    \
	VPEXTRD $2, X, (at+128)(DI)   \
	VPEXTRD $3, X, (at+192)(DI)

// func quantKeysAVX2(dst *int16, headStride uintptr, scale *float32, stride uintptr, x *float32, heads int, qmax float32)
TEXT ·quantKeysAVX2(SB), NOSPLIT, $0-52
	MOVQ         dst+0(FP), DI
	MOVQ         headStride+8(FP), R9
	MOVQ         scale+16(FP), DX
	MOVQ         stride+24(FP), R8
	MOVQ         x+32(FP), SI
	MOVQ         heads+40(FP), CX
	VBROADCASTSS signMask<>(SB), Y15
	VBROADCASTSS tiny<>(SB), Y14
	VMOVSS       qmax+48(FP), X13

key:
	VMOVUPS      (SI), Y0
	VMOVUPS      32(SI), Y1
	VMOVUPS      64(SI), Y2
	VMOVUPS      96(SI), Y3
	VANDPS       Y0, Y15, Y4
	VANDPS       Y1, Y15, Y5
	VANDPS       Y2, Y15, Y6
	VANDPS       Y3, Y15, Y7
	VMAXPS       Y5, Y4, Y4
	VMAXPS       Y7, Y6, Y6
	VMAXPS       Y6, Y4, Y4
	VMAXPS       Y14, Y4, Y4
	HMAX(Y4, X4, X5)
	VDIVSS       X4, X13, X5
	VDIVSS       X13, X4, X6
	VMOVSS       X6, (DX)
	VBROADCASTSS X5, Y5
	VMULPS       Y0, Y5, Y0
	VMULPS       Y1, Y5, Y1
	VMULPS       Y2, Y5, Y2
	VMULPS       Y3, Y5, Y3
	VCVTPS2DQ    Y0, Y0
	VCVTPS2DQ    Y1, Y1
	VCVTPS2DQ    Y2, Y2
	VCVTPS2DQ    Y3, Y3
	VPACKSSDW    Y1, Y0, Y0 // values 0-3, 8-11, then 4-7, 12-15
	VPACKSSDW    Y3, Y2, Y2
	VPERMQ       $0xd8, Y0, Y0
	VPERMQ       $0xd8, Y2, Y2
	VEXTRACTI128 $1, Y0, X1
	VEXTRACTI128 $1, Y2, X3
	SCATTER(X0, 0)
	SCATTER(X1, 256)
	SCATTER(X2, 512)
	SCATTER(X3, 768)
	ADDQ         $128, SI
	ADDQ         R9, DI
	ADDQ         R8, DX
	DECQ         CX
	JNZ          key
	VZEROUPPER
	RET

// func colAbsMaxAVX2(acc, x *float32, n int)
TEXT ·colAbsMaxAVX2(SB), NOSPLIT, $0-24
	MOVQ         acc+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS signMask<>(SB), Y15

colmax:
	VANDPS  (SI), Y15, Y0
	VANDPS  32(SI), Y15, Y1
	VANDPS  64(SI), Y15, Y2
	VANDPS  96(SI), Y15, Y3
	VMAXPS  (DI), Y0, Y0
	VMAXPS  32(DI), Y1, Y1
	VMAXPS  64(DI), Y2, Y2
	VMAXPS  96(DI), Y3, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     colmax
	VZEROUPPER
	RET

// func packPairAVX2(dst *int16, stride uintptr, x0, x1, inv *float32, n int)
TEXT ·packPairAVX2(SB), NOSPLIT, $0-48
	MOVQ         dst+0(FP), DI
	MOVQ         stride+8(FP), R8
	MOVQ         x0+16(FP), SI
	MOVQ         x1+24(FP), DX
	MOVQ         inv+32(FP), BX
	MOVQ         n+40(FP), CX
	VPBROADCASTD lowHalf<>(SB), Y15

packpair:
	VMOVUPS   (BX), Y4
	VMOVUPS   32(BX), Y5
	VMULPS    (SI), Y4, Y0
	VMULPS    32(SI), Y5, Y1
	VMULPS    (DX), Y4, Y2
	VMULPS    32(DX), Y5, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPAND     Y15, Y0, Y0
	VPAND     Y15, Y1, Y1
	VPSLLD    $16, Y2, Y2
	VPSLLD    $16, Y3, Y3
	VPOR      Y2, Y0, Y0
	VPOR      Y3, Y1, Y1
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y1, 32(DI)
	ADDQ      $64, SI
	ADDQ      $64, DX
	ADDQ      $64, BX
	ADDQ      R8, DI
	SUBQ      $16, CX
	JNZ       packpair
	VZEROUPPER
	RET

// func geluAVX2(x *float32, n int) (lo, hi float32)
TEXT ·geluAVX2(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VXORPS       Y15, Y15, Y15
	VBROADCASTSS tiny<>(SB), Y14
	VMOVUPS      sqrtHalf<>(SB), Y13
	VMOVUPS      half<>(SB), Y12
	VMOVUPS      ones<>(SB), Y11

	// Two vectors at a time: u, w = u², v = w², p, q in Y0-Y4 and Y5-Y9.
gelu:
	VMULPS  (SI), Y13, Y0
	VMULPS  32(SI), Y13, Y5
	VMINPS  erfMax<>(SB), Y0, Y0
	VMINPS  erfMax<>(SB), Y5, Y5
	VMAXPS  erfMin<>(SB), Y0, Y0
	VMAXPS  erfMin<>(SB), Y5, Y5
	VMULPS  Y0, Y0, Y1
	VMULPS  Y5, Y5, Y6
	VMULPS  Y1, Y1, Y2
	VMULPS  Y6, Y6, Y7
	VMULPS  erfA13<>(SB), Y2, Y3
	VMULPS  erfA13<>(SB), Y7, Y8
	VMULPS  erfB8<>(SB), Y2, Y4
	VMULPS  erfB8<>(SB), Y7, Y9
	VMULPS  erfA11<>(SB), Y1, Y10
	VADDPS  erfA9<>(SB), Y10, Y10
	VADDPS  Y10, Y3, Y3
	VMULPS  erfA11<>(SB), Y6, Y10
	VADDPS  erfA9<>(SB), Y10, Y10
	VADDPS  Y10, Y8, Y8
	VMULPS  erfB6<>(SB), Y1, Y10
	VADDPS  erfB4<>(SB), Y10, Y10
	VADDPS  Y10, Y4, Y4
	VMULPS  erfB6<>(SB), Y6, Y10
	VADDPS  erfB4<>(SB), Y10, Y10
	VADDPS  Y10, Y9, Y9
	VMULPS  Y3, Y2, Y3
	VMULPS  Y8, Y7, Y8
	VMULPS  Y4, Y2, Y4
	VMULPS  Y9, Y7, Y9
	VMULPS  erfA7<>(SB), Y1, Y10
	VADDPS  erfA5<>(SB), Y10, Y10
	VADDPS  Y10, Y3, Y3
	VMULPS  erfA7<>(SB), Y6, Y10
	VADDPS  erfA5<>(SB), Y10, Y10
	VADDPS  Y10, Y8, Y8
	VMULPS  erfB2<>(SB), Y1, Y10
	VADDPS  erfB0<>(SB), Y10, Y10
	VADDPS  Y10, Y4, Y4
	VMULPS  erfB2<>(SB), Y6, Y10
	VADDPS  erfB0<>(SB), Y10, Y10
	VADDPS  Y10, Y9, Y9
	VMULPS  Y3, Y2, Y3
	VMULPS  Y8, Y7, Y8
	VMULPS  erfA3<>(SB), Y1, Y10
	VADDPS  erfA1<>(SB), Y10, Y10
	VADDPS  Y10, Y3, Y3
	VMULPS  erfA3<>(SB), Y6, Y10
	VADDPS  erfA1<>(SB), Y10, Y10
	VADDPS  Y10, Y8, Y8
	VMULPS  Y0, Y3, Y3
	VMULPS  Y5, Y8, Y8
	VDIVPS  Y4, Y3, Y3
	VDIVPS  Y9, Y8, Y8
	VMULPS  (SI), Y12, Y0
	VMULPS  32(SI), Y12, Y5
	VADDPS  Y11, Y3, Y3
	VADDPS  Y11, Y8, Y8
	VMULPS  Y3, Y0, Y0
	VMULPS  Y8, Y5, Y5
	VMOVUPS Y0, (SI)
	VMOVUPS Y5, 32(SI)
	VMAXPS  Y0, Y14, Y14
	VMINPS  Y0, Y15, Y15
	VMAXPS  Y5, Y14, Y14
	VMINPS  Y5, Y15, Y15
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     gelu
	HMIN(Y15, X15, X1)
	HMAX(Y14, X14, X1)
	VMOVSS  X15, lo+16(FP)
	VMOVSS  X14, hi+20(FP)
	VZEROUPPER
	RET

// func addNormAVX2(x, add, gamma, beta *float32, n int, eps float32) (lo, hi float32)
TEXT ·addNormAVX2(SB), NOSPLIT, $0-56
	MOVQ  x+0(FP), DI
	MOVQ  add+8(FP), SI
	MOVQ  n+32(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

norm1:
	VMOVUPS (DI), Y4
	VMOVUPS 32(DI), Y5
	VMOVUPS 64(DI), Y6
	VMOVUPS 96(DI), Y7
	VADDPS  (SI), Y4, Y4
	VADDPS  32(SI), Y5, Y5
	VADDPS  64(SI), Y6, Y6
	VADDPS  96(SI), Y7, Y7
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, 64(DI)
	VMOVUPS Y7, 96(DI)
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, DI
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     norm1

	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	HSUM(Y0, X0, X1)
	MOVQ         n+32(FP), CX
	VXORPS       X14, X14, X14
	VCVTSI2SSQ   CX, X14, X14
	VDIVSS       X14, X0, X0
	VBROADCASTSS X0, Y15
	MOVQ         x+0(FP), DI
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	VXORPS       Y2, Y2, Y2
	VXORPS       Y3, Y3, Y3

norm2:
	VMOVUPS (DI), Y4
	VMOVUPS 32(DI), Y5
	VMOVUPS 64(DI), Y6
	VMOVUPS 96(DI), Y7
	VSUBPS  Y15, Y4, Y4
	VSUBPS  Y15, Y5, Y5
	VSUBPS  Y15, Y6, Y6
	VSUBPS  Y15, Y7, Y7
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, 64(DI)
	VMOVUPS Y7, 96(DI)
	VMULPS  Y4, Y4, Y4
	VMULPS  Y5, Y5, Y5
	VMULPS  Y6, Y6, Y6
	VMULPS  Y7, Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     norm2

	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	HSUM(Y0, X0, X1)
	VDIVSS       X14, X0, X0
	VADDSS       eps+40(FP), X0, X0
	VSQRTSS      X0, X0, X0
	VMOVSS       one<>(SB), X1
	VDIVSS       X0, X1, X0
	VBROADCASTSS X0, Y13
	VXORPS       Y14, Y14, Y14
	VXORPS       Y15, Y15, Y15
	VBROADCASTSS tiny<>(SB), Y12
	VMOVAPS      Y12, Y11
	MOVQ         x+0(FP), DI
	MOVQ         gamma+16(FP), BX
	MOVQ         beta+24(FP), DX
	MOVQ         n+32(FP), CX

norm3:
	VMULPS  (DI), Y13, Y4
	VMULPS  32(DI), Y13, Y5
	VMULPS  64(DI), Y13, Y6
	VMULPS  96(DI), Y13, Y7
	VMULPS  (BX), Y4, Y4
	VMULPS  32(BX), Y5, Y5
	VMULPS  64(BX), Y6, Y6
	VMULPS  96(BX), Y7, Y7
	VADDPS  (DX), Y4, Y4
	VADDPS  32(DX), Y5, Y5
	VADDPS  64(DX), Y6, Y6
	VADDPS  96(DX), Y7, Y7
	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, 64(DI)
	VMOVUPS Y7, 96(DI)
	VMAXPS  Y4, Y12, Y12
	VMAXPS  Y5, Y11, Y11
	VMINPS  Y4, Y14, Y14
	VMINPS  Y5, Y15, Y15
	VMAXPS  Y6, Y12, Y12
	VMAXPS  Y7, Y11, Y11
	VMINPS  Y6, Y14, Y14
	VMINPS  Y7, Y15, Y15
	ADDQ    $128, DI
	ADDQ    $128, BX
	ADDQ    $128, DX
	SUBQ    $32, CX
	JNZ     norm3
	VMAXPS  Y11, Y12, Y12
	VMINPS  Y15, Y14, Y14
	HMIN(Y14, X14, X1)
	HMAX(Y12, X12, X1)
	VMOVSS  X14, lo+48(FP)
	VMOVSS  X12, hi+52(FP)
	VZEROUPPER
	RET

// func softmaxAVX2(dst *int16, s *float32, n int)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-24
	MOVQ    s+8(FP), SI
	MOVQ    n+16(FP), CX
	VMOVUPS (SI), Y0
	VMOVAPS Y0, Y1

smax:
	VMAXPS (SI), Y0, Y0
	VMAXPS 32(SI), Y1, Y1
	ADDQ   $64, SI
	SUBQ   $16, CX
	JNZ    smax

	VMAXPS       Y1, Y0, Y0
	HMAX(Y0, X0, X1)
	VBROADCASTSS X0, Y15
	VXORPS       Y13, Y13, Y13
	VXORPS       Y14, Y14, Y14
	VMOVUPS      magic<>(SB), Y12
	VMOVUPS      expFloor<>(SB), Y11
	MOVQ         s+8(FP), SI
	MOVQ         n+16(FP), CX

	// Two vectors at a time: x, t, r, s = r², y in Y0-Y4 and Y5-Y9.
sexp:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y5
	VSUBPS  Y15, Y0, Y0
	VSUBPS  Y15, Y5, Y5
	VMULPS  log2e<>(SB), Y0, Y2
	VMULPS  log2e<>(SB), Y5, Y7
	VADDPS  Y12, Y2, Y1
	VADDPS  Y12, Y7, Y6
	VSUBPS  Y12, Y1, Y3
	VSUBPS  Y12, Y6, Y8
	VSUBPS  Y3, Y2, Y2
	VSUBPS  Y8, Y7, Y7
	VMULPS  Y2, Y2, Y3
	VMULPS  Y7, Y7, Y8
	VMULPS  exp2P5<>(SB), Y2, Y4
	VADDPS  exp2P4<>(SB), Y4, Y4
	VMULPS  exp2P5<>(SB), Y7, Y9
	VADDPS  exp2P4<>(SB), Y9, Y9
	VMULPS  Y4, Y3, Y4
	VMULPS  Y9, Y8, Y9
	VMULPS  exp2P3<>(SB), Y2, Y10
	VADDPS  exp2P2<>(SB), Y10, Y10
	VADDPS  Y10, Y4, Y4
	VMULPS  exp2P3<>(SB), Y7, Y10
	VADDPS  exp2P2<>(SB), Y10, Y10
	VADDPS  Y10, Y9, Y9
	VMULPS  Y4, Y3, Y4
	VMULPS  Y9, Y8, Y9
	VMULPS  exp2P1<>(SB), Y2, Y10
	VADDPS  ones<>(SB), Y10, Y10
	VADDPS  Y10, Y4, Y4
	VMULPS  exp2P1<>(SB), Y7, Y10
	VADDPS  ones<>(SB), Y10, Y10
	VADDPS  Y10, Y9, Y9
	VPSLLD  $23, Y1, Y1
	VPSLLD  $23, Y6, Y6
	VPADDD  Y1, Y4, Y4
	VPADDD  Y6, Y9, Y9
	VCMPPS  $13, Y11, Y0, Y0 // x >= expFloor
	VCMPPS  $13, Y11, Y5, Y5
	VANDPS  Y0, Y4, Y4
	VANDPS  Y5, Y9, Y9
	VMOVUPS Y4, (SI)
	VMOVUPS Y9, 32(SI)
	VADDPS  Y4, Y13, Y13
	VADDPS  Y9, Y14, Y14
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     sexp

	VADDPS       Y14, Y13, Y13
	HSUM(Y13, X13, X1)
	VMOVSS       quantMax<>(SB), X1
	VDIVSS       X13, X1, X1
	VBROADCASTSS X1, Y15
	MOVQ         dst+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         n+16(FP), CX

squant:
	VMULPS    (SI), Y15, Y0
	VMULPS    32(SI), Y15, Y1
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VPACKSSDW Y1, Y0, Y0
	VPERMQ    $0xd8, Y0, Y0
	VMOVDQU   Y0, (DI)
	ADDQ      $64, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       squant
	VZEROUPPER
	RET
