double twice(const double* values, int count);
