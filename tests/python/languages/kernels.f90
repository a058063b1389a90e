! A five-point stencil and a matrix-vector product in free form, in a module.
module grid
  implicit none
contains
  ! b = 0.2 * (a and its four neighbours) on the inner points of n x n: five reads and a write for each
  subroutine sweep(a, b, n)
    integer, value :: n
    real(8), intent(in) :: a(n, n)
    real(8), intent(inout) :: b(n, n)
    integer :: i, j
    !$OMP Parallel Do Schedule(Dynamic, 3) &
    !$omp & default(none) shared(a, b) firstprivate(n) private(i)   ! the columns
    do j = 2, n - 1
      do i = 2, n - 1
        b(i, j) = 0.2d0 * (a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
    !$omp end parallel do
  end subroutine sweep
  ! y = transpose(A) x: two reads for each element of A, a write a column
  subroutine multiply(a, x, y, n)
    integer, value :: n
    real(8), intent(in) :: a(n, n), x(n)
    real(8), intent(inout) :: y(n)
    real(8) :: total
    integer :: i, j
    !$omp parallel firstprivate(n)
    !$omp do private(i, total)
    do j = 1, n
      total = 0
      do i = 1, n
        total = total + a(i, j) * x(i)
      end do
      y(j) = total
    end do
    !$omp end do nowait
    !$omp end parallel
  end subroutine multiply
end module grid

program kernels
  use grid
  use omp_lib
  implicit none
  real(8), allocatable :: a(:, :), b(:, :), x(:), y(:)
  character(len=16) :: word
  integer :: n, ranks, lock_free
  integer(omp_lock_kind) :: lock
  call get_command_argument(1, word)
  read (word, *) n
  allocate (a(n, n), b(n, n), x(n), y(n))
  a = 1; b = 0; x = 1; y = 0
  call sweep(a, b, n)
  call multiply(a, x, y, n)
  ranks = 0
  call omp_init_lock(lock)
  !$omp parallel
  call omp_set_lock(lock)
  ranks = ranks + 1 + omp_get_thread_num()
  call omp_unset_lock(lock)
  !$omp end parallel
  lock_free = merge(1, 0, omp_test_lock(lock))
  print '(f3.1, 1x, i0, 1x, i0, 1x, i0)', b(2, 2), int(y(1)), ranks, lock_free
end program kernels
