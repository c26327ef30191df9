#include "textflag.h"

// One pair of inputs of one row against sixteen outputs, added to a sum of a
// block. Y12 and Y13 hold the pair's weights of outputs 0-7 and 8-15, Y14 and
// Y15 are scratch. ADD is VPADDD or VADDPS: the sums of a block are whole
// numbers from 0 to 2^24, and read as floats these are the subnormal numbers
// and the first normal ones, which add without rounding.
#define ROW(ADD, addr, lo, hi) \
	VPBROADCASTD addr, Y14      \
	VPMADDWD     Y12, Y14, Y15  \
	VPMADDWD     Y13, Y14, Y14  \
	ADD          Y15, lo, lo    \
	ADD          Y14, hi, hi

// The first pair of a block is its sum so far.
#define ROW0(addr, lo, hi) \
	VPBROADCASTD addr, Y14      \
	VPMADDWD     Y12, Y14, lo   \
	VPMADDWD     Y13, Y14, hi

#define WEIGHTS(boff) \
	VMOVDQU boff(BX), Y12       \
	VMOVDQU (boff+32)(BX), Y13

#define STEP3(ADD, aoff, boff) \
	WEIGHTS(boff)                     \
	ROW(ADD, aoff(AX), Y0, Y1)        \
	ROW(ADD, aoff(AX)(R9*1), Y2, Y3)  \
	ROW(ADD, aoff(AX)(R9*2), Y4, Y5)

// A block of eight pairs and three rows. The finished sums of the block, in
// Y0-Y5, join those of the whole row in Y6-Y11 as integers.
#define BLOCK3(ADD) \
	WEIGHTS(0)               \
	ROW0((AX), Y0, Y1)       \
	ROW0((AX)(R9*1), Y2, Y3) \
	ROW0((AX)(R9*2), Y4, Y5) \
	STEP3(ADD, 4, 64)        \
	STEP3(ADD, 8, 128)       \
	STEP3(ADD, 12, 192)      \
	STEP3(ADD, 16, 256)      \
	STEP3(ADD, 20, 320)      \
	STEP3(ADD, 24, 384)      \
	STEP3(ADD, 28, 448)      \
	VPADDD Y0, Y6, Y6        \
	VPADDD Y1, Y7, Y7        \
	VPADDD Y2, Y8, Y8        \
	VPADDD Y3, Y9, Y9        \
	VPADDD Y4, Y10, Y10      \
	VPADDD Y5, Y11, Y11

#define STEP1(ADD, aoff, boff) \
	WEIGHTS(boff)               \
	ROW(ADD, aoff(AX), Y0, Y1)

#define BLOCK1(ADD) \
	WEIGHTS(0)           \
	ROW0((AX), Y0, Y1)   \
	STEP1(ADD, 4, 64)    \
	STEP1(ADD, 8, 128)   \
	STEP1(ADD, 12, 192)  \
	STEP1(ADD, 16, 256)  \
	STEP1(ADD, 20, 320)  \
	STEP1(ADD, 24, 384)  \
	STEP1(ADD, 28, 448)  \
	VPADDD Y0, Y6, Y6    \
	VPADDD Y1, Y7, Y7

// The integers without their zero points, then three roundings, as in the
// portable kernel. BX is the panel's Columns, R12 the row's Row.
#define OUT(lo, hi) \
	VPBROADCASTD 8(R12), Y12    \
	VPMULLD      (BX), Y12, Y13   \
	VPMULLD      32(BX), Y12, Y14 \
	VPSUBD       Y13, lo, lo      \
	VPSUBD       Y14, hi, hi      \
	VPBROADCASTD 4(R12), Y12      \
	VPMULLD      64(BX), Y12, Y13 \
	VPMULLD      96(BX), Y12, Y14 \
	VPADDD       Y13, lo, lo      \
	VPADDD       Y14, hi, hi      \
	VBROADCASTSS (R12), Y12       \
	VCVTDQ2PS    lo, lo           \
	VCVTDQ2PS    hi, hi           \
	VMULPS       Y12, lo, lo      \
	VMULPS       Y12, hi, hi      \
	VMULPS       128(BX), lo, lo  \
	VMULPS       160(BX), hi, hi  \
	VADDPS       192(BX), lo, lo  \
	VADDPS       224(BX), hi, hi  \
	VMOVUPS      lo, (DI)         \
	VMOVUPS      hi, 32(DI)       \
	ADDQ         DX, DI           \
	ADDQ         $12, R12

