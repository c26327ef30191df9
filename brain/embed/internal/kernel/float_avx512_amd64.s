#include "textflag.h"

// The float passes that take the most time, sixteen lanes wide: the same steps in the
// same order as in float_avx2_amd64.s.

#define CONST(name, value) \
	DATA name<>+0(SB)/4, value  \
	GLOBL name<>(SB), RODATA|NOPTR, $4

CONST(ztiny, $1e-30)
CONST(zsqrtHalf, $0.70710678118654752440)
CONST(zerfMax, $4.0)
CONST(zerfMin, $-4.0)
CONST(zerfA1, $-1.60960333262415e-02)
CONST(zerfA3, $-2.95459980854025e-03)
CONST(zerfA5, $-7.34990630326855e-04)
CONST(zerfA7, $-5.69250639462346e-05)
CONST(zerfA9, $-2.10102402082508e-06)
CONST(zerfA11, $2.77068142495902e-08)
CONST(zerfA13, $-2.72614225801306e-10)
CONST(zerfB0, $-1.42647390514189e-02)
CONST(zerfB2, $-7.37332916720468e-03)
CONST(zerfB4, $-1.68282697438203e-03)
CONST(zerfB6, $-2.13374055278905e-04)
CONST(zerfB8, $-1.45660718464996e-05)
CONST(zhalf, $0.5)
CONST(zone, $1.0)
CONST(zexpFloor, $-87.0)
CONST(zlog2e, $1.44269504088896341)
CONST(zmagic, $12582912.0)
CONST(zexp2P1, $0.6931470036506653)
CONST(zexp2P2, $0.24022242426872253)
CONST(zexp2P3, $0.05550733581185341)
CONST(zexp2P4, $0.009671512991189957)
CONST(zexp2P5, $0.001326472731307149)
CONST(zquantMax, $32767.0)

// Eight lanes of Y fold to lane 0 of X by OP; T is scratch.
#define FOLD(OP, Y, X, T) \
	VEXTRACTF128 $1, Y, T     \
	OP           T, X, X      \
	VPERMILPS    $0x4e, X, T  \
	OP           T, X, X      \
	VPERMILPS    $0xb1, X, T  \
	OP           T, X, X

// Sixteen lanes.
#define FOLDZ(OP, Z, Y, X, U, T) \
	VEXTRACTF64X4 $1, Z, U  \
	OP            U, Y, Y   \
	FOLD(OP, Y, X, T)

// func geluAVX512(x *float32, n int) (lo, hi float32)
TEXT ·geluAVX512(SB), NOSPLIT, $0-24
	MOVQ         x+0(FP), SI
	MOVQ         n+8(FP), CX
	VXORPS       Y15, Y15, Y15
	VBROADCASTSS ztiny<>(SB), Z14
	VBROADCASTSS zsqrtHalf<>(SB), Z13
	VBROADCASTSS zhalf<>(SB), Z12
	VBROADCASTSS zone<>(SB), Z11
	VBROADCASTSS zerfMax<>(SB), Z10
	VBROADCASTSS zerfMin<>(SB), Z9
	VBROADCASTSS zerfA1<>(SB), Z16
	VBROADCASTSS zerfA3<>(SB), Z17
	VBROADCASTSS zerfA5<>(SB), Z18
	VBROADCASTSS zerfA7<>(SB), Z19
	VBROADCASTSS zerfA9<>(SB), Z20
	VBROADCASTSS zerfA11<>(SB), Z21
	VBROADCASTSS zerfA13<>(SB), Z22
	VBROADCASTSS zerfB0<>(SB), Z23
	VBROADCASTSS zerfB2<>(SB), Z24
	VBROADCASTSS zerfB4<>(SB), Z25
	VBROADCASTSS zerfB6<>(SB), Z26
	VBROADCASTSS zerfB8<>(SB), Z27

	// u, w = u², v = w², p, q in Z0-Z4.
