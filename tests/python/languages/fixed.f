C     A five-point stencil in fixed form: sentinels in columns 1 to 5, continuation in column 6.
      PROGRAM FIXED
      INTEGER N, I, J
      PARAMETER (N = 20)
      REAL*8 A(N,N), B(N,N)
      COMMON /FIELDS/ A, B
C$OMP PARALLEL DO SCHEDULE(STATIC,1) DEFAULT(SHARED)
C$OMP+PRIVATE(I)
      DO 10 J = 1, N
      DO 10 I = 1, N
      B(I,J) = 0
   10 A(I,J) = 1
!$OMP PARALLEL
*$OMP DO SCHEDULE(GUIDED) PRIVATE(I)
      DO 30 J = 2, N - 1
      DO 20 I = 2, N - 1
      B(I,J) = 0.2D0 * (A(I,J) + A(I-1,J) + A(I+1,J)
     &  + A(I,J-1) + A(I,J+1))
   20 CONTINUE
   30 CONTINUE
C$OMP END DO
!$OMP END PARALLEL
      PRINT '(F3.1)', B(2,2)
      END
