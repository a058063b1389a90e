program total
  use numbers
  implicit none
  real(8) :: x(n)
  call count_up(x)
  print '(i0)', int(sum(x))
end program