gelu:
	VMOVUPS (SI), Z6
	VMULPS  Z6, Z13, Z0
	VMINPS  Z10, Z0, Z0
	VMAXPS  Z9, Z0, Z0
	VMULPS  Z0, Z0, Z1
	VMULPS  Z1, Z1, Z2
	VMULPS  Z22, Z2, Z3
	VMULPS  Z27, Z2, Z4
	VMULPS  Z21, Z1, Z5
	VADDPS  Z20, Z5, Z5
	VADDPS  Z5, Z3, Z3
	VMULPS  Z26, Z1, Z5
	VADDPS  Z25, Z5, Z5
	VADDPS  Z5, Z4, Z4
	VMULPS  Z3, Z2, Z3
	VMULPS  Z4, Z2, Z4
	VMULPS  Z19, Z1, Z5
	VADDPS  Z18, Z5, Z5
	VADDPS  Z5, Z3, Z3
	VMULPS  Z24, Z1, Z5
	VADDPS  Z23, Z5, Z5
	VADDPS  Z5, Z4, Z4
	VMULPS  Z3, Z2, Z3
	VMULPS  Z17, Z1, Z5
	VADDPS  Z16, Z5, Z5
	VADDPS  Z5, Z3, Z3
	VMULPS  Z0, Z3, Z3
	VDIVPS  Z4, Z3, Z3
	VMULPS  Z6, Z12, Z0
	VADDPS  Z11, Z3, Z3
	VMULPS  Z3, Z0, Z0
	VMOVUPS Z0, (SI)
	VMAXPS  Z0, Z14, Z14
	VMINPS  Z0, Z15, Z15
	ADDQ    $64, SI
	SUBQ    $16, CX
	JNZ     gelu
	FOLDZ(VMINPS, Z15, Y15, X15, Y0, X0)
	FOLDZ(VMAXPS, Z14, Y14, X14, Y0, X0)
	VMOVSS  X15, lo+16(FP)
	VMOVSS  X14, hi+20(FP)
	VZEROUPPER
	RET

// The sum of 32 lanes in the order of laneSum; Z0 and Z1 hold them.
#define LANESUM \
	VEXTRACTF64X4 $1, Z0, Y2    \
	VEXTRACTF64X4 $1, Z1, Y3    \
	VADDPS        Y2, Y0, Y0    \
	VADDPS        Y3, Y1, Y1    \
	VADDPS        Y1, Y0, Y0    \
	FOLD(VADDPS, Y0, X0, X1)

