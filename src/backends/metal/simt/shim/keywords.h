#pragma once

// MSL's own words, and vector constructors. A constructor with several arguments is no C++ for an
// extended vector, so float4(...) is a macro; the bare type name stays untouched.

#define device
#define thread
#define threadgroup
#define constant const
#define kernel static __attribute__((unused))

#define SIMT_VECTOR(type, n, ...) ::metal::make<type, n>(__VA_ARGS__)
#define float2(...) SIMT_VECTOR(float, 2, __VA_ARGS__)
#define float3(...) SIMT_VECTOR(float, 3, __VA_ARGS__)
#define float4(...) SIMT_VECTOR(float, 4, __VA_ARGS__)
#define half2(...) SIMT_VECTOR(half, 2, __VA_ARGS__)
#define half3(...) SIMT_VECTOR(half, 3, __VA_ARGS__)
#define half4(...) SIMT_VECTOR(half, 4, __VA_ARGS__)
#define bfloat2(...) SIMT_VECTOR(bfloat, 2, __VA_ARGS__)
#define bfloat4(...) SIMT_VECTOR(bfloat, 4, __VA_ARGS__)
#define int2(...) SIMT_VECTOR(int, 2, __VA_ARGS__)
#define int3(...) SIMT_VECTOR(int, 3, __VA_ARGS__)
#define int4(...) SIMT_VECTOR(int, 4, __VA_ARGS__)
#define uint2(...) SIMT_VECTOR(uint, 2, __VA_ARGS__)
#define uint3(...) SIMT_VECTOR(uint, 3, __VA_ARGS__)
#define uint4(...) SIMT_VECTOR(uint, 4, __VA_ARGS__)
#define ushort2(...) SIMT_VECTOR(ushort, 2, __VA_ARGS__)
#define ushort4(...) SIMT_VECTOR(ushort, 4, __VA_ARGS__)
#define ulong2(...) SIMT_VECTOR(ulong, 2, __VA_ARGS__)
#define char4(...) SIMT_VECTOR(signed char, 4, __VA_ARGS__)
#define uchar4(...) SIMT_VECTOR(uchar, 4, __VA_ARGS__)
