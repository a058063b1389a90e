      PROGRAM TOTAL
      INTEGER I
      REAL*8 X(50)
      COMMON /NUMBERS/ X
C$OMP PARALLEL DO
      DO 10 I = 1, 50
   10 X(I) = I
      PRINT '(I0)', INT(SUM(X))
      END