// func addNormAVX512(x, add, gamma, beta *float32, n int, eps float32) (lo, hi float32)
TEXT ·addNormAVX512(SB), NOSPLIT, $0-56
	MOVQ   x+0(FP), DI
	MOVQ   add+8(FP), SI
	MOVQ   n+32(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1

norm1:
	VMOVUPS (DI), Z4
	VMOVUPS 64(DI), Z5
	VADDPS  (SI), Z4, Z4
	VADDPS  64(SI), Z5, Z5
	VMOVUPS Z4, (DI)
	VMOVUPS Z5, 64(DI)
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	ADDQ    $128, DI
	ADDQ    $128, SI
	SUBQ    $32, CX
	JNZ     norm1

	LANESUM
	MOVQ         n+32(FP), CX
	VXORPS       X14, X14, X14
	VCVTSI2SSQ   CX, X14, X14
	VDIVSS       X14, X0, X0
	VBROADCASTSS X0, Z15
	MOVQ         x+0(FP), DI
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1

norm2:
	VMOVUPS (DI), Z4
	VMOVUPS 64(DI), Z5
	VSUBPS  Z15, Z4, Z4
	VSUBPS  Z15, Z5, Z5
	VMOVUPS Z4, (DI)
	VMOVUPS Z5, 64(DI)
	VMULPS  Z4, Z4, Z4
	VMULPS  Z5, Z5, Z5
	VADDPS  Z4, Z0, Z0
	VADDPS  Z5, Z1, Z1
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     norm2

	LANESUM
	VDIVSS       X14, X0, X0
	VADDSS       eps+40(FP), X0, X0
	VSQRTSS      X0, X0, X0
	VMOVSS       zone<>(SB), X1
	VDIVSS       X0, X1, X0
	VBROADCASTSS X0, Z13
	VXORPS       Y14, Y14, Y14
	VBROADCASTSS ztiny<>(SB), Z12
	MOVQ         x+0(FP), DI
	MOVQ         gamma+16(FP), BX
	MOVQ         beta+24(FP), DX
	MOVQ         n+32(FP), CX

norm3:
	VMULPS  (DI), Z13, Z4
	VMULPS  64(DI), Z13, Z5
	VMULPS  (BX), Z4, Z4
	VMULPS  64(BX), Z5, Z5
	VADDPS  (DX), Z4, Z4
	VADDPS  64(DX), Z5, Z5
	VMOVUPS Z4, (DI)
	VMOVUPS Z5, 64(DI)
	VMAXPS  Z4, Z12, Z12
	VMINPS  Z4, Z14, Z14
	VMAXPS  Z5, Z12, Z12
	VMINPS  Z5, Z14, Z14
	ADDQ    $128, DI
	ADDQ    $128, BX
	ADDQ    $128, DX
	SUBQ    $32, CX
	JNZ     norm3
	FOLDZ(VMINPS, Z14, Y14, X14, Y0, X0)
	FOLDZ(VMAXPS, Z12, Y12, X12, Y0, X0)
	VMOVSS  X14, lo+48(FP)
	VMOVSS  X12, hi+52(FP)
	VZEROUPPER
	RET

// Sixteen lanes of two registers fold by OP into all lanes of the halves of LO, in the order of FOLDZ.
#define FOLD2(OP, LO, HI, T, U) \
	VSHUFF64X2 $0x44, HI, LO, T  \
	VSHUFF64X2 $0xee, HI, LO, U  \
	OP         U, T, LO          \
	VSHUFF64X2 $0xb1, LO, LO, T  \
	OP         T, LO, LO         \
	VPERMILPS  $0x4e, LO, T      \
	OP         T, LO, LO         \
	VPERMILPS  $0xb1, LO, T      \
	OP         T, LO, LO

// The exponentials of sixteen values less their maximum join a sum. They pass through x, t, r, s = r², y and z;
// what lies below expFloor is zero.
#define EXPZ(addr, most, sum, x, t, r, s, y, z) \
	VMOVUPS   addr, x          \
	VSUBPS    most, x, x       \
	VMULPS    Z10, x, r        \
	VADDPS    Z12, r, t        \
	VSUBPS    Z12, t, s        \
	VSUBPS    s, r, r          \
	VMULPS    r, r, s          \
	VMULPS    Z5, r, y         \
	VADDPS    Z6, y, y         \
	VMULPS    y, s, y          \
	VMULPS    Z7, r, z         \
	VADDPS    Z8, z, z         \
	VADDPS    z, y, y          \
	VMULPS    y, s, y          \
	VMULPS    Z9, r, z         \
	VADDPS    Z16, z, z        \
	VADDPS    z, y, y          \
	VPSLLD    $23, t, t        \
	VCMPPS    $13, Z11, x, K1  \
	VPADDD.Z  t, y, K1, y      \
	VMOVUPS   y, addr          \
	VADDPS    y, sum, sum

// func softmaxAVX512(dst *int16, s *float32, n, rows int)
//
// Two rows at a time: one alone waits for its maximum and its sum for half of its time.
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-32
	VBROADCASTSS zmagic<>(SB), Z12
	VBROADCASTSS zexpFloor<>(SB), Z11
	VBROADCASTSS zlog2e<>(SB), Z10
	VBROADCASTSS zexp2P1<>(SB), Z9
	VBROADCASTSS zexp2P2<>(SB), Z8
	VBROADCASTSS zexp2P3<>(SB), Z7
	VBROADCASTSS zexp2P4<>(SB), Z6
	VBROADCASTSS zexp2P5<>(SB), Z5
	VBROADCASTSS zone<>(SB), Z16
	VBROADCASTSS zquantMax<>(SB), Z26
	MOVQ         dst+0(FP), DI
	MOVQ         s+8(FP), SI
	MOVQ         n+16(FP), R8
	MOVQ         rows+24(FP), R9

	// AX and BX are in the two rows of s, DX in the second of dst.
srows:
	MOVQ    SI, AX
	LEAQ    (SI)(R8*4), BX
	MOVQ    R8, CX
	VMOVUPS (AX), Z0
	VMOVUPS (BX), Z1

smax:
	VMAXPS (AX), Z0, Z0
	VMAXPS (BX), Z1, Z1
	ADDQ   $64, AX
	ADDQ   $64, BX
	SUBQ   $16, CX
	JNZ    smax

	FOLD2(VMAXPS, Z0, Z1, Z2, Z3)
	VSHUFF64X2 $0x00, Z0, Z0, Z14
	VSHUFF64X2 $0xaa, Z0, Z0, Z15
	VPXORD     Z24, Z24, Z24
	VPXORD     Z25, Z25, Z25
	MOVQ       SI, AX
	LEAQ       (SI)(R8*4), BX
	MOVQ       R8, CX

sexp:
	EXPZ((AX), Z14, Z24, Z0, Z1, Z2, Z3, Z4, Z13)
	EXPZ((BX), Z15, Z25, Z17, Z18, Z19, Z20, Z21, Z22)
	ADDQ $64, AX
	ADDQ $64, BX
	SUBQ $16, CX
	JNZ  sexp

	FOLD2(VADDPS, Z24, Z25, Z2, Z3)
	VDIVPS     Z24, Z26, Z24
	VSHUFF64X2 $0x00, Z24, Z24, Z14
	VSHUFF64X2 $0xaa, Z24, Z24, Z15
	LEAQ       (SI)(R8*4), BX
	LEAQ       (DI)(R8*2), DX
	MOVQ       R8, CX

squant:
	VMULPS    (SI), Z14, Z0
	VMULPS    (BX), Z15, Z1
	VCVTPS2DQ Z0, Z0
	VCVTPS2DQ Z1, Z1
	VPMOVSDW  Z0, (DI)
	VPMOVSDW  Z1, (DX)
	ADDQ      $64, SI
	ADDQ      $64, BX
	ADDQ      $32, DI
	ADDQ      $32, DX
	SUBQ      $16, CX
	JNZ       squant

	MOVQ BX, SI
	MOVQ DX, DI
	SUBQ $2, R9
	JNZ  srows
	VZEROUPPER
	RET
