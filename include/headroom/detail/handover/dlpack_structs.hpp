// SPDX-License-Identifier: MIT
// The structs of DLPack 1.1, under the guard of its own header: if that is included before, it is used; after, it adds nothing. Without
// the exchange API of later versions: programs that need it include their own header first.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(DLPACK_DLPACK_H_)

#if !defined(DLPACK_MAJOR_VERSION) || DLPACK_MAJOR_VERSION < 1
#error "headroom/dlpack.hpp needs DLPack 1.0 or later, and an older dlpack.h was included before it"
#endif

#else
#define DLPACK_DLPACK_H_

#define DLPACK_EXTERN_C extern "C"
#define DLPACK_DLL
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

extern "C" {

typedef struct {
    std::uint32_t major;
    std::uint32_t minor;
} DLPackVersion;

typedef enum : std::int32_t {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17,
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    std::int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0U,
    kDLUInt = 1U,
    kDLFloat = 2U,
    kDLOpaqueHandle = 3U,
    kDLBfloat = 4U,
    kDLComplex = 5U,
    kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
} DLDataType;

typedef struct {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned* self);
    std::uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

}    // extern "C"

#endif
