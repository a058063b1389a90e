module numbers
  implicit none
  integer, parameter :: n = 50
contains
  subroutine count_up(x)
    real(8), intent(out) :: x(n)
    integer :: i
#ifdef _OPENMP
    !$omp parallel do
#endif
    do i = 1, n
      x(i) = i
    end do
  end subroutine
end module
