#ifdef __cplusplus
extern "C" {
#endif
void fill(double* numbers, int n);
void smooth(const double* from, double* to, int n);
#ifdef __cplusplus
}
#endif
