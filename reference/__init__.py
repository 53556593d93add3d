"""The reference: what a differentially private covariance mechanism should do.

Readable, exact in real arithmetic, and evaluated in float64. Needs numpy and scipy only and
never imports `covassay.verification`.

- `covassay.reference.domain`, `.privacy`, `.sensitivity`, `.projections`: the ground everything stands on;
- `covassay.reference.laws`: probability laws, each with density, sampler and exact distribution functions;
- `covassay.reference.mechanisms`: one file per mechanism.

Not for production: the noise is float64, so the guarantees, which are theorems about real
numbers, do not cover the low-order bits of the output (Mironov 2012).
"""