// Registers: DI c, DX its stride, SI the tile's rows of a, R9 their stride, R8
// rows left, R12 row terms, R13 sums, R10 what is fetched ahead, R11 its end.
//
// While the first four tiles are multiplied, the weights that lie behind these in
// memory are fetched, 128 bytes a block: the caller asks for those next. A
// prefetch beyond the end of the weights is harmless.
#define LINEAR(ADD) \
	MOVQ c+0(FP), DI           \
	MOVQ ldc+8(FP), DX         \
	MOVQ a+16(FP), SI          \
	MOVQ lda+24(FP), R9        \
	MOVQ b+32(FP), R10         \
	MOVQ pairs+40(FP), R11     \
	SHLQ $6, R11               \
	ADDQ R11, R10              \
	ADDQ R10, R11              \
	MOVQ rows+48(FP), R8       \
	MOVQ row+56(FP), R12       \
	MOVQ sums+72(FP), R13      \
	CMPQ R8, $3                \
	JLT  single                \
three: \
	MOVQ  b+32(FP), BX         \
	MOVQ  pairs+40(FP), CX     \
	MOVQ  SI, AX               \
	CMPQ  first+80(FP), $0     \
	JEQ   more3                \
	VPXOR Y6, Y6, Y6           \
	VPXOR Y7, Y7, Y7           \
	VPXOR Y8, Y8, Y8           \
	VPXOR Y9, Y9, Y9           \
	VPXOR Y10, Y10, Y10        \
	VPXOR Y11, Y11, Y11        \
	JMP   begin3               \
more3: \
	VMOVDQU (R13), Y6          \
	VMOVDQU 32(R13), Y7        \
	VMOVDQU 64(R13), Y8        \
	VMOVDQU 96(R13), Y9        \
	VMOVDQU 128(R13), Y10      \
	VMOVDQU 160(R13), Y11      \
begin3: \
	CMPQ R10, R11              \
	JGE  block3                \
fetch3: \
	PREFETCHT1 (R10)           \
	PREFETCHT1 64(R10)         \
	BLOCK3(ADD)                \
	ADDQ $128, R10             \
	ADDQ $32, AX               \
	ADDQ $512, BX              \
	SUBQ $8, CX                \
	JNZ  fetch3                \
	JMP  end3                  \
block3: \
	BLOCK3(ADD)                \
	ADDQ $32, AX               \
	ADDQ $512, BX              \
	SUBQ $8, CX                \
	JNZ  block3                \
end3: \
	CMPQ last+88(FP), $0       \
	JEQ  keep3                 \
	MOVQ cols+64(FP), BX       \
	OUT(Y6, Y7)                \
	OUT(Y8, Y9)                \
	OUT(Y10, Y11)              \
	JMP  next3                 \
keep3: \
	VMOVDQU Y6, (R13)          \
	VMOVDQU Y7, 32(R13)        \
	VMOVDQU Y8, 64(R13)        \
	VMOVDQU Y9, 96(R13)        \
	VMOVDQU Y10, 128(R13)      \
	VMOVDQU Y11, 160(R13)      \
next3: \
	ADDQ $192, R13             \
	LEAQ (SI)(R9*2), SI        \
	ADDQ R9, SI                \
	SUBQ $3, R8                \
	CMPQ R8, $3                \
	JGE  three                 \
single: \
	TESTQ R8, R8               \
	JEQ   done                 \
	MOVQ  b+32(FP), BX         \
	MOVQ  pairs+40(FP), CX     \
	MOVQ  SI, AX               \
	VMOVDQU (R13), Y6          \
	VMOVDQU 32(R13), Y7        \
	CMPQ  first+80(FP), $0     \
	JEQ   block1               \
	VPXOR Y6, Y6, Y6           \
	VPXOR Y7, Y7, Y7           \
block1: \
	BLOCK1(ADD)                \
	ADDQ $32, AX               \
	ADDQ $512, BX              \
	SUBQ $8, CX                \
	JNZ  block1                \
	CMPQ last+88(FP), $0       \
	JEQ  keep1                 \
	MOVQ cols+64(FP), BX       \
	OUT(Y6, Y7)                \
	JMP  next1                 \
keep1: \
	VMOVDQU Y6, (R13)          \
	VMOVDQU Y7, 32(R13)        \
next1: \
	ADDQ $64, R13              \
	ADDQ R9, SI                \
	DECQ R8                    \
	JMP  single                \
done: \
	VZEROUPPER                 \
	RET

// func linearAVX2(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns, sums *int32, first, last int)
TEXT ·linearAVX2(SB), NOSPLIT, $0-96
	LINEAR(VPADDD)

// func linearFloatSums(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns, sums *int32, first, last int)
TEXT ·linearFloatSums(SB), NOSPLIT, $0-96
	LINEAR(VADDPS)

// func vendor() (ebx, edx, ecx uint32)
TEXT ·vendor(SB), NOSPLIT, $0-12
	XORL AX, AX
	XORL CX, CX
	CPUID
	MOVL BX, ebx+0(FP)
	MOVL DX, edx+4(FP)
	MOVL CX, ecx+8(FP)
	RET
