#include "textflag.h"

// How far ahead of the rows at hand memory is asked for. Without it 100,000 rows
// take 51 ns each on the loaded machine at hand, with 2 KB 37, with 4 KB 30, with
// 8 KB 25; plain reading takes 20. Rows in the second-level cache do not mind.
#define AHEAD 8192

// func dotRowsAVX2(q *int16, rows *int8, stride, n int, out *int32)
//
// Four rows at a time share the loads of the query: 16 components are widened to
// 16 bits, multiplied and added in pairs to 32 bits. No step can overflow or
// saturate (see maxQuery), so the sums are those of any other order of adding.
TEXT ·dotRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), SI
	MOVQ rows+8(FP), DI
	MOVQ stride+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ out+32(FP), R8

four:
	CMPQ CX, $4
	JLT  one
	LEAQ (DI)(DX*1), R9
	LEAQ (DI)(DX*2), R10
	LEAQ (R9)(DX*2), R11
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ AX, AX
	LEAQ AHEAD(DI), R12

fourinner:
	PREFETCHT0 (R12)(AX*4)
	PREFETCHT0 64(R12)(AX*4)
	VMOVDQU   (SI)(AX*2), Y4
	VMOVDQU   32(SI)(AX*2), Y5
	VPMOVSXBW (DI)(AX*1), Y6
	VPMOVSXBW 16(DI)(AX*1), Y7
	VPMOVSXBW (R9)(AX*1), Y8
	VPMOVSXBW 16(R9)(AX*1), Y9
	VPMOVSXBW (R10)(AX*1), Y10
	VPMOVSXBW 16(R10)(AX*1), Y11
	VPMOVSXBW (R11)(AX*1), Y12
	VPMOVSXBW 16(R11)(AX*1), Y13
	VPMADDWD  Y4, Y6, Y6
	VPMADDWD  Y5, Y7, Y7
	VPMADDWD  Y4, Y8, Y8
	VPMADDWD  Y5, Y9, Y9
	VPMADDWD  Y4, Y10, Y10
	VPMADDWD  Y5, Y11, Y11
	VPMADDWD  Y4, Y12, Y12
	VPMADDWD  Y5, Y13, Y13
	VPADDD    Y6, Y0, Y0
	VPADDD    Y8, Y1, Y1
	VPADDD    Y10, Y2, Y2
	VPADDD    Y12, Y3, Y3
	VPADDD    Y7, Y0, Y0
	VPADDD    Y9, Y1, Y1
	VPADDD    Y11, Y2, Y2
	VPADDD    Y13, Y3, Y3
	ADDQ      $32, AX
	CMPQ      AX, DX
	JLT       fourinner

	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (R8)
	ADDQ         $16, R8
	LEAQ         (R11)(DX*1), DI
	SUBQ         $4, CX
	JMP          four

one:
	TESTQ CX, CX
	JZ    done
	VPXOR Y0, Y0, Y0
	XORQ  AX, AX

oneinner:
	VPMOVSXBW (DI)(AX*1), Y6
	VPMOVSXBW 16(DI)(AX*1), Y7
	VPMADDWD  (SI)(AX*2), Y6, Y6
	VPMADDWD  32(SI)(AX*2), Y7, Y7
	VPADDD    Y6, Y0, Y0
	VPADDD    Y7, Y0, Y0
	ADDQ      $32, AX
	CMPQ      AX, DX
	JLT       oneinner

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (R8)
	ADDQ         $4, R8
	ADDQ         DX, DI
	DECQ         CX
	JMP          one

done:
	VZEROUPPER
	RET
